package graph

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"homeagent/memory/token"
)

// Kinds of documents in the index.
const (
	kindFact   = 0 // ids of relations, status active or past
	kindEntity = 1 // ids of entities, by name and alias
)

type posting struct {
	term string
	kind int
}

// index gathers the changes of one transaction, so that a term that occurs in
// many facts is read and written once.
type index struct {
	add, remove map[posting][]int64
}

func newIndex() *index {
	return &index{add: map[posting][]int64{}, remove: map[posting][]int64{}}
}

// put notes that a document has terms.
func (x *index) put(kind int, id int64, terms []string) {
	for _, t := range terms {
		p := posting{t, kind}
		x.add[p] = append(x.add[p], id)
	}
}

// take notes that a document no longer has terms.
func (x *index) take(kind int, id int64, terms []string) {
	for _, t := range terms {
		p := posting{t, kind}
		x.remove[p] = append(x.remove[p], id)
	}
}

// flush writes the gathered changes.
func (x *index) flush(ctx context.Context, tx *sql.Tx) error {
	order := func(m map[posting][]int64) []posting {
		return slices.SortedFunc(maps.Keys(m), func(a, b posting) int {
			return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.kind, b.kind))
		})
	}
	w := indexWriter{ctx: ctx, tx: tx}
	defer w.close()
	if err := w.prepare(); err != nil {
		return err
	}
	for _, p := range order(x.remove) {
		if err := w.remove(p, x.remove[p]); err != nil {
			return err
		}
	}
	for _, p := range order(x.add) {
		if err := w.add(p, x.add[p]); err != nil {
			return err
		}
	}
	return nil
}

// indexWriter holds the statements of one flush.
type indexWriter struct {
	ctx context.Context
	tx  *sql.Tx

	term, newTerm, df, dropTerm       *sql.Stmt
	blockBefore, put, deleteB, blocks *sql.Stmt
}

func (w *indexWriter) prepare() error {
	for _, s := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&w.term, "SELECT id FROM terms WHERE term = ? AND kind = ?"},
		{&w.newTerm, "INSERT INTO terms(term, kind, df) VALUES(?, ?, 0)"},
		{&w.df, "UPDATE terms SET df = df + ? WHERE id = ?"},
		{&w.dropTerm, "DELETE FROM terms WHERE id = ? AND df <= 0"},
		{&w.blockBefore, "SELECT first, ids FROM postings WHERE term_id = ? AND first <= ? ORDER BY first DESC LIMIT 1"},
		{&w.put, "INSERT OR REPLACE INTO postings(term_id, first, ids) VALUES(?, ?, ?)"},
		{&w.deleteB, "DELETE FROM postings WHERE term_id = ? AND first = ?"},
		{&w.blocks, "SELECT first, ids FROM postings WHERE term_id = ? ORDER BY first LIMIT 1"},
	} {
		var err error
		if *s.to, err = w.tx.PrepareContext(w.ctx, s.sql); err != nil {
			return err
		}
	}
	return nil
}

func (w *indexWriter) close() {
	for _, s := range []*sql.Stmt{w.term, w.newTerm, w.df, w.dropTerm, w.blockBefore, w.put, w.deleteB, w.blocks} {
		if s != nil {
			s.Close()
		}
	}
}

