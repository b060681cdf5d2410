package graph

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"homeagent/memory/token"
)

// Summary is what the graph holds.
type Summary struct {
	Entities, Active, Past, Forgotten int
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
		case Forgotten:
			s.Forgotten = n
		}
		return nil
	})
	if err == nil {
		err = g.read.QueryRowContext(ctx, "SELECT count(*) FROM entities").Scan(&s.Entities)
	}
	if err == nil {
		err = each(ctx, g.read, "SELECT id, name, mention_count FROM entities WHERE type <> 'text' ORDER BY mention_count DESC, id LIMIT ?",
			func(rows *sql.Rows) error {
				var e Entity
				if err := rows.Scan(&e.ID, &e.Name, &e.Mentions); err != nil {
					return err
				}
				s.Top = append(s.Top, e)
				return nil
			}, max(top, 0))
	}
	if err == nil && s.Active+s.Past+s.Forgotten > 0 {
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

// ErrUnknown is wrapped when a name belongs to no entity.
var ErrUnknown = errors.New("no entity of that name")

// AddAlias gives the entity of a name another one to be found by. Commit
// resolves the alias to it from now on.
func (g *Graph) AddAlias(ctx context.Context, name, alias string) error {
	alias, err := clean("alias", alias)
	if err == nil && !visible(alias) {
		err = fmt.Errorf("alias: %w", ErrEmpty)
	}
	if err == nil {
		err = g.update(ctx, func(tx *sql.Tx) error {
			var id int64
			err := tx.QueryRowContext(ctx, `SELECT e.id FROM aliases a JOIN entities e ON e.id = a.entity_id
				WHERE a.key = ? ORDER BY e.name = ? DESC, e.mention_count DESC, e.id LIMIT 1`, token.Fold(name), name).Scan(&id)
			if errors.Is(err, sql.ErrNoRows) {
				return fmt.Errorf("%q: %w", name, ErrUnknown)
			}
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, "INSERT OR IGNORE INTO aliases(key, entity_id, alias, created_at) VALUES(?, ?, ?, ?)",
				token.Fold(alias), id, alias, g.now().UnixMilli())
			if err != nil {
				return err
			}
			x := newIndex()
			x.put(kindEntity, id, nameTerms(alias))
			return x.flush(ctx, tx)
		})
	}
	if err != nil {
		return fmt.Errorf("add alias: %w", err)
	}
	return nil
}
