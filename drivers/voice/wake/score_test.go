package wake

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func rowsOf(seq []float32, order ...int) []float32 {
	var out []float32
	for _, i := range order {
		out = append(out, seq[i*Dim:(i+1)*Dim]...)
	}
	return out
}

func TestMatcher(t *testing.T) {
	word, other := unit(1, 6), unit(2, 12)
	tests := []struct {
		name     string
		stream   []float32
		min, max float32 // of the smallest distance in the stream
	}{
		{"the word itself", word, 0, 0.001},
		{"after other sound", append(append([]float32{}, other...), word...), 0, 0.001},
		{"one row drawn out", rowsOf(word, 0, 1, 2, 2, 3, 4, 5), 0.01, 0.03},
		{"one row left out", rowsOf(word, 0, 1, 3, 4, 5), 0, 0.001},
		{"its first half only", rowsOf(word, 0, 1, 2), 0.3, 1.2},
		{"other sound", other, 0.6, 1.4},
		{"the word backwards", rowsOf(word, 5, 4, 3, 2, 1, 0), 0.4, 1.2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, best := newMatcher(word), float32(never)
			for s := tt.stream; len(s) > 0; s = s[Dim:] {
				best = min(best, m.step(s[:Dim]))
			}
			if best < tt.min-1e-5 || best > tt.max {
				t.Errorf("distance %.4f, want %g to %g", best, tt.min, tt.max)
			}
		})
	}
}

func TestDistanceIsTheMeanOfTheTwoNearestTakes(t *testing.T) {
	x := unit(7, 1)
	opposite := make([]float32, Dim)
	for k, v := range x {
		opposite[k] = -v
	}
	s := &scorer{best: make([]float32, 3), takes: [][]*matcher{
		{newMatcher(opposite)},                // distance 2
		{newMatcher(opposite), newMatcher(x)}, // a copy at distance 0
		{newMatcher(x)},
	}}
	if d := s.distance(x); math.Abs(float64(d)) > 1e-5 {
		t.Errorf("two takes that fit give %v", d)
	}
	s.takes[2] = s.takes[0][:1]
	if d := s.distance(x); math.Abs(float64(d)-1) > 1e-5 {
		t.Errorf("one take that fits and one opposite give %v, want 1", d)
	}
}

func TestRegressionSeparates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := unit(3, stackRows)
	fill := func(seed int, share float32, x []float32) {
		noise := unit(uint64(seed)+1000, stackRows)
		for k := range x {
			x[k] = share*word[k] + (1-share)*noise[k]
		}
	}
	r := train(
		sampler{n: 40, fill: func(i int, x []float32) { fill(i, 0.6, x) }},
		sampler{n: 400, fill: func(i int, x []float32) { fill(i+100, 0, x) }}, rng)
	x := make([]float32, stackDim)
	for i := range 50 {
		fill(i+5000, 0.6, x)
		good := r.logit(x)
		fill(i+7000, 0, x)
		if bad := r.logit(x); good <= 0 || bad >= 0 {
			t.Fatalf("unseen case %d: the word %.2f, other sound %.2f", i, good, bad)
		}
	}
}

func TestPeaks(t *testing.T) {
	for _, tt := range []struct {
		name  string
		score []float32
		want  []float32
	}{
		{"nothing", nil, nil},
		{"two peaks far apart", []float32{0, 5, 1, 0, 0, 0, 3, 0}, []float32{5, 3}},
		{"a shoulder is no peak of its own", []float32{0, 5, 4, 0, 0, 0, 0, 1}, []float32{5, 1}},
		{"a plateau counts once", []float32{0, 2, 2, 2, 0}, []float32{2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, peaks(tt.score, 2)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestTailThreshold draws peaks that thin out exponentially, at 100 an hour
// above 0 and with a scale of 0.7, and looks for where falsePerHour of them are left.
func TestTailThreshold(t *testing.T) {
	want := 0.7 * math.Log(100/falsePerHour)
	rng := rand.New(rand.NewPCG(9, 9))
	sum, n := 0.0, 40
	for range n {
		score := make([]float32, 20000)
		for i := 0; i < 200; i++ { // two hours
			score[i*100] = float32(0.7 * rng.ExpFloat64())
		}
		sum += float64(tailThreshold(peaks(score, 20), 2))
	}
	if got := sum / float64(n); math.Abs(got-want) > 0.35 {
		t.Errorf("mean threshold %.2f, want %.2f", got, want)
	}
	if tailThreshold(nil, 1) != never {
		t.Error("a bank without peaks gave a threshold")
	}
}
