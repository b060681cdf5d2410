package search

import (
	"context"
	"fmt"
)

// After returns at most limit passages that came behind a mark, in the order in
// which they came, and the mark to go on from; 0 is the beginning. A passage of
// which the text has changed comes again. What was removed does not come.
func (x *Index) After(ctx context.Context, mark int64, limit int) (passages []Passage, next int64, err error) {
	var ids []string
	next = mark
	err = func() error {
		r, err := x.file.Read.QueryContext(ctx, `SELECT id, pid FROM passages WHERE id > ? ORDER BY id LIMIT ?`, mark, limit)
		if err != nil {
			return err
		}
		defer r.Close()
		for r.Next() {
			var id string
			if err := r.Scan(&next, &id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return r.Err()
	}()
	if err != nil {
		return nil, mark, fmt.Errorf("passages behind %d: %w", mark, x.file.Plain(err))
	}
	if len(ids) == 0 {
		return nil, mark, nil
	}
	passages, err = x.Get(ctx, ids...)
	return passages, next, err
}
