package search

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"homeagent/memory/token"
)

// Put takes passages in, in one transaction. A passage whose id is there
// already is replaced; one that differs in its place or document only costs
// little. Errors wrap ErrInvalid, or those of package sqlfile; after one
// nothing of the call is indexed.
func (x *Index) Put(ctx context.Context, passages ...Passage) error {
	if len(passages) == 0 {
		return nil
	}
	for _, p := range passages {
		if err := p.check(); err != nil {
			return err
		}
	}
	err := x.change(ctx, func(w *writer) error {
		for _, p := range passages {
			if err := w.put(p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index passages: %w", err)
	}
	return nil
}

// Remove takes passages out; ids that are not there are no error.
func (x *Index) Remove(ctx context.Context, ids ...string) error {
	err := x.change(ctx, func(w *writer) error {
		for _, id := range ids {
			if err := w.removeWhere("pid = ?", id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove passages: %w", err)
	}
	return nil
}

// RemoveDoc takes out all passages of documents.
func (x *Index) RemoveDoc(ctx context.Context, docs ...string) error {
	err := x.change(ctx, func(w *writer) error {
		for _, doc := range docs {
			if doc == "" {
				continue // those of no document
			}
			if err := w.removeWhere("doc = ?", doc); err != nil {
				return err
			}
			if _, err := w.tx.ExecContext(w.ctx, "DELETE FROM archived WHERE doc = ?", doc); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove the passages of documents: %w", err)
	}
	return nil
}

// Archive ranks the passages of documents lower from now on, or with on false
// as others again.
func (x *Index) Archive(ctx context.Context, on bool, docs ...string) error {
	text := "INSERT OR IGNORE INTO archived(doc) SELECT value FROM json_each(?) WHERE value <> ''"
	if !on {
		text = "DELETE FROM archived WHERE doc IN (SELECT value FROM json_each(?))"
	}
	err := x.file.Update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, text, list(docs))
		return err
	})
	if err != nil {
		return fmt.Errorf("archive documents in the index: %w", err)
	}
	return nil
}

// writer gathers the changes of one transaction, so that a term's block is
// read and written once.
type writer struct {
	ctx          context.Context
	tx           *sql.Tx
	add          map[string][]posting
	remove       map[string][]int64
	count, terms int64
}

// change runs fn and writes what it gathered, in one transaction.
func (x *Index) change(ctx context.Context, fn func(*writer) error) error {
	return x.file.Update(ctx, func(tx *sql.Tx) error {
		w := &writer{ctx: ctx, tx: tx, add: map[string][]posting{}, remove: map[string][]int64{}}
		if err := fn(w); err != nil {
			return err
		}
		return w.flush()
	})
}

// counted cuts a passage into its terms with their frequencies. Who says it is
// none of them: nearly every passage of a talk would have the names.
func counted(p Passage) (tf map[string]uint32, length uint32) {
	_, text := p.spoken()
	tf = map[string]uint32{}
	for _, t := range token.Terms(cut(text, MaxText)) {
		tf[t]++
		length++
	}
	return tf, length
}

// cut is the beginning of a text, at most n bytes; half a sign at its end
// separates terms and does no harm.
func cut(text string, n int) string { return text[:min(len(text), n)] }

func (w *writer) put(p Passage) error {
	origin := ""
	if len(p.From) > 0 {
		b, err := json.Marshal(p.From)
		if err != nil {
			return err
		}
		origin = string(b)
	}
	stream, err := w.number("streams", "(name) VALUES(?)", p.Stream)
	if err != nil {
		return err
	}
	var id int64
	var text, clean, speaker string
	err = w.tx.QueryRowContext(w.ctx, "SELECT id, text, clean, speaker FROM passages WHERE pid = ?", p.ID).Scan(&id, &text, &clean, &speaker)
	switch {
	case err == nil && text == p.Text && clean == p.Clean && speaker == p.Speaker:
		_, err = w.tx.ExecContext(w.ctx, "UPDATE passages SET doc = ?, stream = ?, seq = ?, kind = ?, time = ?, origin = ? WHERE id = ?",
			p.Doc, stream, p.Seq, kinds[p.Kind], millis(p.Time), origin, id)
		return err
	case err == nil:
		if err := w.removeWhere("pid = ?", p.ID); err != nil {
			return err
		}
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	name, said := p.spoken()
	voice, err := w.voice(cut(name, maxID))
	if err != nil {
		return err
	}
	tf, length := counted(p)
	res, err := w.tx.ExecContext(w.ctx, `INSERT INTO passages(pid, doc, stream, seq, kind, voice, flags, length, time, speaker, text, clean, origin)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, p.ID, p.Doc, stream, p.Seq, kinds[p.Kind], voice, flagsOf(cut(said, MaxText)), length,
		millis(p.Time), p.Speaker, p.Text, p.Clean, origin)
	if err != nil {
		return err
	}
	if id, err = res.LastInsertId(); err != nil {
		return err
	}
	for t, n := range tf {
		w.add[t] = append(w.add[t], posting{id, n, length})
	}
	w.count++
	w.terms += int64(length)
	return nil
}

// number is the id of a name in a table of names, which gets it if it is new.
func (w *writer) number(table, values, name string) (id int64, err error) {
	err = w.tx.QueryRowContext(w.ctx, "SELECT id FROM "+table+" WHERE name = ?", name).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	res, err := w.tx.ExecContext(w.ctx, "INSERT INTO "+table+values, name)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// voice is the number of a speaker, 0 for none, and counts the passage.
func (w *writer) voice(name string) (int64, error) {
	if name == "" {
		return 0, nil
	}
	id, err := w.number("speakers", "(name, passages) VALUES(?, 0)", name)
	if err == nil {
		_, err = w.tx.ExecContext(w.ctx, "UPDATE speakers SET passages = passages + 1 WHERE id = ?", id)
	}
	return id, err
}

// removeWhere deletes rows and notes their terms.
func (w *writer) removeWhere(where, arg string) error {
	r, err := w.tx.QueryContext(w.ctx, "SELECT id, text, clean, speaker, voice FROM passages WHERE "+where, arg)
	if err != nil {
		return err
	}
	var ids, voices []int64
	for r.Next() {
		var id, voice int64
		var p Passage
		if err := r.Scan(&id, &p.Text, &p.Clean, &p.Speaker, &voice); err != nil {
			r.Close()
			return err
		}
		tf, length := counted(p)
		for t := range tf {
			// It may have come in this very transaction.
			if i := slices.IndexFunc(w.add[t], func(a posting) bool { return a.id == id }); i >= 0 {
				w.add[t] = slices.Delete(w.add[t], i, i+1)
				continue
			}
			w.remove[t] = append(w.remove[t], id)
		}
		w.count--
		w.terms -= int64(length)
		ids, voices = append(ids, id), append(voices, voice)
	}
	if err := errors.Join(r.Err(), r.Close()); err != nil {
		return err
	}
	for _, v := range voices {
		if _, err := w.tx.ExecContext(w.ctx, "UPDATE speakers SET passages = passages - 1 WHERE id = ?", v); err != nil {
			return err
		}
	}
	_, err = w.tx.ExecContext(w.ctx, "DELETE FROM passages WHERE id IN (SELECT value FROM json_each(?))", list(ids))
	return err
}

// flush writes the gathered changes.
func (w *writer) flush() error {
	for _, t := range slices.Sorted(maps.Keys(w.remove)) {
		if err := w.removeTerm(t, w.remove[t]); err != nil {
			return err
		}
	}
	for _, t := range slices.Sorted(maps.Keys(w.add)) {
		if len(w.add[t]) == 0 {
			continue
		}
		if err := w.addTerm(t, w.add[t]); err != nil {
			return err
		}
	}
	_, err := w.tx.ExecContext(w.ctx, "UPDATE totals SET passages = passages + ?, terms = terms + ?", w.count, w.terms)
	return err
}

// addTerm appends postings behind the last block: ids only grow.
func (w *writer) addTerm(term string, add []posting) error {
	slices.SortFunc(add, func(a, b posting) int { return int(a.id - b.id) })
	var id, first int64
	err := w.tx.QueryRowContext(w.ctx, `INSERT INTO terms(term, df) VALUES(?, ?)
		ON CONFLICT(term) DO UPDATE SET df = df + excluded.df RETURNING id`, term, len(add)).Scan(&id)
	if err != nil {
		return err
	}
	var data []byte
	err = w.tx.QueryRowContext(w.ctx, "SELECT first, data FROM postings WHERE term_id = ? ORDER BY first DESC LIMIT 1", id).Scan(&first, &data)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	all, err := readBlock(nil, data)
	if err != nil {
		return damaged(term, err)
	}
	if len(all) >= blockSize {
		all = all[:0]
	}
	all = append(all, add...)
	for chunk := range slices.Chunk(all, blockSize) {
		_, err := w.tx.ExecContext(w.ctx, "INSERT OR REPLACE INTO postings(term_id, first, data) VALUES(?, ?, ?)",
			id, chunk[0].id, appendBlock(nil, chunk))
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) removeTerm(term string, ids []int64) error {
	slices.Sort(ids)
	var id int64
	err := w.tx.QueryRowContext(w.ctx, "SELECT id FROM terms WHERE term = ?", term).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	removed := 0
	for len(ids) > 0 {
		var first int64
		var data []byte
		err := w.tx.QueryRowContext(w.ctx, "SELECT first, data FROM postings WHERE term_id = ? AND first <= ? ORDER BY first DESC LIMIT 1",
			id, ids[0]).Scan(&first, &data)
		if errors.Is(err, sql.ErrNoRows) {
			ids = ids[1:]
			continue
		}
		if err != nil {
			return err
		}
		old, err := readBlock(nil, data)
		if err != nil {
			return damaged(term, err)
		}
		last := old[len(old)-1].id
		left := slices.DeleteFunc(slices.Clone(old), func(p posting) bool {
			_, found := slices.BinarySearch(ids, p.id)
			return found
		})
		removed += len(old) - len(left)
		if _, err := w.tx.ExecContext(w.ctx, "DELETE FROM postings WHERE term_id = ? AND first = ?", id, first); err != nil {
			return err
		}
		if len(left) > 0 {
			_, err := w.tx.ExecContext(w.ctx, "INSERT INTO postings(term_id, first, data) VALUES(?, ?, ?)", id, left[0].id, appendBlock(nil, left))
			if err != nil {
				return err
			}
		}
		n, found := slices.BinarySearch(ids, last)
		if found {
			n++
		}
		ids = ids[max(n, 1):]
	}
	if _, err := w.tx.ExecContext(w.ctx, "UPDATE terms SET df = df - ? WHERE id = ?", removed, id); err != nil {
		return err
	}
	_, err = w.tx.ExecContext(w.ctx, "DELETE FROM terms WHERE id = ? AND df <= 0", id)
	return err
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// origins is the inverse of what put makes of From.
func origins(s string) ([]string, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var from []string
	err := json.Unmarshal([]byte(s), &from)
	return from, err
}
