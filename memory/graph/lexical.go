package graph

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"homeagent/memory/token"
)

const (
	// maxQueryText and maxQueryTerms bound what is read of a query: bytes,
	// different terms.
	maxQueryText  = 8 << 10
	maxQueryTerms = 48
	// commonBlocks is how many of the newest blocks of a term are read; a term
	// in more facts than they hold says little about any of them.
	// allBlocks is what all common terms may read together, the rarer ones
	// first, and fewBlocks what each may at least.
	commonBlocks, allBlocks, fewBlocks = 64, 96, 2
	// signWeight lowers single signs of scripts without spaces: the pair they
	// stand in says the same, more surely.
	signWeight = 0.3
)

// term is a term of the query with what the index knows of it.
type term struct {
	text   string
	weight float64 // by form, before rarity
	ids    [2]int64
	df     [2]int
	idf    [2]float64
}

// query is a query cut into terms.
type query struct {
	terms []*term
	total [2]float64 // sum of weight*idf, unknown terms included
	size  [2]int64   // the highest id, which is about how many there are
}

// newQuery looks the terms of text up.
func (g *Graph) newQuery(ctx context.Context, text string) (*query, error) {
	if len(text) > maxQueryText {
		text = text[:maxQueryText]
	}
	q := &query{}
	byText := map[string]*term{}
	words := token.Set(text, maxQueryTerms)
	for _, w := range words {
		t := &term{text: w, weight: 1}
		if r, n := utf8.DecodeRuneInString(w); n == len(w) && r >= 0x0e00 && len(words) > 1 {
			t.weight = signWeight
		}
		q.terms = append(q.terms, t)
		byText[w] = t
	}
	if len(words) == 0 {
		return q, nil
	}
	err := rows(ctx, g.stmt.terms, func(r *sql.Rows) error {
		var id int64
		var text string
		var kind, df int
		if err := r.Scan(&id, &text, &kind, &df); err != nil {
			return err
		}
		if t := byText[text]; t != nil && (kind == kindFact || kind == kindEntity) {
			t.ids[kind], t.df[kind] = id, df
		}
		return nil
	}, list(words))
	if err != nil {
		return nil, err
	}
	err = rows(ctx, g.stmt.size, func(r *sql.Rows) error { return r.Scan(&q.size[kindFact], &q.size[kindEntity]) })
	if err != nil {
		return nil, err
	}
	for _, t := range q.terms {
		for k := range t.idf {
			t.idf[k] = t.weight * math.Log(1+(float64(q.size[k])+1)/(float64(t.df[k])+.5))
			q.total[k] += t.idf[k]
		}
	}
	return q, nil
}

// hit is a document with the share of the query, 0 to 1, that it has.
type hit struct {
	id    int64
	score float64
}

// search returns the documents of a kind that share terms with the query, the
// best limit of them, best first.
func (g *Graph) search(ctx context.Context, q *query, kind, limit int) ([]hit, error) {
	byID := map[int64]*term{}
	var small []int64
	var common []*term
	for _, t := range q.terms {
		switch {
		case t.df[kind] <= 0:
		case t.df[kind] <= commonBlocks*blockSize/2:
			byID[t.ids[kind]] = t
			small = append(small, t.ids[kind])
		default:
			byID[t.ids[kind]] = t
			common = append(common, t)
		}
	}
	sum := newSums(q.size[kind])
	defer sum.release()
	var ids []int64
	collect := func(r *sql.Rows) error {
		var term int64
		var b sql.RawBytes
		err := r.Scan(&term, &b)
		if err == nil {
			ids, err = decodeBlock(ids[:0], b)
		}
		if err != nil {
			return fmt.Errorf("%w: term %d: %w", ErrDamaged, term, err)
		}
		sum.add(ids, float32(byID[term].idf[kind]/q.total[kind]))
		return nil
	}
	if len(small) > 0 {
		if err := rows(ctx, g.stmt.postings, collect, list(small)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(common, func(a, b *term) int { return cmp.Compare(a.df[kind], b.df[kind]) })
	left := allBlocks
	for _, t := range common {
		limit := min(commonBlocks, max(left, fewBlocks))
		if left -= limit; left < 0 {
			left = 0
		}
		if err := rows(ctx, g.stmt.newest, collect, t.ids[kind], limit); err != nil {
			return nil, err
		}
	}
	return sum.best(limit), nil
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
