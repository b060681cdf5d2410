package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	bolt "go.etcd.io/bbolt"

	"homeagent/memory/disk"
)

// newSuffix is that of a file that is being rewritten.
const newSuffix = suffix + ".new"

// Redact deletes the lines for which keep is false, from the files and from the
// outbox, and returns how many. Lines that do not parse go too: nobody can tell
// what they hold. Each file is replaced as a whole, so that a crash leaves it as
// it was or as it shall be; after a crash or an error Redact is called again. A
// turn that was deleted is not journaled again under its id. keep is called from
// one goroutine, perhaps twice for a line, and must use neither the Journal nor state.db.
//
// The bytes are gone from the files; on the medium, and in pages that state.db
// has set free, they stay until something is written over them.
func (j *Journal) Redact(ctx context.Context, keep func(Line) bool) (deleted int, err error) {
	j.file.Lock()
	defer j.file.Unlock()
	// The outbox goes first, and with it all that is safe in a file: by a file
	// that has lost its last line Open could not tell that it was there before.
	deleted, err = j.redactOutbox(keep)
	if err != nil {
		return 0, fmt.Errorf("redact journal: %w", err)
	}
	names, err := files(j.opts.FS, j.dir)
	if err != nil {
		return deleted, fmt.Errorf("redact journal: %w", err)
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return deleted, err
		}
		n, err := j.redactFile(name, keep)
		deleted += n
		if err != nil {
			return deleted, fmt.Errorf("redact journal %s: %w", name, err)
		}
	}
	return deleted, nil
}

func (j *Journal) redactOutbox(keep func(Line) bool) (deleted int, err error) {
	lines, size := 0, 0
	floor := j.safe()
	err = j.db.Update(func(tx *bolt.Tx) error {
		deleted, lines, size = 0, 0, 0
		b := tx.Bucket([]byte(outboxBucket))
		if b == nil {
			return nil
		}
		if err := drop(b, floor); err != nil {
			return err
		}
		var gone [][]byte
		err := b.ForEach(func(k, v []byte) error {
			if l, err := Decode(v); err != nil || !keep(l) {
				gone = append(gone, bytes.Clone(k))
				return nil
			}
			lines++
			size += len(v)
			return nil
		})
		for _, k := range gone {
			err = errors.Join(err, b.Delete(k))
		}
		deleted = len(gone)
		// Within the transaction no other line can be added.
		return err
	})
	if err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	// A turn may have come in between; it is counted by its own done.
	j.waiting = max(0, j.waiting-deleted)
	if j.waiting <= lines {
		j.bytes = size
	}
	return deleted, nil
}

// redactFile rewrites one file where it must be. The caller holds j.file.
func (j *Journal) redactFile(name string, keep func(Line) bool) (deleted int, err error) {
	var kept [][]byte
	err = j.eachRaw(name, func(raw []byte) error {
		if l, err := Decode(raw); err != nil || !keep(l) {
			deleted++
			return nil
		}
		kept = append(kept, bytes.Clone(raw))
		return nil
	})
	if err != nil || deleted == 0 {
		return 0, err
	}
	current := j.out.name == name
	if current {
		if err := j.out.close(); err != nil {
			return 0, err
		}
	}
	path := filepath.Join(j.dir, name)
	if len(kept) == 0 {
		if err := j.opts.FS.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		if err := j.opts.FS.SyncDir(j.dir); err != nil {
			return deleted, err
		}
		return deleted, j.unmark(name)
	}
	data := bytes.Join(kept, nil)
	if err := disk.WriteFileFS(j.opts.FS, path, data, 0o600); err != nil {
		return 0, err
	}
	if current {
		// Where this fails the next write begins a new file.
		return deleted, j.out.open(name, int64(len(data)), false)
	}
	return deleted, nil
}

// unmark forgets that a file was distilled: there is no such file any more, and
// its name may be given again.
func (j *Journal) unmark(name string) error {
	return j.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(distilledBucket))
		if b == nil {
			return nil
		}
		return b.Delete([]byte(name))
	})
}

// removeUnfinished deletes what a rewriting left that was cut short.
func (o *output) removeUnfinished() error {
	all, err := o.fs.List(o.dir)
	if err != nil {
		return err
	}
	for _, name := range all {
		if strings.HasPrefix(name, prefix) && strings.HasSuffix(name, newSuffix) {
			if err := o.fs.Remove(filepath.Join(o.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
