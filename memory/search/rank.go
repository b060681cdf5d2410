package search

import (
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"homeagent/memory/token"
)

const (
	// candidates is how many passages are ranked beyond those wanted.
	candidates = 100
	// beside is what a neighbour's score adds.
	beside = 0.4
	// learnFrom passages give learned terms, each worth learnWeight of the query.
	learnFrom, learned, learnWeight = 5, 10, 0.3
)

// rank orders the candidates: their own score and that of their neighbours.
func (s *search) rank() ([]scored, error) {
	found := s.sums.best(s.query.Limit*4 + candidates)
	allowed, err := s.allowed(found)
	if err != nil {
		return nil, err
	}
	final := map[int64]float64{}
	ids := make([]int64, 0, len(found))
	for _, c := range found {
		final[c.id] = c.score
		ids = append(ids, c.id)
	}
	if s.query.Without&Neighbours == 0 {
		near := func(stmt *sql.Stmt) error {
			return rows(s.ctx, stmt, func(r *sql.Rows) error {
				var id int64
				var others sql.NullString
				if err := r.Scan(&id, &others); err != nil {
					return err
				}
				for f := range strings.FieldsSeq(others.String) {
					n, err := strconv.ParseInt(f, 10, 64)
					if err != nil {
						return err
					}
					final[id] += beside * s.sums.of(n)
					if _, is := final[n]; !is {
						final[n] = s.sums.of(n) + beside*s.sums.of(id)
					}
				}
				return nil
			}, list(ids), 1)
		}
		if err := near(s.x.stmt.before); err != nil {
			return nil, err
		}
		if err := near(s.x.stmt.after); err != nil {
			return nil, err
		}
	}
	out := make([]scored, 0, len(final))
	for id, score := range final {
		w, known := allowed[id]
		if !known {
			w = 1
		}
		if w > 0 {
			out = append(out, scored{id, score * w})
		}
	}
	slices.SortFunc(out, compare)
	return out, nil
}

// allowed is the factor of each passage by its kind and document.
func (s *search) allowed(found []scored) (map[int64]float64, error) {
	ids := make([]int64, len(found))
	for i, c := range found {
		ids[i] = c.id
	}
	out := make(map[int64]float64, len(ids))
	err := rows(s.ctx, s.x.stmt.kind, func(r *sql.Rows) error {
		var id int64
		var kind int
		var archived bool
		if err := r.Scan(&id, &kind, &archived); err != nil {
			return err
		}
		w := 1.0
		if archived {
			w = max(s.query.Archived, 0)
		}
		if len(s.query.Kinds) > 0 && !slices.Contains(s.query.Kinds, kindOf(kind)) {
			w = 0
		}
		out[id] = w
		return nil
	}, list(ids))
	return out, err
}

// feedback learns terms from the best passages and adds what they are worth.
func (s *search) feedback() error {
	best := s.sums.best(learnFrom)
	loaded, err := s.load(best)
	if err != nil {
		return err
	}
	asked := map[string]bool{}
	for _, t := range s.terms {
		asked[t.text] = true
	}
	worth := map[string]float64{}
	var all float64
	for _, c := range best {
		all += c.score
	}
	for _, c := range best {
		p, ok := loaded[c.id]
		if !ok || all <= 0 {
			continue
		}
		tf, length := counted(p.Passage)
		for t, n := range tf {
			if !asked[t] {
				worth[t] += c.score / all * float64(n) / float64(length) * form(t)
			}
		}
	}
	words := make([]string, 0, len(worth))
	for w := range worth {
		words = append(words, w)
	}
	terms, err := s.lookUp(words, worth)
	if err != nil {
		return err
	}
	slices.SortFunc(terms, func(a, b *term) int {
		return compare(scored{a.id, a.weight * s.idf(a.df)}, scored{b.id, b.weight * s.idf(b.df)})
	})
	terms = terms[:min(len(terms), learned)]
	var sum, whole float64
	for _, t := range terms {
		sum += t.weight
	}
	for _, t := range s.terms {
		whole += t.weight
	}
	for _, t := range terms {
		t.weight *= learnWeight * whole / sum
	}
	return s.score(terms)
}

// shape is what a passage says, for comparing.
type shape map[string]bool

func shapeOf(p Passage) shape {
	sh := shape{}
	for _, t := range token.Set(p.words(), 256) {
		sh[t] = true
	}
	return sh
}

// sameShare is the Jaccard share of terms from which two passages say the same.
const sameShare = 0.5

// same tells whether two passages say the same.
func (a shape) same(b shape) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	both := 0
	for t := range a {
		if b[t] {
			both++
		}
	}
	return float64(both) >= sameShare*float64(len(a)+len(b)-both)
}
