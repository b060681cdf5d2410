package search

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"homeagent/memory/sqlfile"
)

// Search finds the passages that speak of what the query speaks of, best
// first. A query without a term (empty, or grammar alone) finds nothing.
func (x *Index) Search(ctx context.Context, q Query) ([]Hit, error) {
	if q.Limit <= 0 {
		q.Limit = 10
	}
	q.Limit = min(q.Limit, 200)
	if q.Archived == 0 {
		q.Archived = 0.5
	}
	hits, err := x.search(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search passages: %w", x.file.Plain(err))
	}
	return hits, nil
}

func (x *Index) search(ctx context.Context, q Query) ([]Hit, error) {
	s, err := x.newSearch(ctx, q)
	if err != nil || len(s.terms) == 0 {
		return nil, err
	}
	defer s.sums.release()
	if err := s.score(s.terms, false); err != nil {
		return nil, err
	}
	var together map[int64]float64
	if q.Without&Phrases == 0 {
		if together, err = s.phrases(s.sums.best(phraseOf, s.plain)); err != nil {
			return nil, err
		}
	}
	if q.Without&Feedback == 0 {
		if err := s.feedback(together); err != nil {
			return nil, err
		}
	}
	ranked, err := s.rank(together)
	if err != nil {
		return nil, err
	}
	return s.results(ranked)
}

// Get reads passages by their ids; those that are not there are left out.
func (x *Index) Get(ctx context.Context, ids ...string) ([]Passage, error) {
	var numbers []scored
	err := rows(ctx, x.stmt.numbers, func(r *sql.Rows) error {
		var c scored
		err := r.Scan(&c.id)
		numbers = append(numbers, c)
		return err
	}, list(ids))
	if err == nil {
		var found map[int64]Hit
		s := search{ctx: ctx, x: x}
		if found, err = s.load(numbers); err == nil {
			out := make([]Passage, 0, len(found))
			for _, n := range numbers {
				if h, ok := found[n.id]; ok {
					out = append(out, h.Passage)
				}
			}
			return out, nil
		}
	}
	return nil, fmt.Errorf("read passages: %w", x.file.Plain(err))
}

// results reads the best passages and drops those that say the same as a
// better one. Where very many say the same there are fewer than wanted.
func (s *search) results(ranked []scored) ([]Hit, error) {
	var hits []Hit
	var seen []shape
	ranked = ranked[:min(len(ranked), 2*s.query.Limit+16)]
	for chunk := range slices.Chunk(ranked, s.query.Limit+8) {
		loaded, err := s.load(chunk)
		if err != nil {
			return nil, err
		}
		for _, c := range chunk {
			p, ok := loaded[c.id]
			if !ok {
				continue
			}
			if s.query.Without&Duplicates == 0 {
				sh := shapeOf(p.Passage)
				if slices.ContainsFunc(seen, sh.same) {
					continue
				}
				seen = append(seen, sh)
			}
			p.Score = c.score
			if c.id < int64(len(s.sums.of)) {
				p.Cover = min(float64(s.sums.of[c.id].covered)/max(s.whole, 1e-9), 1)
			}
			if hits = append(hits, p); len(hits) == s.query.Limit {
				return hits, nil
			}
		}
	}
	return hits, nil
}

// load reads passages by their numbers.
func (s *search) load(found []scored) (map[int64]Hit, error) {
	ids := make([]int64, len(found))
	for i, c := range found {
		ids[i] = c.id
	}
	out := make(map[int64]Hit, len(ids))
	err := rows(s.ctx, s.x.stmt.passages, func(r *sql.Rows) error {
		var h Hit
		var id, when int64
		var kind int
		var origin string
		err := r.Scan(&id, &h.ID, &h.Doc, &h.Stream, &h.Seq, &kind, &h.Speaker, &when, &h.Text, &h.Clean, &origin)
		if err != nil {
			return err
		}
		h.Kind, h.Time = kindOf(kind), fromMillis(when)
		if h.From, err = origins(origin); err != nil {
			return fmt.Errorf("%w: origins of passage %q: %w", sqlfile.ErrDamaged, h.ID, err)
		}
		out[id] = h
		return nil
	}, list(ids))
	return out, err
}

func damaged(term string, err error) error {
	return fmt.Errorf("%w: postings of %q: %w", sqlfile.ErrDamaged, term, err)
}
