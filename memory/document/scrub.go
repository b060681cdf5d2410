package document

import (
	"context"
	"fmt"
)

// Scrub is that of the index's file: called before and after Delete or Redact,
// no title of what these have removed is left in it.
func (s *Store) Scrub(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return fmt.Errorf("overwrite removed titles: %w", err)
	}
	defer s.mu.Unlock()
	if err := s.index.Scrub(ctx); err != nil {
		return fmt.Errorf("overwrite removed titles: %w", err)
	}
	return nil
}
