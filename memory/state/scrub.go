package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"homeagent/memory/disk"
)

const (
	// scrubBucket says that the file holds deleted bytes that must go.
	scrubBucket = "scrub"
	// scrubSuffix is that of a file that is being written anew.
	scrubSuffix = ".scrub"
	// scrubTx is how many bytes one transaction of the copy has.
	scrubTx = 4 << 20
)

// errReplaced sends an Update to the file that has taken the place of its own.
var errReplaced = errors.New("the file was replaced")

// update is Update of bbolt on the file that is the present one.
func (d *DB) update(fn func(*bolt.Tx) error) error {
	for {
		db := d.db.Load()
		err := db.Update(func(tx *bolt.Tx) error {
			if db != d.db.Load() {
				return errReplaced
			}
			return fn(tx)
		})
		if errors.Is(err, errReplaced) || errors.Is(err, berrors.ErrDatabaseNotOpen) && db != d.db.Load() {
			continue
		}
		return err
	}
}

// ScrubLater notes durably that something is about to be deleted for good:
// should the process end before Scrub, the next Open scrubs.
func (d *DB) ScrubLater() error {
	return d.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists([]byte(scrubBucket))
		return err
	})
}

// Scrub writes the file anew, so that no page of it holds what was deleted, and
// puts the new one into the place of the old. Updates wait meanwhile, Views do
// not; it must not be called within either. It reads and writes the whole file,
// some MB. After an error, and after a crash at any point, the file is the old
// one, whole, and the next Open tries again if ScrubLater was called.
//
// On the medium the bytes stay until something is written over them.
func (d *DB) Scrub() error {
	d.scrub.Lock()
	defer d.scrub.Unlock()
	old := d.db.Load()
	tx, err := old.Begin(true) // nothing changes until the new file has its place
	if err != nil {
		return fmt.Errorf("scrub %s: %w", d.path, err)
	}
	next, err := d.copied(old)
	if next == nil {
		return errors.Join(fmt.Errorf("scrub %s: %w", d.path, full(err)), tx.Rollback())
	}
	d.db.Store(next)
	d.commits.Add(1)
	if err = errors.Join(err, tx.Rollback(), old.Close()); err != nil {
		return fmt.Errorf("scrub %s: %w", d.path, full(err))
	}
	return nil
}

// copied makes the new file and gives it the old one's name. With a nil DB
// nothing has changed; with one it has, and an error may tell that this may not
// outlast a power cut.
func (d *DB) copied(old *bolt.DB) (next *bolt.DB, err error) {
	tmp := d.path + scrubSuffix
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	next, err = bolt.Open(tmp, 0o600, &bolt.Options{Timeout: lockWait, FreelistType: bolt.FreelistMapType, InitialMmapSize: initialSize})
	if err != nil {
		return nil, err
	}
	if err = bolt.Compact(next, old, scrubTx); err == nil {
		err = next.Update(func(tx *bolt.Tx) error {
			if tx.Bucket([]byte(scrubBucket)) == nil {
				return nil
			}
			return tx.DeleteBucket([]byte(scrubBucket))
		})
	}
	if err == nil {
		err = next.Sync()
	}
	if err == nil {
		err = os.Rename(tmp, d.path)
	}
	if err != nil {
		return nil, errors.Join(err, next.Close(), os.Remove(tmp))
	}
	return next, disk.OS{}.SyncDir(filepath.Dir(d.path))
}

// scrubDue does what ScrubLater has asked for. Where there is no room for a
// second file the house starts none the less, and the next start tries again.
func (d *DB) scrubDue() error {
	if err := os.Remove(d.path + scrubSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(fmt.Errorf("open %s: %w", d.path, plain(err)), d.Close())
	}
	due := false
	err := d.View(func(tx *bolt.Tx) error {
		due = tx.Bucket([]byte(scrubBucket)) != nil
		return nil
	})
	if err != nil || !due {
		return err
	}
	if err := d.Scrub(); err != nil && !disk.IsFull(err) {
		return errors.Join(err, d.Close())
	}
	return nil
}
