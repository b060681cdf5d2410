package search

import (
	"cmp"
	"database/sql"
	"math"
	"slices"
)

const (
	// commonBlocks is how many of the newest blocks of a term are read: of a
	// term in more passages than they hold the older ones are found by others.
	// queryBlocks and learnedBlocks are what all terms of the query, and all
	// that were learned, may read together, the rare ones first: a term that is
	// everywhere tells little apart. Of each at least fewBlocks are read.
	commonBlocks, queryBlocks, learnedBlocks, fewBlocks = 128, 192, 48, 2
	// k1 and b are the constants of BM25 (Robertson and Zaragoza, 2009): how
	// soon further mentions add nothing, and how much length counts, which is
	// little where passages are messages.
	k1, b = 0.9, 0.3
	// coverage is what a passage with all terms of the query gains beside one
	// that repeats a few of them.
	coverage = 0.5
)

// idf is the rarity of a term.
func (s *search) idf(df int) float64 {
	return max(math.Log(1+(s.count-float64(df)+.5)/(float64(df)+.5)), 0)
}

// score adds what terms are worth to the sums of the passages that have them.
func (s *search) score(terms []*term, learned bool) error {
	left := queryBlocks
	if learned {
		left = learnedBlocks
	}
	terms = slices.SortedStableFunc(slices.Values(terms), func(a, b *term) int { return cmp.Compare(a.df, b.df) })
	for _, t := range terms {
		weight := t.weight * s.idf(t.df)
		if weight <= 0 {
			continue
		}
		limit := min(commonBlocks, max(left, fewBlocks))
		left -= min(limit, t.df/blockSize+1)
		err := rows(s.ctx, s.x.stmt.newest, func(r *sql.Rows) error {
			var id int64
			var data sql.RawBytes
			err := r.Scan(&id, &data)
			if err == nil {
				s.list, err = readBlock(s.list[:0], data)
			}
			if err != nil {
				return damaged(t.text, err)
			}
			for _, p := range s.list {
				c := s.sums.at(p.id)
				if c == nil {
					continue
				}
				tf := float64(p.tf)
				bm := float32(weight * tf * (k1 + 1) / (tf + k1*(1-b+b*float64(p.length)/max(s.length, 1))))
				if learned {
					c.learned += bm
					continue
				}
				c.words += bm
				c.covered += float32(weight)
			}
			return nil
		}, t.id, limit)
		if err != nil {
			return err
		}
	}
	return nil
}

// plain is a passage's own score by its words.
func (s *search) plain(c sum) float64 {
	return float64(c.words)*(1+coverage*float64(c.covered)/max(s.whole, 1e-9)) + float64(c.learned)
}
