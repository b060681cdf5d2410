package graph

import (
	"context"
	"database/sql"
)

// session is a write transaction with what belongs to each: its statements,
// prepared once, the changes of the index, and the entities that it changed.
type session struct {
	ctx     context.Context
	tx      *sql.Tx
	now     int64 // milliseconds since 1970
	index   *index
	changed map[int64]bool
	stmts   map[string]*sql.Stmt
}

// change runs fn in a write transaction.
func (g *Graph) change(ctx context.Context, fn func(*session) error) error {
	return g.update(ctx, func(tx *sql.Tx) error {
		s := &session{ctx: ctx, tx: tx, now: g.now().UnixMilli(), index: newIndex(),
			changed: map[int64]bool{}, stmts: map[string]*sql.Stmt{}}
		defer s.close()
		if err := fn(s); err != nil {
			return err
		}
		if err := s.index.flush(ctx, tx); err != nil {
			return err
		}
		return s.mark()
	})
}

func (s *session) close() {
	for _, st := range s.stmts {
		st.Close()
	}
}

func (s *session) stmt(query string) (*sql.Stmt, error) {
	if st := s.stmts[query]; st != nil {
		return st, nil
	}
	st, err := s.tx.PrepareContext(s.ctx, query)
	if err == nil {
		s.stmts[query] = st
	}
	return st, err
}

// exec runs a statement and returns the number of rows it changed.
func (s *session) exec(query string, args ...any) (int, error) {
	st, err := s.stmt(query)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(s.ctx, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// insert runs an INSERT and returns the new row's id.
func (s *session) insert(query string, args ...any) (int64, error) {
	st, err := s.stmt(query)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(s.ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// one reads one row; without one the error is sql.ErrNoRows.
func (s *session) one(query string, args []any, to ...any) error {
	st, err := s.stmt(query)
	if err != nil {
		return err
	}
	return st.QueryRowContext(s.ctx, args...).Scan(to...)
}

// each calls f for each row. f must not use the session: a transaction has one
// connection, which is reading.
func (s *session) each(query string, f func(*sql.Rows) error, args ...any) error {
	st, err := s.stmt(query)
	if err != nil {
		return err
	}
	r, err := st.QueryContext(s.ctx, args...)
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

// touch notes that what is known of entities has changed.
func (s *session) touch(ids ...int64) {
	for _, id := range ids {
		s.changed[id] = true
	}
}

// mark writes the changed entities down under the next number.
func (s *session) mark() error {
	if len(s.changed) == 0 {
		return nil
	}
	var seq int64
	if err := s.one("SELECT coalesce(max(seq), 0) + 1 FROM changes", nil, &seq); err != nil {
		return err
	}
	for id := range s.changed {
		if _, err := s.exec(`INSERT INTO changes(entity_id, seq) VALUES(?, ?)
			ON CONFLICT(entity_id) DO UPDATE SET seq = excluded.seq`, id, seq); err != nil {
			return err
		}
	}
	return nil
}
