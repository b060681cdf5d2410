package search

import "homeagent/memory/token"

const (
	// phrase is what two words of the query gain that stand side by side as in
	// the query; further apart they gain less, beyond phraseReach none.
	phrase, phraseReach = 0.6, 5
	// phraseOf is how many of the best passages are looked at, phraseText how
	// much of each, in bytes.
	phraseOf, phraseText = 48, 4 << 10
)

// phrases is what the best passages gain by words that stand together. Signs of
// scripts without spaces have it already: their terms are pairs.
func (s *search) phrases(best []scored) (map[int64]float64, error) {
	type pair struct {
		a, b string
		gain float64
	}
	df := map[string]int{}
	named := map[string]bool{}
	for _, t := range s.terms {
		df[t.text] = t.df
		named[t.text] = t.weight < form(t.text)
	}
	var pairs []pair
	for i := 0; i+1 < len(s.order); i++ {
		a, b := s.order[i], s.order[i+1]
		if a != b && df[a] > 0 && df[b] > 0 && a[0] < 0x80 && b[0] < 0x80 && !named[a] && !named[b] {
			pairs = append(pairs, pair{a, b, phrase * (s.idf(df[a]) + s.idf(df[b])) / 2})
		}
	}
	gains := map[int64]float64{}
	if len(pairs) == 0 {
		return gains, nil
	}
	best = best[:min(len(best), phraseOf)]
	loaded, err := s.load(best)
	if err != nil {
		return nil, err
	}
	for _, c := range best {
		_, said := loaded[c.id].spoken()
		at := map[string][]int{}
		for i, t := range token.Terms(cut(said, phraseText)) {
			if df[t] > 0 {
				at[t] = append(at[t], i)
			}
		}
		for _, p := range pairs {
			if d := distance(at[p.a], at[p.b]); d <= phraseReach {
				gains[c.id] += p.gain / float64(d)
			}
		}
	}
	return gains, nil
}

// distance is the least distance between ascending places of two lists, more
// than phraseReach if one is empty.
func distance(a, b []int) int {
	least := phraseReach + 1
	for i, j := 0, 0; i < len(a) && j < len(b); {
		d := a[i] - b[j]
		if d < 0 {
			least = min(least, -d)
			i++
			continue
		}
		least = min(least, d)
		j++
	}
	return max(least, 1)
}
