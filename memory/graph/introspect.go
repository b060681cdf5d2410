package graph

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Summary is what the graph holds.
type Summary struct {
	Entities, Active, Past, Archived, Forgotten int
	// Pairs wait for a decision, Merges can be undone.
	Pairs, Merges int
	// Top are the most mentioned entities, texts left out.
	Top []Entity
	// Oldest and Newest are when the first and last facts were heard; zero
	// without facts.
	Oldest, Newest time.Time
}

// Introspect counts. It reads whole indexes and is not for the path of a turn.
func (g *Graph) Introspect(ctx context.Context, top int) (Summary, error) {
	var s Summary
	err := each(ctx, g.read, "SELECT status, count(*) FROM relations GROUP BY status", func(rows *sql.Rows) error {
		var status Status
		var n int
		if err := rows.Scan(&status, &n); err != nil {
			return err
		}
		switch status {
		case Active:
			s.Active = n
		case Past:
			s.Past = n
		case Archived:
			s.Archived = n
		case Forgotten:
			s.Forgotten = n
		}
		return nil
	})
	if err == nil {
		err = g.read.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM entities),
			(SELECT count(*) FROM pairs WHERE state IN ('open', 'undecided')), (SELECT count(*) FROM merges WHERE undone_at IS NULL)`).
			Scan(&s.Entities, &s.Pairs, &s.Merges)
	}
	if err == nil {
		err = each(ctx, g.read, `SELECT id, name, type, mention_count FROM entities
			WHERE type <> 'text' ORDER BY mention_count DESC, id LIMIT ?`,
			func(rows *sql.Rows) error {
				var e Entity
				if err := rows.Scan(&e.ID, &e.Name, &e.Type, &e.Mentions); err != nil {
					return err
				}
				s.Top = append(s.Top, e)
				return nil
			}, max(top, 0))
	}
	if err == nil && s.Active+s.Past+s.Archived+s.Forgotten > 0 {
		var oldest, newest int64
		err = g.read.QueryRowContext(ctx, `SELECT (SELECT created_at FROM relations ORDER BY id LIMIT 1),
			(SELECT created_at FROM relations ORDER BY id DESC LIMIT 1)`).Scan(&oldest, &newest)
		s.Oldest, s.Newest = time.UnixMilli(oldest), time.UnixMilli(newest)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("look into the graph: %w", g.plain(err))
	}
	return s, nil
}

// AddAlias gives the entity of a name another one to be found by. Commit
// resolves the alias to it from now on.
func (g *Graph) AddAlias(ctx context.Context, name, alias string) error {
	alias, err := clean("alias", alias)
	if err == nil && !visible(alias) {
		err = fmt.Errorf("alias: %w", ErrEmpty)
	}
	if err == nil {
		err = g.change(ctx, func(s *session) error {
			var id int64
			err := s.one(`SELECT e.id FROM aliases a JOIN entities e ON e.id = a.entity_id
				WHERE a.key = ? ORDER BY e.name = ? DESC, a.own DESC, e.mention_count DESC, e.id LIMIT 1`, []any{nameKey(name), name}, &id)
			ok, err := found(err)
			if err == nil && !ok {
				err = fmt.Errorf("%q: %w", name, ErrUnknown)
			}
			if err != nil {
				return err
			}
			s.touch(id)
			return s.give(id, alias, "", false)
		})
	}
	if err != nil {
		return fmt.Errorf("add alias: %w", err)
	}
	return nil
}
