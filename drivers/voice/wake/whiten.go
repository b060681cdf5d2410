package wake

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
)

// whitener brings embeddings onto axes along which ordinary speech varies
// equally, and to length one, so that the cosine of two of them tells how alike
// they sound rather than how alike all speech is.
type whitener struct {
	mean [Dim]float32
	// w is lower triangular: the inverse of the Cholesky factor of the covariance.
	w [Dim][Dim]float32
}

// apply whitens one raw embedding into to, which must not be raw.
//
//go:norace
func (h *whitener) apply(raw, to []float32) {
	var x [Dim]float32
	for i, v := range raw[:Dim] {
		x[i] = v - h.mean[i]
	}
	var norm float32
	to = to[:Dim]
	for i := range to {
		var sum float32
		for j, w := range h.w[i][:i+1] {
			sum += w * x[j]
		}
		to[i] = sum
		norm += sum * sum
	}
	scale(to, norm)
}

// scale divides a vector by the square root of norm.
//
//go:norace
func scale(v []float32, norm float32) {
	f := float32(1 / math.Sqrt(float64(norm)+1e-12))
	for i := range v {
		v[i] *= f
	}
}

// id names this whitening, so that a word made under another one is noticed.
func (h *whitener) id() string {
	s := sha256.New()
	binary.Write(s, binary.LittleEndian, h.mean[:]) // a hash never fails
	binary.Write(s, binary.LittleEndian, h.w[:])
	return hex.EncodeToString(s.Sum(nil)[:8])
}

// newWhitener estimates a whitening from raw embeddings, one after the other.
// A small share of the mean variance is added along every axis: directions in
// which speech hardly varies would otherwise count as much as the others.
func newWhitener(rows []float32) (*whitener, error) {
	const ridge = 0.02
	n := len(rows) / Dim
	if n < 10*Dim {
		return nil, errors.New("too little speech for a covariance")
	}
	var mean [Dim]float64
	for i, v := range rows {
		mean[i%Dim] += float64(v) / float64(n)
	}
	var cov [Dim][Dim]float64
	var x [Dim]float64
	for r := range n {
		for i := range x {
			x[i] = float64(rows[r*Dim+i]) - mean[i]
		}
		for i, a := range x {
			for j := range i + 1 {
				cov[i][j] += a * x[j]
			}
		}
	}
	trace := 0.0
	for i := range cov {
		for j := range i + 1 {
			cov[i][j] /= float64(n)
		}
		trace += cov[i][i]
	}
	for i := range cov {
		cov[i][i] += ridge * trace / Dim
	}
	inv, ok := invertCholesky(&cov)
	if !ok {
		return nil, errors.New("the covariance of the speech is singular")
	}
	h := &whitener{}
	for i := range inv {
		h.mean[i] = float32(mean[i])
		for j, v := range inv[i] {
			h.w[i][j] = float32(v)
		}
	}
	return h, nil
}

// invertCholesky factors a symmetric matrix, of which the lower half is given,
// into L times its transpose and returns the inverse of L.
func invertCholesky(a *[Dim][Dim]float64) (inv [Dim][Dim]float64, ok bool) {
	var l [Dim][Dim]float64
	for i := range l {
		for j := range i + 1 {
			sum := a[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i != j {
				l[i][j] = sum / l[j][j]
				continue
			}
			if !(sum > 0) {
				return inv, false
			}
			l[i][i] = math.Sqrt(sum)
		}
	}
	for c := range inv { // forward substitution, one column of the identity at a time
		for i := c; i < Dim; i++ {
			sum := 0.0
			if i == c {
				sum = 1
			}
			for k := c; k < i; k++ {
				sum -= l[i][k] * inv[k][c]
			}
			inv[i][c] = sum / l[i][i]
		}
	}
	return inv, true
}
