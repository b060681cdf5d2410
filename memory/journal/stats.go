package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Stats is how much a journal holds.
type Stats struct {
	// Files and Bytes count what lies in the folder, Distilled the files of it
	// whose facts have been taken.
	Files, Distilled int
	Bytes            int64
	// Oldest is when the first turn that is still kept began, zero if there is none.
	Oldest time.Time
	// Waiting and WaitingBytes count what is in no file yet.
	Waiting      int
	WaitingBytes int64
	// Last is the highest number given so far, 0 if none was.
	Last uint64
}

// Stats looks at the folder. It asks every file for its size and reads the
// beginnings.
func (j *Journal) Stats(ctx context.Context) (Stats, error) {
	s := Stats{}
	j.mu.Lock()
	s.Waiting, s.WaitingBytes = j.waiting, int64(j.bytes)
	j.mu.Unlock()
	var err error
	if s.Last, err = j.Last(); err != nil {
		return s, err
	}
	names, err := j.Files()
	if err != nil {
		return s, err
	}
	known, err := j.marks()
	if err != nil {
		return s, fmt.Errorf("journal statistics: %w", err)
	}
	for _, name := range names {
		size, err := j.size(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return s, fmt.Errorf("journal statistics: %w", err)
		}
		s.Files++
		s.Bytes += size
		if known[name] {
			s.Distilled++
		}
	}
	oldest, err := j.After(ctx, 0, 1)
	if err == nil && len(oldest) > 0 {
		s.Oldest = oldest[0].Started
	}
	return s, err
}

// Last is the highest number given so far, 0 if none was.
func (j *Journal) Last() (last uint64, err error) {
	last = j.safe()
	err = j.db.View(func(tx *bolt.Tx) error {
		if b := tx.Bucket([]byte(outboxBucket)); b != nil {
			last = max(last, b.Sequence())
		}
		return nil
	})
	return last, err
}

func (j *Journal) size(name string) (int64, error) {
	f, err := j.opts.FS.OpenFile(filepath.Join(j.dir, name), os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Seek(0, io.SeekEnd)
}
