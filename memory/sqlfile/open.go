package sqlfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"homeagent/memory/disk"
)

const (
	// busyWait is how long a statement waits for a lock that another program holds.
	busyWait = 5 * time.Second
	// readers bounds the connections that read.
	readers = 4
	// cacheKiB is the page cache of a connection.
	cacheKiB = 2048
)

// Notice says that a file was set aside and a new one begun.
type Notice struct {
	// Path is the file, Aside where its old content lies now.
	Path, Aside string
	// Err wraps ErrDamaged or ErrNewer and says what was wrong.
	Err error
}

// Layout is what an owner knows of its file.
type Layout struct {
	// Version is the schema's number, at least 1, kept as user_version.
	Version int
	// Create makes the tables of a new file.
	Create func(ctx context.Context, tx *sql.Tx) error
	// Check looks at, and may renew, the content of a file that has the
	// Version; an error that wraps ErrDamaged sets it aside. May be nil.
	Check func(ctx context.Context, f *File) error
	// Cache means that all of the content can be made anew: an older Version
	// is replaced without a Notice of damage (the Notice's Err wraps ErrOlder),
	// and a commit does not wait for the disk. A power cut may then lose the
	// last transactions, never the file.
	Cache bool
	// Busy is how long a statement waits for another program, 5 s by default.
	Busy time.Duration
	// CheckUpTo is the size in bytes up to which Open reads the whole file, 4
	// MiB by default.
	CheckUpTo int64
	// Now is time.Now by default.
	Now func() time.Time
}

// ErrOlder is wrapped where a cache of an older schema was replaced.
var ErrOlder = errors.New("written by an older version")

// File is an open file. Close ends it.
type File struct {
	// Write is one connection whose transactions begin immediately, Read a few
	// beside it.
	Write, Read *sql.DB

	path    string
	commits atomic.Int64
}

// Open opens or creates the file. One that may be read and not written is
// replaced by a copy, one that may not even be read is set aside, where the
// folder is ours. A non-nil Notice comes with a usable, empty File. Errors wrap ErrReadOnly, ErrBusy, or what the system said; see
// disk.IsFull.
func Open(path string, l Layout) (*File, *Notice, error) {
	l = l.withDefaults()
	info, err := os.Stat(path)
	known := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("open %s: %w", path, Plain(err))
	}
	var damage error
	switch {
	case known && !info.Mode().IsRegular():
		damage = fmt.Errorf("%w: it is no file", ErrDamaged)
	case known:
		damage = header(path)
	}
	if damage == nil {
		f, err := open(path, l)
		unreadable := false
		if known && errors.Is(err, ErrReadOnly) {
			switch oerr := own(path); {
			case oerr == nil:
				f, err = open(path, l)
			case errors.Is(oerr, errUnreadable):
				unreadable = true
			}
		}
		if err == nil {
			return f, nil, nil
		}
		if !known || !unreadable && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) && !errors.Is(err, ErrOlder) {
			return nil, nil, fmt.Errorf("open %s: %w", path, err)
		}
		damage = err
	}
	var aside string
	if errors.Is(damage, ErrOlder) {
		err = discard(path)
	} else {
		aside, err = setAside(path, l.Now())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w: %w", path, damage, err)
	}
	f, err := open(path, l)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	return f, &Notice{Path: path, Aside: aside, Err: damage}, nil
}

func (l Layout) withDefaults() Layout {
	if l.Busy <= 0 {
		l.Busy = busyWait
	}
	if l.CheckUpTo <= 0 {
		l.CheckUpTo = checkWhole
	}
	if l.Now == nil {
		l.Now = time.Now
	}
	return l
}

