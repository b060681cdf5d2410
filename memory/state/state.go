package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"homeagent/memory/disk"
)

var (
	// ErrLocked is wrapped when another process holds the file.
	ErrLocked = errors.New("in use by another process")
	// ErrReadOnly is wrapped when the file or its folder may not be written.
	ErrReadOnly = errors.New("may not be written")
	// ErrDamaged is the cause in a Notice about a file that was set aside.
	ErrDamaged = errors.New("damaged")
)

const (
	// initialSize is what a new file is grown to (a hole, not written), so that
	// an ordinary turn never pays the sync of growth. Bytes.
	initialSize = 8 << 20
	// lockWait is how long Open waits for a predecessor that is just leaving.
	lockWait = 2 * time.Second
)

// Notice says that a file was set aside and a new one begun.
type Notice struct {
	// Path is the file, Aside where its old content lies now.
	Path, Aside string
	// Err wraps ErrDamaged and says what was wrong.
	Err error
}

// DB is an open state.db.
type DB struct {
	db      atomic.Pointer[bolt.DB] // another one after each Scrub
	path    string
	commits atomic.Int64
	scrub   sync.Mutex // one Scrub at a time
}

// Open opens or creates the file. A non-nil Notice comes with a usable, empty
// DB. Errors wrap ErrLocked, ErrReadOnly, or what the system said; see
// disk.IsFull.
func Open(path string) (*DB, *Notice, error) {
	info, err := os.Stat(path)
	known := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("open %s: %w", path, plain(err))
	}
	var damage error
	switch {
	case known && !info.Mode().IsRegular():
		damage = fmt.Errorf("%w: it is no file", ErrDamaged)
	case known && info.Size() == 0:
		// bbolt would take it for a new one and nobody would hear of the loss.
		damage = fmt.Errorf("%w: the file is empty", ErrDamaged)
	}
	if damage == nil {
		d, err := open(path)
		unreadable := false
		if known && errors.Is(err, ErrReadOnly) {
			switch f, oerr := os.Open(path); {
			case oerr != nil:
				unreadable = true
			default:
				f.Close()
				if disk.Own(path) == nil {
					d, err = open(path)
				}
			}
		}
		if err == nil {
			return d, nil, d.scrubDue()
		}
		if !known || !unreadable && !errors.Is(err, ErrDamaged) {
			return nil, nil, fmt.Errorf("open %s: %w", path, err)
		}
		damage = err
	}
	aside, err := disk.SetAside(path, time.Now())
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w: %w", path, damage, err)
	}
	d, err := open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	return d, &Notice{Path: path, Aside: aside, Err: damage}, nil
}

// open opens and checks the file, and creates it where there is none. A new one
// gets its name when it is whole: a power cut while bbolt makes a file would
// leave an empty one, which is taken for damage.
func open(path string) (*DB, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		var opened error // worded by openFile already
		err := disk.Create(path, func(tmp string) error {
			var d *DB
			if d, opened = openFile(tmp); opened != nil {
				return opened
			}
			return d.Close()
		})
		switch {
		case opened != nil:
			return nil, opened
		case err != nil:
			return nil, plain(err)
		}
	}
	return openFile(path)
}

// openFile opens and checks a file. bbolt asserts by panics and reads through a
// mapping, where a truncated file is a fault: both become ErrDamaged here.
func openFile(path string) (d *DB, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var db *bolt.DB
	defer func() {
		if r := recover(); r != nil {
			// What bbolt still holds of the file cannot be closed safely after
			// a panic inside it. Its lock is on the old inode and harms no new file.
			d, err = nil, fmt.Errorf("%w: %v", ErrDamaged, r)
		}
	}()
	db, err = bolt.Open(path, 0o600, &bolt.Options{
		Timeout:         lockWait,
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: initialSize,
	})
	if err != nil {
		return nil, plain(err)
	}
	if err := check(db); err != nil {
		db.Close() // the damage is what matters
		return nil, err
	}
	d = &DB{path: path}
	d.db.Store(db)
	if err := d.grow(); err != nil {
		db.Close()
		return nil, plain(err)
	}
	return d, nil
}

// plain turns what bbolt and the system say into this package's errors.
func plain(err error) error {
	switch {
	case disk.IsFull(full(err)):
		return full(err)
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("%w: %w", ErrLocked, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	var sys syscall.Errno
	if errors.As(err, &sys) {
		return err
	}
	// bbolt has no value for "file size too small" and the like; an error that
	// is none of the system's is one of the content.
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// check reads every page. The walk comes first, in this goroutine, where a
// fault can be caught; bbolt's own check runs in one of its own.
func check(db *bolt.DB) error {
	return db.View(func(tx *bolt.Tx) error {
		info, err := os.Stat(db.Path())
		if err != nil {
			return err
		}
		if tx.Size() > info.Size() {
			return fmt.Errorf("%w: %d bytes of %d are there", ErrDamaged, info.Size(), tx.Size())
		}
		if err := tx.ForEach(func(_ []byte, b *bolt.Bucket) error { return walk(b) }); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		var first error
		for err := range tx.Check() {
			if first == nil {
				first = fmt.Errorf("%w: %w", ErrDamaged, err)
			}
		}
		return first
	})
}

// walk touches every key and value below b.
func walk(b *bolt.Bucket) error {
	var sum byte
	return b.ForEach(func(k, v []byte) error {
		if v == nil {
			return walk(b.Bucket(k))
		}
		if len(v) > 0 {
			sum ^= v[len(v)-1] // the last byte: an overflow page may lie beyond the end
		}
		return nil
	})
}

// grow commits once so that the file has its initial size before the first turn.
func (d *DB) grow() error {
	info, err := os.Stat(d.path)
	if err != nil {
		return err
	}
	if info.Size() >= initialSize {
		return nil
	}
	return d.db.Load().Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists([]byte(pluginsBucket))
		return err
	})
}

// Update runs fn in a transaction that is durable when Update has returned nil,
// and undone where fn returns an error.
func (d *DB) Update(fn func(*bolt.Tx) error) error {
	err := d.update(fn)
	if err == nil {
		d.commits.Add(1)
		return nil
	}
	return full(err)
}

// full makes a full disk known to disk.IsFull where bbolt has kept only the
// words of the system's error.
func full(err error) error {
	if !disk.IsFull(err) && strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		return fmt.Errorf("%w: %w", syscall.ENOSPC, err)
	}
	return err
}

// View runs fn on the newest state. It never waits for a sync.
func (d *DB) View(fn func(*bolt.Tx) error) error {
	for {
		db := d.db.Load()
		if err := db.View(fn); !errors.Is(err, berrors.ErrDatabaseNotOpen) || db == d.db.Load() {
			return err
		}
	}
}

// Commits is the number of committed Updates since Open; each cost two syncs.
func (d *DB) Commits() int64 { return d.commits.Load() }

// Close waits for running transactions and closes the file. Closing twice is
// harmless; transactions after it fail.
func (d *DB) Close() error {
	d.scrub.Lock()
	defer d.scrub.Unlock()
	return d.db.Load().Close()
}
