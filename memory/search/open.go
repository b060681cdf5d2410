package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"homeagent/memory/sqlfile"
	"homeagent/memory/token"
)

// schemaVersion is the file's user_version.
const schemaVersion = 1

const schema = `
CREATE TABLE streams(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE speakers(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, passages INTEGER NOT NULL);
CREATE INDEX speakers_by_passages ON speakers(passages DESC);

CREATE TABLE passages(
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	pid      TEXT NOT NULL UNIQUE,
	doc      TEXT NOT NULL DEFAULT '',
	stream   INTEGER NOT NULL REFERENCES streams(id),
	seq      INTEGER NOT NULL,
	kind     INTEGER NOT NULL,
	voice    INTEGER NOT NULL,
	flags    INTEGER NOT NULL,
	length   INTEGER NOT NULL,
	time     INTEGER NOT NULL,
	speaker  TEXT NOT NULL,
	text     TEXT NOT NULL,
	clean    TEXT NOT NULL,
	origin   TEXT NOT NULL
);
CREATE INDEX passages_by_place ON passages(stream, seq, id, flags, time);
CREATE INDEX passages_by_doc ON passages(doc) WHERE doc <> '';

CREATE TABLE archived(doc TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE terms(
	id   INTEGER PRIMARY KEY,
	term TEXT NOT NULL UNIQUE,
	df   INTEGER NOT NULL
);
CREATE TABLE postings(
	term_id INTEGER NOT NULL,
	first   INTEGER NOT NULL,
	data    BLOB NOT NULL,
	PRIMARY KEY(term_id, first)
) WITHOUT ROWID;

CREATE TABLE totals(one INTEGER PRIMARY KEY CHECK(one = 1), passages INTEGER NOT NULL, terms INTEGER NOT NULL);
INSERT INTO totals VALUES(1, 0, 0);
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`

// ErrInvalid is wrapped where a passage cannot be indexed as it is.
var ErrInvalid = errors.New("not a passage")

// Notice tells that the file was replaced by an empty one: everything must be
// indexed anew.
type Notice = sqlfile.Notice

// Options are those of an Index; zero values are the defaults.
type Options struct {
	// Now is time.Now by default.
	Now func() time.Time

	busy      time.Duration
	checkUpTo int64
}

// Index is an open index.
type Index struct {
	file *sqlfile.File
	stmt statements
}

// Open opens or creates the file. A non-nil Notice comes with an empty Index,
// which the caller fills again. Errors wrap those of package sqlfile.
func Open(path string, opts Options) (*Index, *Notice, error) {
	f, notice, err := sqlfile.Open(path, sqlfile.Layout{
		Version: schemaVersion, Cache: true, Now: opts.Now, Busy: opts.busy, CheckUpTo: opts.checkUpTo,
		Create: create, Check: checkTerms,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("passages: %w", err)
	}
	x := &Index{file: f}
	if err := x.stmt.prepare(f.Read); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("passages: open %s: %w", path, f.Plain(err)), x.Close())
	}
	return x, notice, nil
}

func create(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO meta VALUES('token_version', ?)", strconv.Itoa(token.Version))
	return err
}

// checkTerms compares the rules by which the terms were cut.
func checkTerms(ctx context.Context, f *sqlfile.File) error {
	var version string
	err := f.Write.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = 'token_version'").Scan(&version)
	if err != nil {
		// The check of the file does not know which tables ought to be there.
		return fmt.Errorf("%w: %w", sqlfile.ErrDamaged, err)
	}
	if version != strconv.Itoa(token.Version) {
		return fmt.Errorf("%w: terms of version %s, this program has %d", sqlfile.ErrOlder, version, token.Version)
	}
	return nil
}

// Close ends the index. Closing twice is harmless.
func (x *Index) Close() error {
	x.stmt.close()
	return x.file.Close()
}

// Has tells which of the ids are indexed.
func (x *Index) Has(ctx context.Context, ids ...string) (map[string]bool, error) {
	has := make(map[string]bool, len(ids))
	err := rows(ctx, x.stmt.has, func(r *sql.Rows) error {
		var id string
		err := r.Scan(&id)
		has[id] = true
		return err
	}, list(ids))
	if err != nil {
		return nil, fmt.Errorf("look for passages: %w", x.file.Plain(err))
	}
	return has, nil
}

// Len is the number of passages.
func (x *Index) Len(ctx context.Context) (int, error) {
	var n int
	if err := x.stmt.totals.QueryRowContext(ctx).Scan(&n, new(int64)); err != nil {
		return 0, fmt.Errorf("count passages: %w", x.file.Plain(err))
	}
	return n, nil
}

// Last is the highest Seq of a stream; ok is false where it has no passage.
func (x *Index) Last(ctx context.Context, stream string) (seq int64, ok bool, err error) {
	var n sql.NullInt64
	if err := x.stmt.last.QueryRowContext(ctx, stream).Scan(&n); err != nil {
		return 0, false, fmt.Errorf("last passage of %q: %w", stream, x.file.Plain(err))
	}
	return n.Int64, n.Valid, nil
}

// Docs lists the documents that have passages.
func (x *Index) Docs(ctx context.Context) ([]string, error) {
	var docs []string
	err := rows(ctx, x.stmt.docs, func(r *sql.Rows) error {
		var d string
		err := r.Scan(&d)
		docs = append(docs, d)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list documents with passages: %w", x.file.Plain(err))
	}
	return docs, nil
}
