package graph

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
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
// recalled no more until Restore; hard deletes them, past and softly forgotten ones
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
	err = each(ctx, g.read, "SELECT "+factColumns+" FROM relations r"+factEnds+"WHERE "+where+" ORDER BY r.id DESC",
		func(rows *sql.Rows) error {
			f, err := scanFact(rows)
			if err != nil {
				return err
			}
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
	cond := "r.status IN ('active', 'past', 'archived'"
	if forgotten {
		cond += ", 'forgotten'"
	}
	cond += ")"
	var args []any
	also := func(s string, a ...any) { cond, args = cond+" AND "+s, append(args, a...) }
	for column, name := range map[string]string{"r.source_id": c.Subject, "r.target_id": c.Object} {
		if name != "" {
			also(column+" IN (SELECT entity_id FROM aliases WHERE key = ?)", nameKey(name))
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
	return g.change(ctx, func(s *session) error {
		for _, f := range facts {
			// Read again: a merge may have come between.
			f, err := s.fact(f.ID)
			if err != nil {
				return err
			}
			n, err := s.exec("UPDATE relations SET before = status, status = 'forgotten' WHERE id = ? AND status <> 'forgotten'", f.ID)
			if err != nil {
				return err
			}
			if n > 0 {
				s.index.take(kindFact, f.ID, factTerms(f.Subject, f.Relation, f.Object))
				s.touch(f.SubjectID, f.ObjectID)
			}
		}
		return nil
	})
}

// Restore undoes soft purges: the facts of the given ids are recalled again,
// and returned. One that something newer contradicts by now comes back as
// history; one that was told again meanwhile is joined with the row of that.
// Ids of facts that are not softly forgotten are passed over.
func (g *Graph) Restore(ctx context.Context, ids ...int64) ([]Fact, error) {
	var back []int64
	err := g.change(ctx, func(s *session) error {
		for _, id := range ids {
			now, err := s.restore(id)
			if err != nil {
				return err
			}
			if now != 0 && !slices.Contains(back, now) {
				back = append(back, now)
			}
		}
		return nil
	})
	var facts []Fact
	if err == nil {
		err = each(ctx, g.read, "SELECT "+factColumns+" FROM json_each(?) j JOIN relations r ON r.id = j.value"+factEnds,
			func(r *sql.Rows) error {
				f, err := scanFact(r)
				facts = append(facts, f)
				return err
			}, list(back))
	}
	if err != nil {
		return nil, fmt.Errorf("restore facts: %w", g.plain(err))
	}
	return facts, nil
}

// restore returns the row that the fact is now, 0 if there was none to restore.
func (s *session) restore(id int64) (int64, error) {
	var source, target, created, updated int64
	var key, relation, object, subject string
	var before Status
	err := s.one(`SELECT r.source_id, r.target_id, r.relation_key, r.relation_type, r.before, r.created_at, r.updated_at, s.name, t.name
		FROM relations r`+factEnds+`WHERE r.id = ? AND r.status = 'forgotten'`, []any{id},
		&source, &target, &key, &relation, &before, &created, &updated, &subject, &object)
	if ok, err := found(err); !ok || err != nil {
		return 0, err
	}
	if before == "" {
		before = Active
	}
	s.touch(source, target)
	if before == Active || before == Archived {
		var again int64
		err := s.one(`SELECT id FROM relations WHERE source_id = ? AND relation_key = ? AND target_id = ?
			AND status IN ('active', 'archived')`,
			[]any{source, key, target}, &again)
		switch ok, err := found(err); {
		case err != nil:
			return 0, err
		case ok:
			return again, s.join(again, id)
		}
		_, single := relationKey(relation, object)
		var other bool
		err = s.one(`SELECT EXISTS(SELECT 1 FROM relations WHERE source_id = ?1 AND status IN ('active', 'archived')
			AND (relation_key = ?2 AND ?3 OR relation_key = ?4 AND target_id = ?5))`, []any{source, key, single, opposite(key), target},
			&other)
		if err != nil {
			return 0, err
		}
		if other {
			before = Past
		}
	}
	s.index.put(kindFact, id, factTerms(subject, relation, object))
	_, err = s.exec("UPDATE relations SET status = ?, before = '' WHERE id = ?", before, id)
	return id, err
}

// join adds what a row knows to another one of the same fact, and deletes it.
func (s *session) join(to, from int64) error {
	for _, q := range []string{
		`UPDATE relations SET confidence = max(relations.confidence, f.confidence), heard = relations.heard + f.heard,
			created_at = min(relations.created_at, f.created_at), updated_at = max(relations.updated_at, f.updated_at)
			FROM (SELECT * FROM relations WHERE id = ?2) f WHERE relations.id = ?1`,
		`INSERT OR IGNORE INTO hearings(relation_id, turn_id) SELECT ?1, turn_id FROM relations WHERE id = ?2 AND turn_id <> ''`,
		`INSERT OR IGNORE INTO hearings(relation_id, turn_id) SELECT ?1, turn_id FROM hearings WHERE relation_id = ?2`,
	} {
		if _, err := s.exec(q, to, from); err != nil {
			return err
		}
	}
	_, err := s.exec("DELETE FROM relations WHERE id = ?", from)
	return err
}
