package wake

import "slices"

// scale is the mean and spread of a score on other people's speech.
type norm struct{ mean, spread float32 }

func (n norm) z(v float32) float32 { return (v - n.mean) / n.spread }

// scorer follows one word through a stream of whitened embeddings.
type scorer struct {
	takes [][]*matcher // per take, its copies
	reg   *regression
	near  norm // of minus the distance
	logit norm
	best  []float32 // scratch: the best distance of each take
}

// distance advances all templates and returns the mean of the two nearest takes.
func (s *scorer) distance(x []float32) float32 {
	for i, copies := range s.takes {
		d := float32(never)
		for _, m := range copies {
			d = min(d, m.step(x))
		}
		s.best[i] = d
	}
	if len(s.best) == 1 {
		return s.best[0]
	}
	a, b := float32(never), float32(never)
	for _, d := range s.best {
		if d < a {
			a, b = d, a
		} else {
			b = min(b, d)
		}
	}
	return (a + b) / 2
}

func (s *scorer) reset() {
	for _, copies := range s.takes {
		for _, m := range copies {
			m.reset()
		}
	}
}

// stack keeps the last stackRows embeddings in order.
type stack struct {
	x    []float32
	have int
}

func newStack() *stack { return &stack{x: make([]float32, stackDim)} }

func (s *stack) push(x []float32) {
	copy(s.x, s.x[Dim:])
	copy(s.x[stackDim-Dim:], x)
	s.have = min(s.have+1, stackRows)
}

func (s *stack) full() bool { return s.have == stackRows }

func (s *stack) copyFrom(o *stack) {
	copy(s.x, o.x)
	s.have = o.have
}

// peaks returns the local maxima of a score, at most one in any window of
// apart values, largest first.
func peaks(score []float32, apart int) []float32 {
	var out []float32
	for i, v := range score {
		lo, hi := max(0, i-apart), min(len(score), i+apart+1)
		if v == slices.Max(score[lo:hi]) && (i == 0 || score[i-1] != v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}
