package search

import (
	"context"
	"fmt"
)

// Scrub is that of the file: called before and after Remove or RemoveDoc,
// nothing of what these have removed is left in it.
func (x *Index) Scrub(ctx context.Context) error {
	if err := x.file.Scrub(ctx); err != nil {
		return fmt.Errorf("overwrite removed passages: %w", err)
	}
	return nil
}
