package wake

import (
	"math"
	"math/rand/v2"
)

const (
	// stackRows is how many embeddings the regression sees at once: 640 ms that
	// end now, on top of the 775 ms that each of them spans.
	stackRows = 8
	stackDim  = stackRows * Dim
)

// regression is a logistic regression on stacked embeddings. Its output is the
// logit, not a probability: far out, where thresholds lie, logits still tell
// cases apart.
type regression struct {
	w    []float32 // stackDim weights, oldest embedding first
	bias float32
}

func (r *regression) logit(stack []float32) float32 { return dotProduct(r.w, stack) + r.bias }

// sample fills a stack of embeddings. There are n of them.
type sampler struct {
	n    int
	fill func(i int, stack []float32)
}

// trainOptions are the settings of the descent.
const (
	epochs      = 12
	learnRate   = 0.5
	decay       = 2e-3 // of the squared weights
	mostNegsPer = 6000
	hardNegs    = 1500
)

// train fits positives against negatives by stochastic gradient descent with
// averaged weights; one round in three sees a positive, whatever their number.
//
//go:norace
func train(pos, neg sampler, rng *rand.Rand) *regression {
	w := make([]float32, stackDim)
	sum := make([]float32, stackDim)
	var bias, biasSum float64
	x := make([]float32, stackDim)
	steps := epochs * neg.n
	for s := range steps {
		positive := s%3 == 0
		y := float32(0)
		if positive {
			y = 1
			pos.fill(rng.IntN(pos.n), x)
		} else {
			neg.fill(rng.IntN(neg.n), x)
		}
		z := float64(dotProduct(w, x)) + bias
		p := float32(1 / (1 + math.Exp(-z)))
		rate := learnRate / (1 + 4*float32(s)/float32(steps))
		g, keep := rate*(y-p), 1-rate*decay
		for k, v := range x {
			w[k] = w[k]*keep + g*v
		}
		bias += float64(g)
		if s >= steps/2 {
			for k, v := range w {
				sum[k] += v
			}
			biasSum += bias
		}
	}
	n := float32(steps - steps/2)
	for k := range sum {
		sum[k] /= n
	}
	return &regression{w: sum, bias: float32(biasSum) / n}
}
