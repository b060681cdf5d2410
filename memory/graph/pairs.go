package graph

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// PairState is what is known of two entities that may be one.
type PairState string

// The states of a pair.
const (
	PairOpen      PairState = "open"      // waits for a decision
	PairMerged    PairState = "merged"    // is one entity now
	PairDifferent PairState = "different" // is two; never asked again
	PairUndecided PairState = "undecided" // could not be decided; asked again after new facts
)

// Pair is two entities that may be one. A is the older.
type Pair struct {
	ID     int64
	A, B   Entity
	Reason string
	State  PairState
	// Facts is how many facts spoke of the two when they were decided about.
	Facts            int
	Created, Decided time.Time
}

// Nominate proposes that two entities may be one; it merges nothing. fresh is
// true if the pair waits for a decision that was not awaited before. A pair
// that was found different, or undecided without a new fact since, stays so. The
// error wraps ErrUnknown for an id that no entity has, ErrSame for one and the same.
func (g *Graph) Nominate(ctx context.Context, a, b int64, reason string) (fresh bool, err error) {
	reason, err = clean("reason", reason)
	if err == nil && a == b {
		err = ErrSame
	}
	if err == nil {
		// A pair that is known costs no transaction: the tidy proposes the
		// same ones every half hour.
		var known Pair
		known, err = g.pair(ctx, a, b)
		if err == nil && known.ID != 0 {
			var due bool
			if due, err = g.due(ctx, known); err == nil && !due {
				return false, nil
			}
		}
	}
	if err == nil {
		err = g.change(ctx, func(s *session) error {
			for _, id := range []int64{a, b} {
				if err := s.exists(id); err != nil {
					return err
				}
			}
			fresh, err = s.propose(a, b, reason)
			return err
		})
	}
	if err != nil {
		return false, fmt.Errorf("nominate a pair: %w", g.plain(err))
	}
	return fresh, nil
}

// due tells whether an undecided pair has new facts.
func (g *Graph) due(ctx context.Context, p Pair) (bool, error) {
	if p.State != PairUndecided {
		return false, nil
	}
	var n int
	err := g.read.QueryRowContext(ctx, countFacts, p.A.ID, p.B.ID).Scan(&n)
	return n > p.Facts, err
}

// countFacts counts the facts that speak of either of two entities, each end
// of its own.
const countFacts = `SELECT (SELECT count(*) FROM relations WHERE source_id IN (?1, ?2) AND status <> 'forgotten') +
	(SELECT count(*) FROM relations WHERE target_id IN (?1, ?2) AND status <> 'forgotten')`

// exists returns an error that wraps ErrUnknown if no entity has the id.
func (s *session) exists(id int64) error {
	ok, err := found(s.one("SELECT 1 FROM entities WHERE id = ?", []any{id}, new(int)))
	if err == nil && !ok {
		err = fmt.Errorf("entity %d: %w", id, ErrUnknown)
	}
	return err
}

// nominate is propose for a mention.
func (c *committer) nominate(a, b int64, reason string) error {
	fresh, err := c.propose(a, b, reason)
	if fresh {
		c.done.Nominated++
	}
	return err
}

// propose puts a pair down as open unless it was decided.
func (s *session) propose(a, b int64, reason string) (fresh bool, err error) {
	a, b = min(a, b), max(a, b)
	n, err := s.exec("INSERT OR IGNORE INTO pairs(a, b, reason, state, created_at) VALUES(?, ?, ?, 'open', ?)", a, b, reason, s.now)
	if n > 0 || err != nil {
		return n > 0, err
	}
	n, err = s.exec(`UPDATE pairs SET state = 'open', reason = ?3
		WHERE a = ?1 AND b = ?2 AND state = 'undecided' AND facts < (`+countFacts+")", a, b, reason)
	return n > 0, err
}

