package graph

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
	"homeagent/memory/token"
)

const (
	// busyWait is how long a statement waits for a lock that another program holds.
	busyWait = 5 * time.Second
	// readers bounds the connections that read; each costs up to cacheKiB.
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

// Options are those of a Graph; zero values are the defaults.
type Options struct {
	// Now is time.Now by default.
	Now func() time.Time

	busy      time.Duration // busyWait; shorter in tests
	checkUpTo int64         // checkWhole; smaller in tests
}

// Graph is an open graph.db.
type Graph struct {
	path string
	now  func() time.Time

	write *sql.DB // one connection
	read  *sql.DB
	stmt  statements

	commits atomic.Int64
}

// Open opens or creates the file. A non-nil Notice comes with a usable, empty
// Graph. Errors wrap ErrReadOnly, ErrBusy, or what the system said; see
// disk.IsFull.
func Open(path string, opts Options) (*Graph, *Notice, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.busy <= 0 {
		opts.busy = busyWait
	}
	if opts.checkUpTo <= 0 {
		opts.checkUpTo = checkWhole
	}
	info, err := os.Stat(path)
	known := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("open %s: %w", path, plain(err))
	}
	var damage error
	switch {
	case known && !info.Mode().IsRegular():
		damage = fmt.Errorf("%w: it is no file", ErrDamaged)
	case known:
		damage = header(path)
	}
	if damage == nil {
		g, err := open(path, opts)
		if err == nil {
			return g, nil, nil
		}
		if !known || !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
			return nil, nil, fmt.Errorf("open %s: %w", path, err)
		}
		damage = err
	}
	aside, err := setAside(path, opts.Now())
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w: %w", path, damage, err)
	}
	g, err := open(path, opts)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	return g, &Notice{Path: path, Aside: aside, Err: damage}, nil
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

// open opens and checks the file, and creates it where there is none.
func open(path string, opts Options) (*Graph, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(path, opts); err != nil {
			return nil, err
		}
	}
	return openFile(path, opts)
}

// create makes a new file that gets its name when it is whole. SQLite creates a
// file long before it writes to it, and a power cut in between would leave an
// empty one, which is taken for damage.
func create(path string, opts Options) error {
	var opened error // worded by openFile already
	err := disk.Create(path, func(tmp string) error {
		var g *Graph
		if g, opened = openFile(tmp, opts); opened != nil {
			return opened
		}
		return g.Close() // moves all of it into the one file
	}, "-wal", "-shm")
	if opened != nil {
		return opened
	}
	return plain(err)
}

// openFile opens, checks and, where it is new, fills the file.
func openFile(path string, opts Options) (g *Graph, err error) {
	// SQLite falls back to reading where it may not write; that must be said.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, plain(err)
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	g = &Graph{path: path, now: opts.Now}
	defer func() {
		if err != nil {
			g.Close()
			g, err = nil, plain(err)
		}
	}()
	if g.write, err = sql.Open("sqlite3", dsn(path, "immediate", opts.busy)); err != nil {
		return g, err
	}
	g.write.SetMaxOpenConns(1)
	if err = g.prepareFile(opts.checkUpTo); err != nil {
		return g, err
	}
	if g.read, err = sql.Open("sqlite3", dsn(path, "deferred", opts.busy)); err != nil {
		return g, err
	}
	g.read.SetMaxOpenConns(readers)
	g.read.SetMaxIdleConns(2)
	err = g.stmt.prepare(g.read)
	return g, err
}

// dsn carries every setting of a connection, so that the pool cannot make one
// without it.
func dsn(path, txlock string, busy time.Duration) string {
	q := url.Values{
		"_busy_timeout": {strconv.Itoa(int(busy / time.Millisecond))},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_foreign_keys": {"on"},
		"_cache_size":   {strconv.Itoa(-cacheKiB)},
		"_txlock":       {txlock},
	}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}
	return u.String()
}

// prepareFile checks what is there and brings it to the present schema.
func (g *Graph) prepareFile(checkUpTo int64) error {
	ctx := context.Background()
	var version int
	if err := g.write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > schemaVersion {
		return fmt.Errorf("%w: schema %d, this program knows %d", ErrNewer, version, schemaVersion)
	}
	if err := g.check(ctx, checkUpTo); err != nil {
		return err
	}
	if version == 0 {
		return g.create(ctx)
	}
	return g.checkIndex(ctx)
}

// create fills a new file. A file with foreign tables is none of ours.
func (g *Graph) create(ctx context.Context) error {
	var tables int
	if err := g.write.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if tables > 0 {
		return fmt.Errorf("%w: a database, but none of this program's", ErrDamaged)
	}
	return g.update(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO meta VALUES('token_version', ?)", strconv.Itoa(token.Version)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "PRAGMA user_version = "+strconv.Itoa(schemaVersion))
		return err
	})
}

// checkIndex rebuilds the index where its terms were cut by other rules.
func (g *Graph) checkIndex(ctx context.Context) error {
	var version string
	err := g.write.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = 'token_version'").Scan(&version)
	if errors.Is(err, sql.ErrNoRows) || err == nil && version != strconv.Itoa(token.Version) {
		return g.update(ctx, func(tx *sql.Tx) error { return rebuild(ctx, tx) })
	}
	if err != nil {
		// quick_check does not know which tables ought to be there.
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// update runs fn in a write transaction.
func (g *Graph) update(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := g.write.BeginTx(ctx, nil)
	if err != nil {
		return g.plain(err)
	}
	if err := fn(tx); err != nil {
		tx.Rollback() // the first error is the one that matters
		return g.plain(err)
	}
	if err := tx.Commit(); err != nil {
		return g.plain(err)
	}
	g.commits.Add(1)
	return nil
}

// Commits is the number of write transactions since Open; each cost a sync.
func (g *Graph) Commits() int64 { return g.commits.Load() }

// Close ends all connections, which moves the write-ahead log into the file.
// Closing twice is harmless.
func (g *Graph) Close() error {
	var errs []error
	g.stmt.close()
	if g.read != nil {
		errs = append(errs, g.read.Close())
	}
	if g.write != nil {
		errs = append(errs, g.write.Close())
	}
	return errors.Join(errs...)
}
