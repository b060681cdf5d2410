package search

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"homeagent/memory/token"
)

const (
	// learnFrom of the best passages give at most learned new terms, in all
	// worth learnWeight of the query, after the relevance model of Lavrenko
	// and Croft (2001).
	learnFrom, learned, learnWeight = 5, 20, 0.3
	// learnGate says how quickly learning ends where the best passage has what
	// was asked for: there is nothing to learn, and much to spoil.
	learnGate = 3
	// learnText bounds what is read of a passage, in bytes.
	learnText = 4 << 10
)

// feedback learns terms from the best passages and adds what they are worth.
// phrases are scores on top of those of the words.
func (s *search) feedback(phrases map[int64]float64) error {
	best := s.sums.best(2*learnFrom, s.plain)
	for i := range best {
		best[i].score += phrases[best[i].id]
	}
	slices.SortFunc(best, compare)
	best = best[:min(len(best), learnFrom)]
	if len(best) == 0 {
		return nil
	}
	left := 1 - min(float64(s.sums.of[best[0].id].covered)/max(s.whole, 1e-9), 1)
	weight := learnWeight * math.Pow(left, learnGate)
	if weight < 0.001 {
		return nil
	}
	loaded, err := s.load(best)
	if err != nil {
		return err
	}
	asked := map[string]bool{}
	for _, w := range s.order {
		asked[w] = true
	}
	var all float64
	for _, c := range best {
		all += c.score
	}
	worth := map[string]float64{}
	for _, c := range best {
		_, said := loaded[c.id].spoken()
		terms := token.Terms(cut(said, learnText))
		for _, t := range terms {
			if !asked[t] {
				worth[t] += c.score / all / float64(len(terms)) * form(t)
			}
		}
	}
	terms, err := s.lookUp(slices.Sorted(maps.Keys(worth)), worth)
	if err != nil {
		return err
	}
	slices.SortFunc(terms, func(a, b *term) int {
		return cmp.Or(cmp.Compare(b.weight*s.idf(b.df), a.weight*s.idf(a.df)), cmp.Compare(a.text, b.text))
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
		t.weight *= weight * whole / sum
	}
	return s.score(terms, true)
}
