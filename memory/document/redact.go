package document

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// Redact takes the events for which keep is false out of all documents, deletes
// documents that have nothing left, and returns the ids of the events and of the
// documents that changed or went: search must learn of them. Documents are
// replaced one by one; after a crash or an error Redact is called again. keep
// must not call the Store. Texts of documents are not its concern; see Delete.
//
// The bytes are gone from the files; on the medium they stay until something is
// written over them.
func (s *Store) Redact(ctx context.Context, keep func(Event) bool) (events, docs []string, err error) {
	if err := s.Ready(ctx); err != nil {
		return nil, nil, fmt.Errorf("redact documents: %w", err)
	}
	var ids []string
	if err := s.List(ctx, func(m Meta) bool {
		if m.Events > 0 {
			ids = append(ids, m.ID)
		}
		return true
	}); err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		if err := s.begin(ctx); err != nil {
			return events, docs, fmt.Errorf("redact documents: %w", err)
		}
		gone, err := s.redact(id, keep)
		s.mu.Unlock()
		if err != nil {
			return events, docs, fmt.Errorf("redact document %s: %w", id, err)
		}
		if len(gone) > 0 {
			events, docs = append(events, gone...), append(docs, id)
		}
	}
	return events, docs, nil
}

// redact is Redact for one document. The caller holds mu.
func (s *Store) redact(id string, keep func(Event) bool) (gone []string, err error) {
	d, err := s.open1(id)
	if errors.Is(err, ErrNotFound) || bad(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d.Events = slices.DeleteFunc(d.Events, func(e Event) bool {
		if keep(e) {
			return false
		}
		gone = append(gone, e.ID)
		return true
	})
	if len(gone) == 0 {
		return nil, nil
	}
	if len(d.Events) == 0 && d.Text == "" {
		return gone, s.remove(id)
	}
	// Marked first: until the file is replaced, a crash brings the rows back.
	if err := s.mark(id); err != nil {
		return nil, err
	}
	s.uncertain[id] = true
	err = s.index.Update(context.Background(), func(tx *sql.Tx) error {
		for _, e := range gone {
			if _, err := tx.Exec("DELETE FROM events WHERE id = ?", e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.Updated = s.opts.Now()
	return gone, s.write(d)
}