// block finds the block that id belongs into: the last that begins at or
// before it, else the first. Without one the list is nil.
func (w *indexWriter) block(term, id int64) (first int64, ids []int64, err error) {
	var b []byte
	err = w.blockBefore.QueryRowContext(w.ctx, term, id).Scan(&first, &b)
	if errors.Is(err, sql.ErrNoRows) {
		err = w.blocks.QueryRowContext(w.ctx, term).Scan(&first, &b)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	if ids, err = decodeBlock(nil, b); err != nil {
		return 0, nil, fmt.Errorf("%w: term %d: %w", ErrDamaged, term, err)
	}
	return first, ids, nil
}

// store writes ids as blocks in place of the one that began at first.
func (w *indexWriter) store(term, first int64, ids []int64) error {
	if first != 0 && (len(ids) == 0 || ids[0] != first) {
		if _, err := w.deleteB.ExecContext(w.ctx, term, first); err != nil {
			return err
		}
	}
	for chunk := range slices.Chunk(ids, blockSize) {
		if _, err := w.put.ExecContext(w.ctx, term, chunk[0], encodeBlock(chunk)); err != nil {
			return err
		}
	}
	return nil
}

func (w *indexWriter) add(p posting, ids []int64) error {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var term int64
	err := w.term.QueryRowContext(w.ctx, p.term, p.kind).Scan(&term)
	if errors.Is(err, sql.ErrNoRows) {
		var res sql.Result
		if res, err = w.newTerm.ExecContext(w.ctx, p.term, p.kind); err == nil {
			term, err = res.LastInsertId()
		}
	}
	if err != nil {
		return err
	}
	added := 0
	for len(ids) > 0 {
		first, old, err := w.block(term, ids[0])
		if err != nil {
			return err
		}
		// All that comes before the next block goes into this one; the newest
		// ids, which are nearly all there ever is to add, go behind the last.
		n, err := w.until(term, first, ids)
		if err != nil {
			return err
		}
		all := merge(old, ids[:n])
		added += len(all) - len(old)
		if err := w.store(term, first, all); err != nil {
			return err
		}
		ids = ids[n:]
	}
	_, err = w.df.ExecContext(w.ctx, added, term)
	return err
}

// until counts the ids that lie before the block behind the one at first.
func (w *indexWriter) until(term, first int64, ids []int64) (int, error) {
	last := ids[len(ids)-1]
	for {
		var b []byte
		var next int64
		err := w.blockBefore.QueryRowContext(w.ctx, term, last).Scan(&next, &b)
		if errors.Is(err, sql.ErrNoRows) || err == nil && next <= first {
			n, found := slices.BinarySearch(ids, last)
			if found {
				n++
			}
			return max(n, 1), nil
		}
		if err != nil {
			return 0, err
		}
		last = next - 1
		if last < ids[0] {
			return 1, nil
		}
	}
}

func (w *indexWriter) remove(p posting, ids []int64) error {
	var term int64
	err := w.term.QueryRowContext(w.ctx, p.term, p.kind).Scan(&term)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	removed := 0
	for _, id := range ids {
		first, old, err := w.block(term, id)
		if err != nil {
			return err
		}
		at, found := slices.BinarySearch(old, id)
		if !found {
			continue
		}
		removed++
		if err := w.store(term, first, slices.Delete(old, at, at+1)); err != nil {
			return err
		}
	}
	if _, err := w.df.ExecContext(w.ctx, -removed, term); err != nil {
		return err
	}
	_, err = w.dropTerm.ExecContext(w.ctx, term)
	return err
}

// indexVersion counts changes of what is put into the index, beside those of
// package token.
const indexVersion = 2

// indexMark is what the file carries of the rules that its index was made by.
func indexMark() string { return fmt.Sprintf("%d.%d", token.Version, indexVersion) }

// rebuildStep is how many documents are held in memory at a time.
const rebuildStep = 10_000

// rebuild makes the index anew from the facts and names.
func rebuild(ctx context.Context, tx *sql.Tx) error {
	for _, q := range []string{"DELETE FROM postings", "DELETE FROM terms"} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	facts := func(x *index, r *sql.Rows) (id int64, err error) {
		var s, rel, o string
		if err = r.Scan(&id, &s, &rel, &o); err == nil {
			x.put(kindFact, id, factTerms(s, rel, o))
		}
		return id, err
	}
	names := func(x *index, r *sql.Rows) (id int64, err error) {
		var alias string
		if err = r.Scan(&id, &alias); err == nil {
			x.put(kindEntity, id, nameTerms(alias))
		}
		return id, err
	}
	err := rebuildFrom(ctx, tx, facts, `SELECT r.id, s.name, r.relation_type, t.name FROM relations r
		JOIN entities s ON s.id = r.source_id JOIN entities t ON t.id = r.target_id
		WHERE r.status <> 'forgotten' AND r.id > ? ORDER BY r.id LIMIT ?`)
	if err == nil {
		err = rebuildFrom(ctx, tx, names, `SELECT a.entity_id, a.alias FROM aliases a
			WHERE a.entity_id IN (SELECT id FROM entities WHERE id > ? ORDER BY id LIMIT ?) ORDER BY a.entity_id`)
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO meta VALUES('token_version', ?)", indexMark())
	}
	return err
}

// rebuildFrom indexes what a query gives, step by step.
func rebuildFrom(ctx context.Context, tx *sql.Tx, put func(*index, *sql.Rows) (int64, error), query string) error {
	for last := int64(0); ; {
		x := newIndex()
		next := last
		err := each(ctx, tx, query, func(r *sql.Rows) (err error) {
			next, err = put(x, r)
			return err
		}, last, rebuildStep)
		if err != nil || next == last {
			return err
		}
		if err := x.flush(ctx, tx); err != nil {
			return err
		}
		last = next
	}
}

// querier is a transaction or a pool.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// each calls f for each row of a query.
func each(ctx context.Context, q querier, query string, f func(*sql.Rows) error, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
