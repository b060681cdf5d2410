package search

import (
	"cmp"
	"container/heap"
	"slices"
	"sync"
)

// scored is a passage's number with its score.
type scored struct {
	id    int64
	score float64
}

// sums adds up scores by a passage's number. It is an array and not a map: a
// query of common terms adds some ten thousand times. Four bytes a passage are
// held while a search runs.
type sums struct {
	score   []float32
	touched []int64
}

// pool keeps arrays between searches until the collector wants the memory.
var pool = sync.Pool{New: func() any { return new(sums) }}

// newSums returns sums, all zero, for numbers up to highest.
func newSums(highest int64) *sums {
	s := pool.Get().(*sums)
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
	pool.Put(s)
}

// add adds w, which is greater than 0, to a passage. One that came after the
// search began is left to the next.
func (s *sums) add(id int64, w float32) {
	if id >= int64(len(s.score)) {
		return
	}
	if s.score[id] == 0 {
		s.touched = append(s.touched, id)
	}
	s.score[id] += w
}

// of is the score of a passage, 0 where it has none.
func (s *sums) of(id int64) float64 {
	if id < 0 || id >= int64(len(s.score)) {
		return 0
	}
	return float64(s.score[id])
}

// best returns the n highest, best first; of equals the newer.
func (s *sums) best(n int) []scored {
	var h worstFirst
	for _, id := range s.touched {
		x := scored{id, float64(s.score[id])}
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
