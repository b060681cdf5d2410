package graph

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

const (
	// archiveHeard is how often a fact may have been said to be archived.
	archiveHeard = 2
	// archiveStep is how many rows one transaction of Archive looks at, so that
	// nobody waits for the file long.
	archiveStep = 2000
)

// Archive puts facts aside that were said once or twice and not heard of for
// the given number of days, at least one: they are found with Query.Past, behind
// everything else, and wake when they are heard again. It returns how many there
// were, and writes nothing if there are none.
func (g *Graph) Archive(ctx context.Context, days int) (int, error) {
	before := g.now().Add(-time.Duration(max(days, 1)) * 24 * time.Hour).UnixMilli()
	done := 0
	for last := int64(0); ; {
		n, next, err := g.archive(ctx, before, last)
		if err != nil {
			return done, fmt.Errorf("archive facts: %w", g.plain(err))
		}
		done += n
		if next == last {
			return done, nil
		}
		last = next
	}
}

// archive looks at the rows behind last and returns the last one it looked at.
func (g *Graph) archive(ctx context.Context, before, last int64) (n int, next int64, err error) {
	var due []int64
	next = last
	err = each(ctx, g.read, `SELECT id, status = 'active' AND updated_at < ? AND heard <= ? FROM relations
		WHERE id > ? ORDER BY id LIMIT ?`,
		func(r *sql.Rows) error {
			var old bool
			err := r.Scan(&next, &old)
			if old {
				due = append(due, next)
			}
			return err
		}, before, archiveHeard, last, archiveStep)
	if err != nil || len(due) == 0 {
		return 0, next, err
	}
	err = g.change(ctx, func(s *session) error {
		n = 0
		for _, id := range due {
			var source, target int64
			// It may have been heard since it was read.
			err := s.one(`UPDATE relations SET status = 'archived' WHERE id = ? AND status = 'active' AND updated_at < ? AND heard <= ?
				RETURNING source_id, target_id`, []any{id, before, archiveHeard}, &source, &target)
			ok, err := found(err)
			if err != nil {
				return err
			}
			if ok {
				n++
				s.touch(source, target)
			}
		}
		return nil
	})
	return n, next, err
}
