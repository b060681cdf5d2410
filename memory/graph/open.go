package graph

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"homeagent/memory/disk"
	"homeagent/memory/sqlfile"
)

// Notice says that a file was set aside and a new one begun.
type Notice = sqlfile.Notice

// Options are those of a Graph; zero values are the defaults.
type Options struct {
	// Now is time.Now by default.
	Now func() time.Time
	// Relative tells whether a name means another one in everybody's mouth, as
	// "我妈" does. The default knows the pronouns and the closest relatives.
	Relative func(name string) bool

	busy      time.Duration // shorter in tests
	checkUpTo int64         // smaller in tests
}

// Graph is an open graph.db.
type Graph struct {
	now      func() time.Time
	relative func(string) bool

	file        *sqlfile.File
	write, read *sql.DB // those of file
	stmt        statements
}

// Open opens or creates the file, and brings one of an older schema to the
// present one. A non-nil Notice comes with a usable Graph, which is empty unless
// the Notice's Path ends in "-wal" or "-shm": then something else lay in the
// place of the log, and what the log held may be missing. Errors wrap
// ErrReadOnly, ErrBusy, or what the system said; see disk.IsFull.
func Open(path string, opts Options) (*Graph, *Notice, error) {
	g := &Graph{now: opts.Now, relative: opts.Relative}
	if g.now == nil {
		g.now = time.Now
	}
	if g.relative == nil {
		g.relative = relative
	}
	place, err := clearLog(path, g.now())
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, sqlfile.Plain(err))
	}
	f, notice, err := sqlfile.Open(path, sqlfile.Layout{
		Version: schemaVersion, Create: create, Check: check, Now: g.now, Busy: opts.busy, CheckUpTo: opts.checkUpTo,
	})
	if err != nil {
		return nil, nil, err
	}
	g.file, g.write, g.read = f, f.Write, f.Read
	if err := g.stmt.prepare(g.read); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open %s: %w", path, g.plain(err)), g.Close())
	}
	if notice == nil {
		notice = place
	}
	return g, notice, nil
}

// clearLog sets aside what is no file in the place of the log or of its index.
func clearLog(path string, now time.Time) (*Notice, error) {
	for _, end := range []string{"-wal", "-shm"} {
		info, err := os.Lstat(path + end)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return nil, err
		}
		aside, err := disk.SetAside(path+end, now)
		if err != nil {
			return nil, err
		}
		return &Notice{Path: path + end, Aside: aside, Err: fmt.Errorf("%w: it is no file", ErrDamaged)}, nil
	}
	return nil, nil
}

// create fills a new file.
func create(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO meta VALUES('token_version', ?)", indexMark())
	return err
}

// check brings an older file to the present schema, and rebuilds the index
// where its terms were cut by other rules.
func check(ctx context.Context, f *sqlfile.File) error {
	var version int
	if err := f.Write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version < schemaVersion {
		if err := f.Update(ctx, func(tx *sql.Tx) error { return migrate(ctx, tx) }); err != nil {
			return err
		}
	}
	var terms string
	err := f.Write.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = 'token_version'").Scan(&terms)
	if errors.Is(err, sql.ErrNoRows) || err == nil && terms != indexMark() {
		return f.Update(ctx, func(tx *sql.Tx) error { return rebuild(ctx, tx) })
	}
	if err != nil {
		// SQLite's own check does not know which tables ought to be there.
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// update runs fn in a write transaction.
func (g *Graph) update(ctx context.Context, fn func(*sql.Tx) error) error {
	return g.file.Update(ctx, fn)
}

// plain turns SQLite's errors into this package's.
func (g *Graph) plain(err error) error { return g.file.Plain(err) }

// Commits is the number of write transactions since Open; each cost a sync.
func (g *Graph) Commits() int64 { return g.file.Commits() }

// Close ends all connections, which moves the write-ahead log into the file.
// Closing twice is harmless.
func (g *Graph) Close() error {
	g.stmt.close()
	return g.file.Close()
}
