package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"homeagent/tools/image/debian"
)

// tarballs lays the makers' tarballs of the lock into a folder, under the names
// that Buildroot looks for. One that lies there already, from wherever it came,
// stays if it is the very one; then no mirror is asked.
func (b *builder) tarballs(ctx context.Context, dir string) error {
	if err := b.readLock(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of the tarballs: %w", err)
	}
	for _, p := range b.lock.Of(debian.ForTarball) {
		to := filepath.Join(dir, p.File())
		if p.Check(to) == nil {
			continue
		}
		if err := b.store.Bring(ctx, debian.Lock{p}); err != nil {
			return err
		}
		// Under its name only when it is whole.
		if err := copyFile(b.store.Path(p), to+".new", 0o644); err != nil {
			return err
		}
		if err := os.Rename(to+".new", to); err != nil {
			return fmt.Errorf("lay down %s: %w", p.File(), err)
		}
	}
	return nil
}
