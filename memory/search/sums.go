package search

import (
	"cmp"
	"container/heap"
	"slices"
)

// scored is a passage's number with its score.
type scored struct {
	id    int64
	score float64
}

// sum is what a search has gathered about a passage.
type sum struct {
	words   float32 // BM25 of the query's terms
	covered float32 // weight of the query's terms that it has
	learned float32 // BM25 of learned terms
}

// sums holds the sum of each passage by its number. It is an array and not a
// map: a query of common terms adds some ten thousand times. Twelve bytes a
// passage are held while a search runs.
type sums struct {
	of      []sum
	touched []int64
}

// pool keeps one array between searches. It is no sync.Pool: the collector would
// empty it every few searches, and making megabytes anew is what a slow one
// waited for.
var pool = make(chan *sums, 1)

// newSums returns sums, all zero, for numbers up to highest.
func newSums(highest int64) *sums {
	var s *sums
	select {
	case s = <-pool:
	default:
		s = new(sums)
	}
	if int64(len(s.of)) <= highest {
		s.of = make([]sum, highest+highest/8+64)
	}
	return s
}

// release gives the array back, cleared.
func (s *sums) release() {
	for _, id := range s.touched {
		s.of[id] = sum{}
	}
	s.touched = s.touched[:0]
	select {
	case pool <- s:
	default:
	}
}

// at is the sum of a passage, to be changed. One that came after the search
// began is left to the next: nil.
func (s *sums) at(id int64) *sum {
	if id >= int64(len(s.of)) {
		return nil
	}
	c := &s.of[id]
	if *c == (sum{}) {
		s.touched = append(s.touched, id)
	}
	return c
}

// best returns the n highest by score, best first; of equals the newer.
func (s *sums) best(n int, score func(sum) float64) []scored {
	var h worstFirst
	for _, id := range s.touched {
		x := scored{id, score(s.of[id])}
		switch {
		case len(h) < n:
			heap.Push(&h, x)
		case n > 0 && compare(x, h[0]) < 0:
			h[0] = x
			heap.Fix(&h, 0)
		}
	}
	slices.SortFunc(h, compare)
	return h
}

// compare orders best first.
func compare(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.id, a.id))
}

// worstFirst is a heap whose root is the worst.
type worstFirst []scored

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return compare(h[i], h[j]) > 0 }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(x any)        { *h = append(*h, x.(scored)) }
func (h *worstFirst) Pop() any {
	x := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return x
}
