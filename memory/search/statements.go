package search

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// statements are those of searching, prepared once; lists come as JSON arrays,
// so that one statement serves any number of values.
type statements struct {
	has, totals, last, docs, size, speakers *sql.Stmt
	numbers                                 *sql.Stmt
	terms, newest                           *sql.Stmt
	passages, marks, before, after          *sql.Stmt
}

func (s *statements) all() map[string]**sql.Stmt {
	return map[string]**sql.Stmt{
		"SELECT p.pid FROM json_each(?) j JOIN passages p ON p.pid = j.value":                  &s.has,
		"SELECT p.id FROM json_each(?) j JOIN passages p ON p.pid = j.value":                   &s.numbers,
		"SELECT passages, terms FROM totals":                                                   &s.totals,
		"SELECT max(p.seq) FROM streams s JOIN passages p ON p.stream = s.id WHERE s.name = ?": &s.last,
		"SELECT DISTINCT doc FROM passages WHERE doc <> '' ORDER BY doc":                       &s.docs,
		"SELECT coalesce(max(id), 0) FROM passages":                                            &s.size,
		"SELECT id, name FROM speakers WHERE passages > 0 ORDER BY passages DESC LIMIT ?":      &s.speakers,
		"SELECT t.id, t.term, t.df FROM json_each(?) j JOIN terms t ON t.term = j.value":       &s.terms,
		"SELECT term_id, data FROM postings WHERE term_id = ? ORDER BY first DESC LIMIT ?":     &s.newest,
		"SELECT p.id, p.kind, p.voice, p.flags, p.length, p.time, p.doc <> '' AND p.doc IN (SELECT doc FROM archived)" +
			" FROM json_each(?) j JOIN passages p ON p.id = j.value": &s.marks,
		`SELECT p.id, p.pid, p.doc, s.name, p.seq, p.kind, p.speaker, p.time, p.text, p.clean, p.origin
			FROM json_each(?) j JOIN passages p ON p.id = j.value JOIN streams s ON s.id = p.stream`: &s.passages,
		// Of each passage the nearest on one side as "id flags time id flags time ...".
		`SELECT p.id, p.time, (SELECT group_concat(id || ' ' || flags || ' ' || time, ' ') FROM (SELECT n.id, n.flags, n.time FROM passages n
				WHERE n.stream = p.stream AND n.seq < p.seq ORDER BY n.seq DESC, n.id DESC LIMIT ?2))
			FROM json_each(?1) j JOIN passages p ON p.id = j.value`: &s.before,
		`SELECT p.id, p.time, (SELECT group_concat(id || ' ' || flags || ' ' || time, ' ') FROM (SELECT n.id, n.flags, n.time FROM passages n
				WHERE n.stream = p.stream AND n.seq > p.seq ORDER BY n.seq, n.id LIMIT ?2))
			FROM json_each(?1) j JOIN passages p ON p.id = j.value`: &s.after,
	}
}

func (s *statements) prepare(db *sql.DB) error {
	for text, to := range s.all() {
		var err error
		if *to, err = db.Prepare(text); err != nil {
			return fmt.Errorf("prepare %q: %w", text, err)
		}
	}
	return nil
}

func (s *statements) close() {
	for _, st := range s.all() {
		if *st != nil {
			(*st).Close()
		}
	}
}

// rows runs a prepared query and calls f for each row.
func rows(ctx context.Context, s *sql.Stmt, f func(*sql.Rows) error, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// Each statement is bounded, so it runs to its end; handing it a context
	// that can end would cost a goroutine a statement.
	r, err := s.QueryContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return err
	}
	defer r.Close()
	for r.Next() {
		if err := f(r); err != nil {
			return err
		}
	}
	return r.Err()
}

// list is a JSON array.
func list[T string | int64](values []T) string {
	b, err := json.Marshal(values)
	if err != nil || values == nil {
		return "[]" // not "null", which is a list of one; strings and integers always marshal
	}
	return string(b)
}
