package graph

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"homeagent/memory/token"
)

const (
	// purgeShare is how much of a query a fact must have to be meant by it, and
	// purgeNear how close to the best one: forgetting where the key is must not
	// forget whose it is.
	purgeShare = 0.6
	purgeNear  = 0.9
	// maxPurge is the most facts one Purge takes.
	maxPurge = 200
)

// Criteria say which facts are meant; all that are set must hold.
type Criteria struct {
	// Query matches by words, and takes only the facts it fits best.
	Query string
	// Subject, Relation and Object match whole, by name or alias where an
	// entity is meant.
	Subject, Relation, Object string
	// Source is an Origin's Source.
	Source string
	// Since and Until bound when the fact was first heard; zero is open.
	Since, Until time.Time
}

// Purge forgets facts and returns them. Soft keeps the rows, which are then
// recalled no more; hard deletes them, past and softly forgotten ones
// included, with the entities that no other fact speaks of, and overwrites what
// was deleted. At most 200 facts go at once, the best matching first.
func (g *Graph) Purge(ctx context.Context, c Criteria, hard bool) ([]Fact, error) {
	if c == (Criteria{}) {
		return nil, fmt.Errorf("purge facts: %w", ErrNoCriteria)
	}
	facts, err := g.meant(ctx, c, hard)
	if err == nil && len(facts) > 0 {
		if hard {
			err = g.erase(ctx, facts)
		} else {
			err = g.forget(ctx, facts)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("purge facts: %w", g.plain(err))
	}
	return facts, nil
}

// meant finds the facts that fit.
func (g *Graph) meant(ctx context.Context, c Criteria, forgotten bool) ([]Fact, error) {
	where, args, err := g.where(ctx, c, forgotten)
	if err != nil || where == "" {
		return nil, err
	}
	var lex *query
	if c.Query != "" {
		if lex, err = g.newQuery(ctx, c.Query); err != nil || len(lex.terms) == 0 {
			return nil, err
		}
	}
	var facts []Fact
	err = each(ctx, g.read, `SELECT r.id, s.name, r.relation_type, t.name, r.confidence, r.status, r.session_id, r.turn_id, r.created_at, r.updated_at
		FROM relations r JOIN entities s ON s.id = r.source_id JOIN entities t ON t.id = r.target_id WHERE `+where+` ORDER BY r.id DESC`,
		func(rows *sql.Rows) error {
			var f Fact
			var created, updated int64
			if err := rows.Scan(&f.ID, &f.Subject, &f.Relation, &f.Object, &f.Confidence, &f.Status, &f.Source, &f.Turn, &created, &updated); err != nil {
				return err
			}
			f.Created, f.Updated = time.UnixMilli(created), time.UnixMilli(updated)
			if lex != nil {
				if f.Score = lex.coverage(f); f.Score < purgeShare {
					return nil
				}
			}
			facts = append(facts, f)
			return nil
		}, args...)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(facts, func(a, b Fact) int { return cmp.Compare(b.Score, a.Score) })
	if lex != nil && len(facts) > 0 {
		best := facts[0].Score
		facts = slices.DeleteFunc(facts, func(f Fact) bool { return f.Score < best*purgeNear })
	}
	return facts[:min(len(facts), maxPurge)], nil
}

// where is the condition of the criteria but for the words of the query, which
// only narrow the facts down here. An empty one matches nothing.
func (g *Graph) where(ctx context.Context, c Criteria, forgotten bool) (string, []any, error) {
	cond := "r.status IN ('active', 'past'"
	if forgotten {
		cond += ", 'forgotten'"
	}
	cond += ")"
	var args []any
	also := func(s string, a ...any) { cond, args = cond+" AND "+s, append(args, a...) }
	for column, name := range map[string]string{"r.source_id": c.Subject, "r.target_id": c.Object} {
		if name != "" {
			also(column+" IN (SELECT entity_id FROM aliases WHERE key = ?)", token.Fold(name))
		}
	}
	if c.Relation != "" {
		key, _ := relationKey(c.Relation, c.Object)
		also("r.relation_key = ?", key)
	}
	if c.Source != "" {
		also("r.session_id = ?", c.Source)
	}
	if !c.Since.IsZero() {
		also("r.created_at >= ?", c.Since.UnixMilli())
	}
	if !c.Until.IsZero() {
		also("r.created_at < ?", c.Until.UnixMilli())
	}
	if c.Query != "" {
		lex, err := g.newQuery(ctx, c.Query)
		if err != nil || len(lex.terms) == 0 {
			return "", nil, err
		}
		hits, err := g.search(ctx, lex, kindFact, 4*maxPurge)
		if err != nil {
			return "", nil, err
		}
		var ids []int64
		for _, h := range hits {
			ids = append(ids, h.id)
		}
		s := "r.id IN (SELECT value FROM json_each(?)"
		if forgotten {
			// They are in no index any more; their own is short.
			s += " UNION SELECT id FROM relations WHERE status = 'forgotten'"
		}
		also(s+")", list(ids))
	}
	return cond, args, nil
}

// forget takes facts out of the index and keeps the rows.
func (g *Graph) forget(ctx context.Context, facts []Fact) error {
	return g.update(ctx, func(tx *sql.Tx) error {
		x := newIndex()
		for _, f := range facts {
			if _, err := tx.ExecContext(ctx, "UPDATE relations SET status = 'forgotten', updated_at = ? WHERE id = ?", g.now().UnixMilli(), f.ID); err != nil {
				return err
			}
			x.take(kindFact, f.ID, factTerms(f.Subject, f.Relation, f.Object))
		}
		return x.flush(ctx, tx)
	})
}

// erase deletes facts and the entities left without any.
func (g *Graph) erase(ctx context.Context, facts []Fact) error {
	conn, err := g.write.Conn(ctx)
	if err != nil {
		return err
	}
	// Deleted content is overwritten with zeros, here and in the log below.
	_, err = conn.ExecContext(ctx, "PRAGMA secure_delete = ON")
	conn.Close()
	if err != nil {
		return err
	}
	err = g.update(ctx, func(tx *sql.Tx) error {
		x := newIndex()
		var ends []int64
		for _, f := range facts {
			var s, t int64
			if err := tx.QueryRowContext(ctx, "DELETE FROM relations WHERE id = ? RETURNING source_id, target_id", f.ID).Scan(&s, &t); err != nil {
				return err
			}
			ends = append(ends, s, t)
			x.take(kindFact, f.ID, factTerms(f.Subject, f.Relation, f.Object))
		}
		if err := dropLonely(ctx, tx, x, ends); err != nil {
			return err
		}
		return x.flush(ctx, tx)
	})
	if err != nil {
		return err
	}
	_, err = g.write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// dropLonely deletes those of the entities that no relation speaks of.
func dropLonely(ctx context.Context, tx *sql.Tx, x *index, ids []int64) error {
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		var used bool
		err := tx.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM relations WHERE source_id = ?1) OR EXISTS(SELECT 1 FROM relations WHERE target_id = ?1)", id).Scan(&used)
		if err != nil {
			return err
		}
		if used {
			continue
		}
		err = each(ctx, tx, "SELECT alias FROM aliases WHERE entity_id = ?", func(rows *sql.Rows) error {
			var alias string
			if err := rows.Scan(&alias); err != nil {
				return err
			}
			x.take(kindEntity, id, nameTerms(alias))
			return nil
		}, id)
		if err != nil {
			return err
		}
		// Aliases go with it by their foreign key.
		if _, err := tx.ExecContext(ctx, "DELETE FROM entities WHERE id = ?", id); err != nil {
			return err
		}
	}
	return nil
}
