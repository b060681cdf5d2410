package graph

import (
	"context"
	"database/sql"
	"fmt"
)

// literalBatch is how many facts are read, and at most erased, at once.
const literalBatch = 500

// EraseLiteral erases, as a hard Purge does, every fact whose text or the name
// of one of whose entities fits: words within words, which Purge cannot find, and
// all of them, where Purge takes the best matching. It reads all facts, which
// takes a few seconds a million. Facts erased before an error are in the answer.
func (g *Graph) EraseLiteral(ctx context.Context, fits func(text string) bool) (gone []Fact, err error) {
	for last := int64(0); ; {
		var found []Fact
		read := 0
		err := each(ctx, g.read, "SELECT "+factColumns+" FROM relations r"+factEnds+"WHERE r.id > ? ORDER BY r.id LIMIT ?",
			func(r *sql.Rows) error {
				f, err := scanFact(r)
				if err != nil {
					return err
				}
				read, last = read+1, f.ID
				if fits(f.Text()) || fits(f.Subject) || fits(f.Relation) || fits(f.Object) {
					found = append(found, f)
				}
				return nil
			}, last, literalBatch)
		if err == nil && len(found) > 0 {
			err = g.erase(ctx, found)
		}
		if err != nil {
			return gone, fmt.Errorf("erase facts: %w", g.plain(err))
		}
		gone = append(gone, found...)
		if read < literalBatch {
			return gone, nil
		}
	}
}
