package document

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"homeagent/memory/sqlfile"
)

// schemaVersion is the index's user_version.
const schemaVersion = 1

// Times are milliseconds since 1970, 0 for none, but for mtime: nanoseconds of
// the file. touched is the later of the last change and the last access.
const schema = `
CREATE TABLE docs(
	n           INTEGER PRIMARY KEY AUTOINCREMENT,
	id          TEXT NOT NULL UNIQUE,
	shard       INTEGER NOT NULL,
	title       TEXT NOT NULL,
	origin      TEXT NOT NULL,
	entity      INTEGER NOT NULL,
	stream      TEXT NOT NULL,
	day         TEXT NOT NULL,
	created     INTEGER NOT NULL,
	updated     INTEGER NOT NULL,
	size        INTEGER NOT NULL,
	mtime       INTEGER NOT NULL,
	events      INTEGER NOT NULL,
	sum         INTEGER NOT NULL,
	archived    INTEGER NOT NULL,
	access      INTEGER NOT NULL DEFAULT 0,
	last_access INTEGER NOT NULL DEFAULT 0,
	touched     INTEGER NOT NULL
);
CREATE INDEX docs_by_shard ON docs(shard);
CREATE INDEX docs_by_day ON docs(stream, day, n) WHERE origin = 'context' AND archived = 0;
CREATE INDEX docs_cold ON docs(touched) WHERE origin <> 'graph' AND archived = 0;

CREATE TABLE events(id TEXT PRIMARY KEY, doc INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE marked(id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE built(one INTEGER PRIMARY KEY CHECK(one = 1), whole INTEGER NOT NULL);
INSERT INTO built VALUES(1, 0);
`

const columns = `n, id, title, origin, entity, stream, day, created, updated, size, events, access, last_access, archived`

