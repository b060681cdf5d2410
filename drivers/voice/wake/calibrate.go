package wake

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"homeagent/drivers/voice/speech"
)

const (
	// falsePerHour is the rate of false wakes that the bank is asked for. Words
	// whose takes lie far above it get a higher threshold: a share raiseShare of what
	// their weakest take has over raiseFrom. With recordings of 37 people, that
	// brought false wakes by strangers far below this rate, and one threshold for
	// all that does the same misses several times as many words.
	falsePerHour = 0.6
	raiseFrom    = 2.0
	raiseShare   = 0.4
	// tailPeaks is how many of the highest scores of the bank say how fast false
	// wakes become rarer as the threshold rises.
	tailPeaks = 25
	// apart keeps the peaks of one sound from counting twice: 1.2 s.
	apart = 15
)

// example is one positive for the regression.
type example struct {
	from *embedded
	row  int
}

// tuned is the outcome of learning a word against a bank.
type tuned struct {
	reg         regression
	near, logit norm
	threshold   float32
}

// tune learns the regression and sets norms and threshold. The bank is cut in
// two: each half trains a regression that is tried on the other, so that the
// threshold comes from speech the regression has not seen. The word keeps the
// mean of both regressions.
func tune(ctx context.Context, b *Bank, takes [][][]float32, pos []example) (tuned, error) {
	n := b.Len()
	cut := 0
	for _, g := range b.groups {
		if abs(g.End-n/2) < abs(cut-n/2) {
			cut = g.End
		}
	}
	halves := [2]span{{0, cut}, {cut, n}}
	near := make([]float32, n)
	var regs [2]*regression
	logits := make([]float32, n)
	var wg sync.WaitGroup
	for h, train := range halves {
		wg.Go(func() { // each writes its own half of the results
			try := halves[1-h]
			regs[h] = learn(ctx, b, train, pos, uint64(h))
			s := &scorer{best: make([]float32, len(takes))}
			for _, copies := range takes {
				var m []*matcher
				for _, rows := range copies {
					m = append(m, newMatcher(rows))
				}
				s.takes = append(s.takes, m)
			}
			st := newStack()
			var x [Dim]float32
			for i := try.start; i < try.end; i++ {
				if i%4096 == 0 && ctx.Err() != nil {
					return
				}
				b.row(i, x[:])
				st.push(x[:])
				near[i] = -s.distance(x[:])
				if st.full() {
					logits[i] = regs[h].logit(st.x)
				} else {
					logits[i] = regs[h].bias
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return tuned{}, err
	}
	var t tuned
	t.near = spread(near)
	// Each half's logits have their own scale; the word's regression is the mean
	// of the two after both are brought to one scale.
	t.reg.w = make([]float32, stackDim)
	t.logit = norm{0, 1}
	for h := range regs {
		try := halves[1-h]
		ln := spread(logits[try.start:try.end])
		for i := try.start; i < try.end; i++ {
			logits[i] = ln.z(logits[i])
		}
		for k, w := range regs[h].w {
			t.reg.w[k] += w / ln.spread / 2
		}
		t.reg.bias += (regs[h].bias - ln.mean) / ln.spread / 2
	}
	total := make([]float32, n)
	for i := range total {
		total[i] = t.near.z(near[i]) + logits[i]
	}
	hours := float64(n) * speech.Frame / rate / 3600
	t.threshold = tailThreshold(peaks(total, apart), hours)
	return t, nil
}

// tailThreshold extrapolates the highest scores, largest first: beyond the
// lowest of them they thin out exponentially.
func tailThreshold(p []float32, hours float64) float32 {
	k := min(tailPeaks, len(p)) - 1
	if k < 1 {
		return never
	}
	mean := 0.0
	for _, v := range p[:k] {
		mean += float64(v-p[k]) / float64(k)
	}
	return p[k] + float32(mean*math.Log(float64(k)/(falsePerHour*hours)))
}

// learn trains a regression on one part of the bank, and once more with what
// the first one took for the word.
func learn(ctx context.Context, b *Bank, part span, pos []example, seed uint64) *regression {
	rng := rand.New(rand.NewPCG(seed, 3))
	positives := sampler{n: len(pos), fill: func(i int, x []float32) { pos[i].from.stackAt(pos[i].row, x) }}
	var rows []int
	first := part.start + stackRows - 1
	for range mostNegsPer {
		rows = append(rows, first+rng.IntN(part.end-first))
	}
	fill := func(i int, x []float32) {
		for k := range stackRows {
			b.row(rows[i]-stackRows+1+k, x[k*Dim:][:Dim])
		}
	}
	r := train(positives, sampler{n: len(rows), fill: fill}, rng)
	if ctx.Err() != nil {
		return r
	}
	type scored struct {
		row   int
		logit float32
	}
	var hard []scored
	st := newStack()
	var x [Dim]float32
	for i := part.start; i < part.end; i++ {
		b.row(i, x[:])
		st.push(x[:])
		if i >= first {
			hard = append(hard, scored{i, r.logit(st.x)})
		}
	}
	slices.SortFunc(hard, func(a, c scored) int {
		switch {
		case a.logit > c.logit:
			return -1
		case a.logit < c.logit:
			return 1
		}
		return a.row - c.row
	})
	for _, h := range hard[:min(hardNegs, len(hard))] {
		rows = append(rows, h.row)
	}
	return train(positives, sampler{n: len(rows), fill: fill}, rng)
}

// spread is mean and standard deviation.
func spread(v []float32) norm {
	var sum, squares float64
	for _, x := range v {
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	n := float64(max(1, len(v)))
	mean := sum / n
	return norm{float32(mean), float32(math.Sqrt(max(1e-12, squares/n-mean*mean)))}
}

func abs(v int) int { return max(v, -v) }
