package trial

import "math"

// ShareBound is the upper end of the one-sided 95 % interval of a share:
// the largest p under which at most wrong of n would still happen once in twenty
// (Clopper and Pearson 1934).
func ShareBound(wrong, n int) float64 {
	if n == 0 || wrong >= n {
		return 1
	}
	return bisect(0, 1, func(p float64) float64 {
		sum := 0.0
		for k := range wrong + 1 {
			sum += math.Exp(logChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
		}
		return sum
	})
}

// RateBound is the upper end of the one-sided 95 % interval of the mean of a
// Poisson count.
func RateBound(count int) float64 {
	return bisect(0, 10*float64(count)+20, func(mean float64) float64 {
		sum := 0.0
		for k := range count + 1 {
			lg, _ := math.Lgamma(float64(k) + 1)
			sum += math.Exp(float64(k)*math.Log(mean) - mean - lg)
		}
		return sum
	})
}

// bisect finds where a falling probability reaches one in twenty.
func bisect(lo, hi float64, f func(float64) float64) float64 {
	for range 60 {
		if mid := (lo + hi) / 2; f(mid) > 0.05 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(float64(k) + 1)
	c, _ := math.Lgamma(float64(n-k) + 1)
	return a - b - c
}
