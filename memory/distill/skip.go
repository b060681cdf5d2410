package distill

import (
	"context"
	"fmt"
)

// Skip passes over the lines up to number seq: their facts came another way,
// with an import. Facts found and not yet committed stay. It waits for a round
// that is at work.
func (w *Worker) Skip(ctx context.Context, seq uint64) error {
	select {
	case w.busy <- struct{}{}:
		defer func() { <-w.busy }()
	case <-ctx.Done():
		return fmt.Errorf("skip lines: %w", ctx.Err())
	}
	p, err := w.opts.Cursor.Get()
	if err != nil {
		return fmt.Errorf("skip lines: %w", err)
	}
	if len(p.Pending) > 0 || p.Seq >= seq {
		return nil
	}
	p.Seq, p.Through = seq, 0
	return w.opts.Cursor.Set(p)
}
