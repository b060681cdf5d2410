package wake

// stayCost is what it costs, in cosine distance, to stay on one template row
// for one more embedding: a word may be drawn out, but not without end.
const stayCost = 0.1

// matcher compares a stream with one template by dynamic time warping. The
// path may begin at any time; every embedding moves it by one row of the
// template, by two (counted twice), or lets it stay.
type matcher struct {
	rows []float32 // whitened embeddings of length one
	cost []float32 // cheapest path that ends on each row
}

func newMatcher(rows []float32) *matcher {
	m := &matcher{rows: rows, cost: make([]float32, len(rows)/Dim)}
	m.reset()
	return m
}

// never is a cost that no path reaches.
const never = 1e6

func (m *matcher) reset() {
	for i := range m.cost {
		m.cost[i] = never
	}
}

// step takes the next whitened embedding and returns the distance of the
// template from what ends with it: 0 the same, about 1 unrelated.
//
//go:norace
func (m *matcher) step(x []float32) float32 {
	n := len(m.cost)
	// Backwards, so that the costs of the step before are still in place.
	for j := n - 1; j >= 0; j-- {
		d := 1 - dotProduct(m.rows[j*Dim:][:Dim], x)
		best := m.cost[j] + d + stayCost
		switch {
		case j == 0:
			best = d // a path may begin with any embedding
		case j == 1:
			best = min(best, m.cost[0]+d, 2*d)
		default:
			best = min(best, m.cost[j-1]+d, m.cost[j-2]+2*d)
		}
		m.cost[j] = best
	}
	return m.cost[n-1] / float32(n)
}

//go:norace
func dotProduct(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2 float32
	i := 0
	for ; i+2 < len(a); i += 3 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2
}