// setAside renames the file and its write-ahead log, which must never be
// applied to the new file.
func setAside(path string, now time.Time) (string, error) {
	aside, err := disk.SetAside(path, now)
	if err != nil {
		return "", err
	}
	if err := os.Rename(path+"-wal", aside+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return aside, nil
}

// errUnreadable is wrapped where a file may not even be read.
var errUnreadable = errors.New("may not be read")

// own makes a file that may only be read, and its log, writable by copying
// them. The log goes first: it is the file's whoever owns it.
func own(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	f.Close()
	if _, err := os.Lstat(path + "-wal"); err == nil {
		if err := disk.Own(path + "-wal"); err != nil {
			return err
		}
	}
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return disk.Own(path)
}

// discard removes a cache that a newer program replaces. The log goes first:
// without its file it would be nobody's.
func discard(path string) error {
	for _, end := range []string{"-wal", "-shm", ""} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// open opens and checks the file, and creates it where there is none.
func open(path string, l Layout) (*File, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(path, l); err != nil {
			return nil, err
		}
	}
	return openFile(path, l)
}

// create makes a new file that gets its name when it is whole. SQLite creates a
// file long before it writes to it, and a power cut in between would leave an
// empty one, which is taken for damage.
func create(path string, l Layout) error {
	var opened error // worded by openFile already
	err := disk.Create(path, func(tmp string) error {
		var f *File
		if f, opened = openFile(tmp, l); opened != nil {
			return opened
		}
		return f.Close() // moves all of it into the one file
	}, "-wal", "-shm")
	if opened != nil {
		return opened
	}
	return Plain(err)
}

// openFile opens, checks and, where it is new, fills the file.
func openFile(path string, l Layout) (f *File, err error) {
	// SQLite falls back to reading where it may not write; that must be said.
	raw, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, Plain(err)
	}
	if err := raw.Close(); err != nil {
		return nil, err
	}
	f = &File{path: path}
	defer func() {
		if err != nil {
			f.Close()
			f, err = nil, Plain(err)
		}
	}()
	if f.Write, err = sql.Open("sqlite3", dsn(path, "immediate", l)); err != nil {
		return f, err
	}
	f.Write.SetMaxOpenConns(1)
	if f.Read, err = sql.Open("sqlite3", dsn(path, "deferred", l)); err != nil {
		return f, err
	}
	f.Read.SetMaxOpenConns(readers)
	f.Read.SetMaxIdleConns(2)
	return f, f.prepare(l)
}

// dsn carries every setting of a connection, so that the pool cannot make one
// without it.
func dsn(path, txlock string, l Layout) string {
	synchronous := "FULL"
	if l.Cache {
		synchronous = "NORMAL"
	}
	q := url.Values{
		"_busy_timeout": {strconv.Itoa(int(l.Busy / time.Millisecond))},
		"_journal_mode": {"WAL"},
		"_synchronous":  {synchronous},
		"_foreign_keys": {"on"},
		"_cache_size":   {strconv.Itoa(-cacheKiB)},
		"_txlock":       {txlock},
	}
	if l.Cache {
		// What a cache holds is written again and again; what was replaced must
		// not outlast the forgetting of it.
		q.Set("_secure_delete", "on")
	}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}
	return u.String()
}

// prepare checks what is there and brings it to the present schema.
func (f *File) prepare(l Layout) error {
	ctx := context.Background()
	var version, tables int
	if err := f.Write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch {
	case version > l.Version:
		return fmt.Errorf("%w: schema %d, this program knows %d", ErrNewer, version, l.Version)
	case version > 0 && version < l.Version && l.Cache:
		return fmt.Errorf("%w: schema %d, this program has %d", ErrOlder, version, l.Version)
	}
	if err := f.check(ctx, l.CheckUpTo); err != nil {
		return err
	}
	if version == 0 {
		if err := f.Write.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return err
		}
		if tables > 0 {
			return fmt.Errorf("%w: a database, but none of this program's", ErrDamaged)
		}
		err := f.Update(ctx, func(tx *sql.Tx) error {
			if err := l.Create(ctx, tx); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "PRAGMA user_version = "+strconv.Itoa(l.Version))
			return err
		})
		if err != nil {
			return err
		}
	}
	if l.Check == nil {
		return nil
	}
	return l.Check(ctx, f)
}

// Update runs fn in a write transaction. An error of fn undoes it.
func (f *File) Update(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := f.Write.BeginTx(ctx, nil)
	if err != nil {
		return f.Plain(err)
	}
	if err := fn(tx); err != nil {
		tx.Rollback() // the first error is the one that matters
		return f.Plain(err)
	}
	if err := tx.Commit(); err != nil {
		return f.Plain(err)
	}
	f.commits.Add(1)
	return nil
}

// Commits is the number of write transactions since Open; each cost a sync
// unless the file is a cache.
func (f *File) Commits() int64 { return f.commits.Load() }

// Close ends all connections, which moves the write-ahead log into the file.
// Closing twice is harmless. The owner has closed its statements before.
func (f *File) Close() error {
	var errs []error
	if f.Read != nil {
		errs = append(errs, f.Read.Close())
	}
	if f.Write != nil {
		errs = append(errs, f.Write.Close())
	}
	return errors.Join(errs...)
}
