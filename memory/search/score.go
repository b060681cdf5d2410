package search

import (
	"context"
	"database/sql"
	"math"
	"unicode/utf8"

	"homeagent/memory/token"
)

const (
	// maxQueryText and maxQueryTerms bound what is read of a query: bytes,
	// different terms.
	maxQueryText  = 8 << 10
	maxQueryTerms = 64
	// commonBlocks is how many of the newest blocks of a term are read.
	commonBlocks = 256
	// k1 and b are the constants of BM25: how soon further mentions add
	// nothing, and how much the length of a passage counts.
	k1, b = 1.2, 0.4
	// signWeight lowers single signs of scripts without spaces: the pair they
	// stand in says the same, more surely.
	signWeight = 0.3
)

// term is a term of the query with what the index knows of it.
type term struct {
	text   string
	weight float64 // how much it counts before rarity
	id     int64
	df     int
}

// search is one search at work.
type search struct {
	ctx    context.Context
	x      *Index
	query  Query
	terms  []*term
	count  float64 // passages
	length float64 // their mean length, in terms
	sums   *sums
	list   []posting
}

func (x *Index) newSearch(ctx context.Context, q Query) (*search, error) {
	s := &search{ctx: ctx, x: x, query: q}
	text := q.Text
	if len(text) > maxQueryText {
		text = text[:maxQueryText]
	}
	words := token.Set(text, maxQueryTerms)
	if len(words) == 0 {
		return s, nil
	}
	weights := make(map[string]float64, len(words))
	for _, w := range words {
		weights[w] = form(w)
	}
	var size int64
	if err := rows(ctx, x.stmt.size, func(r *sql.Rows) error { return r.Scan(&size) }); err != nil {
		return nil, err
	}
	err := rows(ctx, x.stmt.totals, func(r *sql.Rows) error { return r.Scan(&s.count, &s.length) })
	if err != nil {
		return nil, err
	}
	s.length /= max(s.count, 1)
	if s.terms, err = s.lookUp(words, weights); err != nil {
		return nil, err
	}
	s.sums = newSums(size)
	return s, nil
}

// form is what a term counts by its form.
func form(word string) float64 {
	if r, n := utf8.DecodeRuneInString(word); n == len(word) && r >= 0x0e00 {
		return signWeight
	}
	return 1
}

// lookUp finds terms in the file, in the order of words; unknown ones are left out.
func (s *search) lookUp(words []string, weights map[string]float64) ([]*term, error) {
	found := map[string]*term{}
	err := rows(s.ctx, s.x.stmt.terms, func(r *sql.Rows) error {
		t := &term{}
		err := r.Scan(&t.id, &t.text, &t.df)
		t.weight = weights[t.text]
		found[t.text] = t
		return err
	}, list(words))
	if err != nil {
		return nil, err
	}
	var terms []*term
	for _, w := range words {
		if t := found[w]; t != nil && t.df > 0 {
			terms = append(terms, t)
		}
	}
	return terms, nil
}

// idf is the rarity of a term.
func (s *search) idf(df int) float64 {
	return math.Log(1 + (s.count-float64(df)+.5)/(float64(df)+.5))
}

// score adds what terms are worth to the sums of the passages that have them.
func (s *search) score(terms []*term) error {
	for _, t := range terms {
		weight := t.weight * max(s.idf(t.df), 0)
		if weight <= 0 {
			continue
		}
		err := rows(s.ctx, s.x.stmt.newest, func(r *sql.Rows) error {
			var id int64
			var data sql.RawBytes
			if err := r.Scan(&id, &data); err != nil {
				return err
			}
			var err error
			if s.list, err = readBlock(s.list[:0], data); err != nil {
				return damaged(t.text, err)
			}
			for _, p := range s.list {
				tf := float64(p.tf)
				norm := k1 * (1 - b + b*float64(p.length)/max(s.length, 1))
				s.sums.add(p.id, float32(weight*tf*(k1+1)/(tf+norm)))
			}
			return nil
		}, t.id, commonBlocks)
		if err != nil {
			return err
		}
	}
	return nil
}