func (s *Store) layout() sqlfile.Layout {
	return sqlfile.Layout{Version: schemaVersion, Cache: true, Now: s.opts.Now,
		Create: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, schema)
			return err
		},
		Check: func(ctx context.Context, f *sqlfile.File) error {
			// The check of the file does not know which tables ought to be there.
			var n int
			err := f.Write.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM built) + (SELECT count(*) FROM marked) * 0
				+ (SELECT count(*) FROM (SELECT doc FROM events LIMIT 1)) * 0 + (SELECT count(*) FROM (SELECT touched FROM docs LIMIT 1)) * 0`).Scan(&n)
			if err != nil || n != 1 {
				return errors.Join(fmt.Errorf("%w: a table is missing", sqlfile.ErrDamaged), err)
			}
			return nil
		}}
}

// durably runs fn in a transaction that waits for the disk, and with it for all
// transactions before it: they stand before it in the same log.
func (s *Store) durably(fn func(tx *sql.Tx) error) (err error) {
	ctx := context.Background()
	conn, err := s.index.Write.Conn(ctx)
	if err != nil {
		return s.index.Plain(err)
	}
	defer func() {
		// A connection that stays at FULL is only slower.
		conn.ExecContext(ctx, "PRAGMA synchronous = NORMAL")
		conn.Close()
		err = s.index.Plain(err)
	}()
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = FULL"); err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		tx.Rollback() // the first error is the one that matters
		return err
	}
	s.syncs.Add(1)
	return tx.Commit()
}

// mark notes, durably, that the files of documents are about to be written.
// The caller holds mu.
func (s *Store) mark(ids ...string) error {
	var fresh []string
	for _, id := range ids {
		if !s.marked[id] {
			fresh = append(fresh, id)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	err := s.durably(func(tx *sql.Tx) error {
		for _, id := range fresh {
			if _, err := tx.Exec("INSERT OR IGNORE INTO marked VALUES(?)", id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("mark documents: %w", err)
	}
	for _, id := range fresh {
		s.marked[id] = true
	}
	return nil
}

// entry is a document beside its file.
type entry struct {
	doc  Document
	info fs.FileInfo
}

// record brings documents whose files are durable into the index. The caller
// holds mu.
func (s *Store) record(entries ...entry) error {
	if len(entries) == 0 {
		return nil
	}
	now := s.opts.Now()
	err := s.index.Update(context.Background(), func(tx *sql.Tx) error {
		for _, e := range entries {
			if err := upsert(tx, e, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index documents: %w", err)
	}
	return nil
}

func upsert(tx *sql.Tx, e entry, now time.Time) error {
	d := &e.doc
	var n int64
	err := tx.QueryRow(`INSERT INTO docs(id, shard, title, origin, entity, stream, day, created, updated,
			size, mtime, events, sum, archived, touched)
		VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT(id) DO UPDATE SET
			title=excluded.title, origin=excluded.origin, entity=excluded.entity, stream=excluded.stream,
			day=excluded.day, created=excluded.created, updated=excluded.updated, size=excluded.size, mtime=excluded.mtime,
			events=excluded.events, sum=excluded.sum, archived=excluded.archived, touched=max(touched, excluded.touched)
		RETURNING n`,
		d.ID, shardOf(d.ID), d.Title, string(d.Origin), d.Entity, d.Stream, d.Day, millis(d.Created), millis(d.Updated),
		e.info.Size(), stamp(e.info.ModTime()), len(d.Events), sum(d), d.Archived, millis(now)).Scan(&n)
	if err != nil {
		return err
	}
	for i := range d.Events {
		// Most of a document that grows are there already; writing them again
		// would write their pages again.
		_, err := tx.Exec(`INSERT INTO events(id, doc) VALUES(?, ?)
			ON CONFLICT(id) DO UPDATE SET doc=excluded.doc WHERE doc <> excluded.doc`, d.Events[i].ID, n)
		if err != nil {
			return err
		}
	}
	return nil
}

// forget takes documents out of the index. The caller holds mu.
func (s *Store) forget(ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	err := s.index.Update(context.Background(), func(tx *sql.Tx) error {
		for _, id := range ids {
			// No index leads from a document to its events: this is seldom, and
			// the index would be as large as the table.
			if _, err := tx.Exec("DELETE FROM events WHERE doc = (SELECT n FROM docs WHERE id = ? AND events > 0)", id); err != nil {
				return err
			}
			if _, err := tx.Exec("DELETE FROM docs WHERE id = ?", id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("take documents out of the index: %w", err)
	}
	s.counting.Lock()
	defer s.counting.Unlock()
	for _, id := range ids {
		delete(s.counts, id) // another of the same id begins with none
	}
	return nil
}

// holders tells which document has each of the events that are known.
func (s *Store) holders(ctx context.Context, events []string) (map[string]string, error) {
	list, err := json.Marshal(events)
	if err != nil {
		return nil, err
	}
	rows, err := s.index.Read.QueryContext(ctx,
		"SELECT e.id, d.id FROM json_each(?) j JOIN events e ON e.id = j.value JOIN docs d ON d.n = e.doc", string(list))
	if err != nil {
		return nil, s.index.Plain(err)
	}
	defer rows.Close()
	held := map[string]string{}
	for rows.Next() {
		var event, doc string
		if err := rows.Scan(&event, &doc); err != nil {
			return nil, s.index.Plain(err)
		}
		held[event] = doc
	}
	return held, s.index.Plain(rows.Err())
}

// metas runs a query for columns.
func (s *Store) metas(ctx context.Context, query string, args ...any) (metas []Meta, last int64, err error) {
	rows, err := s.index.Read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, 0, s.index.Plain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var m Meta
		var created, updated, access int64
		if err := rows.Scan(&last, &m.ID, &m.Title, &m.Origin, &m.Entity, &m.Stream, &m.Day, &created, &updated,
			&m.Size, &m.Events, &m.Access, &access, &m.Archived); err != nil {
			return nil, 0, s.index.Plain(err)
		}
		m.Created, m.Updated, m.LastAccess = moment(created), moment(updated), moment(access)
		metas = append(metas, m)
	}
	return metas, last, s.index.Plain(rows.Err())
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
