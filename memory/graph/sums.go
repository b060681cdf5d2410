package graph

import (
	"cmp"
	"container/heap"
	"slices"
)

// sums adds up scores by document id. It is an array and not a map: a query of
// common terms adds some ten thousand times, and a map would take most of a
// turn's time for it. Four bytes an id are held while a search runs.
type sums struct {
	score   []float32
	touched []int64
}

// pool keeps one array between searches. It is no sync.Pool: the collector would
// empty it every few searches, and making megabytes anew is what a slow one
// waited for.
var pool = make(chan *sums, 1)

// newSums returns sums, all zero, for ids up to highest.
func newSums(highest int64) *sums {
	var s *sums
	select {
	case s = <-pool:
	default:
		s = new(sums)
	}
	if int64(len(s.score)) <= highest {
		s.score = make([]float32, highest+highest/8+64)
	}
	return s
}

// release gives the array back, cleared.
func (s *sums) release() {
	for _, id := range s.touched {
		s.score[id] = 0
	}
	s.touched = s.touched[:0]
	select {
	case pool <- s:
	default:
	}
}

// add adds w, which is greater than 0, to the ids. One that was committed
// after highest was read is left to the next query.
func (s *sums) add(ids []int64, w float32) {
	for _, id := range ids {
		if id >= int64(len(s.score)) {
			continue
		}
		if s.score[id] == 0 {
			s.touched = append(s.touched, id)
		}
		s.score[id] += w
	}
}

// best returns the n highest, best first; of equals the newer.
func (s *sums) best(n int) []hit {
	var h worstFirst
	// Backwards, for of equals the newer is better: most of what follows is
	// then worse than what is there.
	for _, id := range slices.Backward(s.touched) {
		x := hit{id, float64(s.score[id])}
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

// compare orders hits best first.
func compare(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.id, a.id)) }

// worstFirst is a heap whose root is the worst hit.
type worstFirst []hit

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return compare(h[i], h[j]) > 0 }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(x any)        { *h = append(*h, x.(hit)) }
func (h *worstFirst) Pop() any {
	x := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return x
}
