package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Files lists the names of the files, oldest first. Turns that wait in the
// outbox are in none of them.
func (j *Journal) Files() ([]string, error) {
	names, err := files(j.opts.FS, j.dir)
	if err != nil {
		return nil, fmt.Errorf("list journal: %w", err)
	}
	return names, nil
}

// Read calls f for each line of a file until it returns an error, which Read
// returns. Lines that do not parse are counted and skipped.
func (j *Journal) Read(name string, f func(Line) error) (bad int, err error) {
	if _, _, ok := parse(name); !ok {
		return 0, fmt.Errorf("read journal: %q is none of its files", name)
	}
	file, err := j.opts.FS.OpenFile(filepath.Join(j.dir, name), os.O_RDONLY, 0)
	if err != nil {
		return 0, fmt.Errorf("read journal: %w", err)
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			l, derr := Decode(line)
			if derr != nil {
				bad++
			} else if ferr := f(l); ferr != nil {
				return bad, ferr
			}
		}
		if errors.Is(err, io.EOF) {
			return bad, nil
		}
		if err != nil {
			return bad, fmt.Errorf("read journal: %w", err)
		}
	}
}

// Distilled marks a file as distilled: its days are counted from now on. A
// file that still grows must not be marked; Current names it.
func (j *Journal) Distilled(name string) error {
	if _, _, ok := parse(name); !ok || name == j.Current() {
		return fmt.Errorf("mark journal: %q is no file that is closed", name)
	}
	at, err := j.opts.Now().UTC().MarshalText()
	if err == nil {
		err = j.db.Update(func(tx *bolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte(distilledBucket))
			if err != nil {
				return err
			}
			return b.Put([]byte(name), at)
		})
	}
	if err != nil {
		return fmt.Errorf("mark journal %s: %w", name, err)
	}
	return nil
}

// Current is the file being written, "" if none is open.
func (j *Journal) Current() string {
	j.file.Lock()
	defer j.file.Unlock()
	return j.out.name
}

// Sweep deletes the files whose distillation is Retention ago, and returns
// their names.
func (j *Journal) Sweep() (deleted []string, err error) {
	now := j.opts.Now()
	err = j.db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(distilledBucket))
		if b == nil {
			return nil
		}
		return b.ForEach(func(k, v []byte) error {
			var at time.Time
			if at.UnmarshalText(v) == nil && now.Sub(at) >= j.opts.Retention {
				deleted = append(deleted, string(k))
			}
			return nil
		})
	})
	if err != nil || len(deleted) == 0 {
		return nil, err
	}
	for _, name := range deleted {
		err := j.opts.FS.Remove(filepath.Join(j.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("sweep journal: %w", err)
		}
	}
	if err := j.opts.FS.SyncDir(j.dir); err != nil {
		return nil, fmt.Errorf("sweep journal: %w", err)
	}
	// The marks go last: a crash before this deletes nothing twice.
	err = j.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(distilledBucket))
		for _, name := range deleted {
			if err := b.Delete([]byte(name)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("sweep journal: %w", err)
	}
	return deleted, nil
}
