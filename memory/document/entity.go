package document

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
)

// EntityID is the id of the document about an entity.
func EntityID(entity int64) string { return fmt.Sprintf("entity-%d", entity) }

// Page is what a document about an entity of the graph says.
type Page struct {
	Entity      int64 // the graph's id, above 0
	Title, Text string
}

// ForEntity keeps the one document about an entity, rewritten in place; changed
// is false, and nothing is read or written but the index, where it says so
// already. The document is EntityID(entity), its origin Graph; it is never cold.
func (s *Store) ForEntity(ctx context.Context, entity int64, title, text string) (changed bool, err error) {
	ids, err := s.ForEntities(ctx, []Page{{entity, title, text}})
	return len(ids) > 0, err
}

// ForEntities is ForEntity for many, which costs fewer syncs. It returns the
// ids of documents that changed; with an error, those that certainly did.
func (s *Store) ForEntities(ctx context.Context, pages []Page) (changed []string, err error) {
	docs := make([]Document, len(pages))
	for i, p := range pages {
		if p.Entity <= 0 {
			return nil, fmt.Errorf("%w: an entity's id is above 0, not %d", ErrInvalid, p.Entity)
		}
		docs[i] = Document{ID: EntityID(p.Entity), Title: p.Title, Origin: Graph, Entity: p.Entity, Text: p.Text}
		if err := docs[i].check(); err != nil {
			return nil, err
		}
	}
	if err := s.begin(ctx); err != nil {
		return nil, fmt.Errorf("documents of entities: %w", err)
	}
	defer s.mu.Unlock()
	var fresh []Document
	for _, d := range docs {
		same, err := s.says(d)
		changed := false
		if err == nil && !same {
			d, changed, err = s.renewed(d)
		}
		if err != nil {
			return nil, fmt.Errorf("document of entity %d: %w", d.Entity, err)
		}
		if changed {
			fresh = append(fresh, d)
		}
	}
	if err := s.write(fresh...); err != nil {
		return nil, fmt.Errorf("documents of entities: %w", err)
	}
	for _, d := range fresh {
		changed = append(changed, d.ID)
	}
	return changed, nil
}

// says tells, from the index alone, whether a document has this content.
func (s *Store) says(d Document) (bool, error) {
	var n int
	err := s.index.Read.QueryRow("SELECT count(*) FROM docs WHERE id = ? AND sum = ?", d.ID, sum(&d)).Scan(&n)
	return n > 0, s.index.Plain(err)
}

// sum tells contents of entities' documents apart; of others it is 0.
func sum(d *Document) int64 {
	if d.Origin != Graph {
		return 0
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%d\x00%s", d.Entity, len(d.Title), d.Title)
	io.WriteString(h, d.Text) // a hash takes everything
	return int64(h.Sum64())
}
