package graph

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Known is an entity with what is told of it.
type Known struct {
	Entity
	// Aliases are its other names.
	Aliases []string
	// Facts speak of it, those that hold first, the last heard first; softly
	// forgotten ones are left out.
	Facts []Fact
	// More is how many facts were left out for the limit.
	More int
}

// Entity reads an entity by its id; the error wraps ErrUnknown if there is none.
func (g *Graph) Entity(ctx context.Context, id int64) (Entity, error) {
	e, err := g.entity(ctx, id)
	if err != nil {
		return Entity{}, fmt.Errorf("read entity: %w", g.plain(err))
	}
	return e, nil
}

const entityColumns = "SELECT e.id, e.name, e.type, e.mention_count, e.created_at, e.updated_at FROM entities e "

func scanEntity(r *sql.Rows) (e Entity, err error) {
	var created, updated int64
	err = r.Scan(&e.ID, &e.Name, &e.Type, &e.Mentions, &created, &updated)
	e.Created, e.Updated = time.UnixMilli(created), time.UnixMilli(updated)
	return e, err
}

func (g *Graph) entity(ctx context.Context, id int64) (e Entity, err error) {
	err = each(ctx, g.read, entityColumns+"WHERE e.id = ?", func(r *sql.Rows) (err error) {
		e, err = scanEntity(r)
		return err
	}, id)
	if err == nil && e.ID == 0 {
		err = fmt.Errorf("entity %d: %w", id, ErrUnknown)
	}
	return e, err
}

// Find returns the entities that a name or a stable id ("qq:10001") belongs
// to, at most limit: those whose own name it is first, then the most mentioned.
func (g *Graph) Find(ctx context.Context, name string, limit int) ([]Entity, error) {
	var out []Entity
	collect := func(r *sql.Rows) error {
		e, err := scanEntity(r)
		out = append(out, e)
		return err
	}
	var err error
	if kind, value, ok := identity(name); ok {
		err = each(ctx, g.read, entityColumns+"JOIN identities i ON i.entity_id = e.id WHERE i.kind = ? AND i.value = ?",
			collect, kind, value)
	}
	if err == nil && len(out) == 0 {
		err = each(ctx, g.read, entityColumns+`JOIN (SELECT entity_id, max(own) own FROM aliases WHERE key = ? GROUP BY entity_id) a
			ON a.entity_id = e.id
			ORDER BY e.name = ? DESC, a.own DESC, e.mention_count DESC, e.id LIMIT ?`, collect, nameKey(name), name, max(limit, 0))
	}
	if err != nil {
		return nil, fmt.Errorf("find an entity: %w", g.plain(err))
	}
	return out, nil
}

// Similar returns at most limit other entities whose names share terms with
// those of an entity, the most alike first. Whether they are one is not for
// this package to say.
func (g *Graph) Similar(ctx context.Context, id int64, limit int) ([]Entity, error) {
	out, err := g.similar(ctx, id, limit)
	if err != nil {
		return nil, fmt.Errorf("find similar entities: %w", g.plain(err))
	}
	return out, nil
}