// Decide puts down what was found out about two entities, nominated before or
// not. PairMerged is what Merge does; here it wraps ErrState.
func (g *Graph) Decide(ctx context.Context, a, b int64, state PairState, reason string) error {
	reason, err := clean("reason", reason)
	switch {
	case err != nil:
	case a == b:
		err = ErrSame
	case state != PairDifferent && state != PairUndecided && state != PairOpen:
		err = fmt.Errorf("%q: %w", state, ErrState)
	default:
		err = g.change(ctx, func(s *session) error {
			for _, id := range []int64{a, b} {
				if err := s.exists(id); err != nil {
					return err
				}
			}
			return s.decide(a, b, state, reason)
		})
	}
	if err != nil {
		return fmt.Errorf("decide about a pair: %w", g.plain(err))
	}
	return nil
}

func (s *session) decide(a, b int64, state PairState, reason string) error {
	a, b = min(a, b), max(a, b)
	var facts int
	if err := s.one(countFacts, []any{a, b}, &facts); err != nil {
		return err
	}
	_, err := s.exec(`INSERT INTO pairs(a, b, reason, state, facts, created_at, decided_at) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?6)
		ON CONFLICT(a, b) DO UPDATE SET state = excluded.state, facts = excluded.facts, decided_at = excluded.decided_at,
		reason = iif(excluded.reason = '', reason, excluded.reason)`, a, b, reason, state, facts, s.now)
	return err
}

const pairColumns = `SELECT p.id, p.reason, p.state, p.facts, p.created_at, p.decided_at,
	p.a, coalesce(a.name, ''), coalesce(a.type, ''), coalesce(a.mention_count, 0),
	p.b, coalesce(b.name, ''), coalesce(b.type, ''), coalesce(b.mention_count, 0)
	FROM pairs p LEFT JOIN entities a ON a.id = p.a LEFT JOIN entities b ON b.id = p.b `

func scanPair(r *sql.Rows) (p Pair, err error) {
	var created, decided int64
	err = r.Scan(&p.ID, &p.Reason, &p.State, &p.Facts, &created, &decided,
		&p.A.ID, &p.A.Name, &p.A.Type, &p.A.Mentions, &p.B.ID, &p.B.Name, &p.B.Type, &p.B.Mentions)
	p.Created, p.Decided = when(created), when(decided)
	return p, err
}

// when is a time of the file; 0 is none.
func when(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

func (g *Graph) pair(ctx context.Context, a, b int64) (p Pair, err error) {
	err = each(ctx, g.read, pairColumns+"WHERE p.a = ? AND p.b = ?", func(r *sql.Rows) (err error) {
		p, err = scanPair(r)
		return err
	}, min(a, b), max(a, b))
	return p, err
}

// Pairs lists at most limit pairs in a state, or in any if state is "", the
// oldest first. Of one that was merged, the entity that is gone has no name.
func (g *Graph) Pairs(ctx context.Context, state PairState, limit int) ([]Pair, error) {
	var out []Pair
	err := each(ctx, g.read, pairColumns+"WHERE ?1 = '' OR p.state = ?1 ORDER BY p.id LIMIT ?2", func(r *sql.Rows) error {
		p, err := scanPair(r)
		out = append(out, p)
		return err
	}, state, max(limit, 0))
	if err != nil {
		return nil, fmt.Errorf("list pairs: %w", g.plain(err))
	}
	return out, nil
}

// Due lists at most limit pairs that ask for a decision: the open ones, then
// the undecided ones that facts were added to since.
func (g *Graph) Due(ctx context.Context, limit int) ([]Pair, error) {
	out, err := g.Pairs(ctx, PairOpen, limit)
	if err != nil || len(out) >= limit {
		return out, err
	}
	undecided, err := g.Pairs(ctx, PairUndecided, 10_000)
	for _, p := range undecided {
		if err != nil || len(out) >= limit {
			break
		}
		var due bool
		if due, err = g.due(ctx, p); due {
			out = append(out, p)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list due pairs: %w", g.plain(err))
	}
	return out, nil
}
