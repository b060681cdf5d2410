package search

import "homeagent/memory/token"

// sameShare is the Jaccard share of terms from which two passages say the same.
const sameShare = 0.5

// shape is what a passage says, for comparing.
type shape map[string]bool

func shapeOf(p Passage) shape {
	_, said := p.spoken()
	sh := shape{}
	for _, t := range token.Set(cut(said, learnText), 256) {
		sh[t] = true
	}
	return sh
}

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