func (g *Graph) similar(ctx context.Context, id int64, limit int) ([]Entity, error) {
	names, err := g.Aliases(ctx, id)
	if err != nil {
		return nil, err
	}
	best := map[int64]float64{}
	for _, name := range names {
		lex, err := g.newQuery(ctx, name)
		if err != nil {
			return nil, err
		}
		if len(lex.terms) == 0 {
			continue
		}
		hits, err := g.search(ctx, lex, kindEntity, limit+1)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if h.id != id {
				best[h.id] = max(best[h.id], h.score)
			}
		}
	}
	var out []Entity
	for _, h := range ranked(best) {
		if len(out) >= limit {
			break
		}
		e, err := g.entity(ctx, h.id)
		if errors.Is(err, ErrUnknown) {
			continue // gone since the index was read
		}
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// Aliases are all names of an entity, its label first.
func (g *Graph) Aliases(ctx context.Context, id int64) ([]string, error) {
	var out []string
	err := each(ctx, g.read, `SELECT DISTINCT a.alias FROM aliases a JOIN entities e ON e.id = a.entity_id WHERE a.entity_id = ?
		ORDER BY a.alias = e.name DESC, a.own DESC, a.created_at, a.alias`, func(r *sql.Rows) error {
		var alias string
		err := r.Scan(&alias)
		out = append(out, alias)
		return err
	}, id)
	if err != nil {
		return nil, fmt.Errorf("read names: %w", g.plain(err))
	}
	return out, nil
}

// EntityFacts returns an entity with at most limit of its facts. The error
// wraps ErrUnknown if there is no such entity.
func (g *Graph) EntityFacts(ctx context.Context, id int64, limit int) (Known, error) {
	k, err := g.known(ctx, id, max(limit, 0))
	if err != nil {
		return Known{}, fmt.Errorf("read the facts of an entity: %w", g.plain(err))
	}
	return k, nil
}

func (g *Graph) known(ctx context.Context, id int64, limit int) (k Known, err error) {
	if k.Entity, err = g.entity(ctx, id); err != nil {
		return k, err
	}
	names, err := g.Aliases(ctx, id)
	if err != nil {
		return k, err
	}
	for _, n := range names {
		if n != k.Name {
			k.Aliases = append(k.Aliases, n)
		}
	}
	total := 0
	for _, status := range []Status{Active, Archived, Past} {
		var n int
		err := g.read.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM relations WHERE source_id = ?1 AND status = ?2) +
			(SELECT count(*) FROM relations WHERE target_id = ?1 AND status = ?2 AND source_id <> ?1)`, id, status).Scan(&n)
		if err != nil {
			return k, err
		}
		total += n
		if n == 0 || len(k.Facts) >= limit {
			continue
		}
		// The newest of either end, from the indexes alone, then the newest of both.
		err = each(ctx, g.read, "SELECT "+factColumns+` FROM (
				SELECT id FROM (SELECT id FROM relations WHERE source_id = ?1 AND status = ?2 ORDER BY updated_at DESC LIMIT ?3)
				UNION SELECT id FROM (SELECT id FROM relations WHERE target_id = ?1 AND status = ?2 ORDER BY updated_at DESC LIMIT ?3)
			) j JOIN relations r ON r.id = j.id`+factEnds+"ORDER BY r.updated_at DESC, r.id DESC LIMIT ?3", func(r *sql.Rows) error {
			f, err := scanFact(r)
			k.Facts = append(k.Facts, f)
			return err
		}, id, status, limit-len(k.Facts))
		if err != nil {
			return k, err
		}
	}
	k.More = total - len(k.Facts)
	return k, nil
}

// Change is an entity of which something has changed.
type Change struct {
	ID int64
	// Gone means that there is no such entity any more.
	Gone bool
}

// Changed returns about limit entities of which something has changed since a
// mark, and the mark to go on from; 0 is the beginning. What one transaction has
// changed is not divided. Equal marks mean that nothing is left. An entity that
// changed again comes again.
func (g *Graph) Changed(ctx context.Context, since int64, limit int) ([]Change, int64, error) {
	var out []Change
	last := since
	err := each(ctx, g.read, `SELECT c.entity_id, e.id IS NULL, c.seq FROM changes c LEFT JOIN entities e ON e.id = c.entity_id
		WHERE c.seq > ?1 AND c.seq <= coalesce((SELECT max(seq) FROM (SELECT seq FROM changes WHERE seq > ?1 ORDER BY seq LIMIT ?2)), 0)
		ORDER BY c.seq, c.entity_id`, func(r *sql.Rows) error {
		var c Change
		err := r.Scan(&c.ID, &c.Gone, &last)
		out = append(out, c)
		return err
	}, since, max(limit, 1))
	if err != nil {
		return nil, since, fmt.Errorf("list changed entities: %w", g.plain(err))
	}
	return out, last, nil
}

// History returns what was ever told of a subject's relation, the last heard
// first: where somebody lives and has lived. relation "" is all of them; the
// subject is a name, an alias or a stable id. At most limit facts.
func (g *Graph) History(ctx context.Context, subject, relation string, limit int) ([]Fact, error) {
	var out []Fact
	key, _ := relationKey(relation, "")
	found, err := g.Find(ctx, subject, maxBearers)
	if err == nil {
		var ids []int64
		for _, e := range found {
			ids = append(ids, e.ID)
		}
		err = each(ctx, g.read, "SELECT "+factColumns+" FROM relations r"+factEnds+`
			WHERE r.source_id IN (SELECT value FROM json_each(?1)) AND r.status <> 'forgotten' AND (?2 = '' OR r.relation_key = ?2)
			ORDER BY r.status = 'past', r.updated_at DESC, r.id DESC LIMIT ?3`, func(r *sql.Rows) error {
			f, err := scanFact(r)
			out = append(out, f)
			return err
		}, list(ids), key, max(limit, 0))
	}
	if err != nil {
		return nil, fmt.Errorf("read history: %w", g.plain(err))
	}
	return out, nil
}
