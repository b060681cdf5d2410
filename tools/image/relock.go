package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"homeagent/tools/image/debian"
)

// relock writes the lock anew from the seeds and what the mirror offers now.
func (b *builder) relock(ctx context.Context) error {
	if err := needTools("apt-get"); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(b.source, "tools/image/seeds.txt"))
	if err != nil {
		return fmt.Errorf("read the seeds: %w", err)
	}
	seeds, err := debian.ParseSeeds(string(text))
	if err != nil {
		return err
	}
	mirrors, err := debian.FindMirrors("/etc/apt", seeds.Release)
	if err != nil {
		return err
	}
	index, err := debian.ReadIndex(ctx, filepath.Join(b.cache, "apt"), mirrors, seeds)
	if err != nil {
		return err
	}
	lock, err := index.Resolve(seeds)
	if err != nil {
		return err
	}
	name := filepath.Join(b.source, lockName)
	if err := writeFile(name, lock.Bytes()); err != nil {
		return err
	}
	var size int64
	for _, p := range lock {
		size += p.Size
	}
	fmt.Fprintf(b.log, "image: %d files, %.0f MB, are pinned in %s\n", len(lock), float64(size)/1e6, lockName)
	return nil
}
