package graph

import (
	"context"
	"database/sql"
	"fmt"
)

// Meant returns the facts that Purge would forget, and forgets none.
func (g *Graph) Meant(ctx context.Context, c Criteria, hard bool) ([]Fact, error) {
	if c == (Criteria{}) {
		return nil, fmt.Errorf("find facts to forget: %w", ErrNoCriteria)
	}
	facts, err := g.meant(ctx, c, hard)
	if err != nil {
		return nil, fmt.Errorf("find facts to forget: %w", g.plain(err))
	}
	return facts, nil
}

// Newest lists at most limit facts, those that came last first; past adds what
// does not hold any more. What was softly forgotten is in neither list.
func (g *Graph) Newest(ctx context.Context, past bool, limit int) ([]Fact, error) {
	var out []Fact
	err := each(ctx, g.read, "SELECT "+factColumns+" FROM relations r"+factEnds+`WHERE r.status IN ('active', 'archived') OR ?1 AND r.status = 'past'
		ORDER BY r.id DESC LIMIT ?2`, func(r *sql.Rows) error {
		f, err := scanFact(r)
		out = append(out, f)
		return err
	}, past, max(limit, 0))
	if err != nil {
		return nil, fmt.Errorf("list the newest facts: %w", g.plain(err))
	}
	return out, nil
}
