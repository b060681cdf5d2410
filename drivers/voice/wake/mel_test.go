package wake

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// TestFFT compares the transform with its definition.
func TestFFT(t *testing.T) {
	f := newFFT()
	r := rand.New(rand.NewPCG(1, 1))
	var x [fftSize]complex128
	var re, im [fftSize]float64
	for i := range x {
		x[i] = complex(r.NormFloat64(), r.NormFloat64())
		j := f.order[i]
		re[j], im[j] = real(x[i]), imag(x[i])
	}
	f.run(&re, &im)
	for k := range x {
		var want complex128
		for i, v := range x {
			want += v * cmplx.Exp(complex(0, -2*math.Pi*float64(k*i%fftSize)/fftSize))
		}
		if cmplx.Abs(want-complex(re[k], im[k])) > 1e-9 {
			t.Fatalf("bin %d: %v, want %v", k, complex(re[k], im[k]), want)
		}
	}
}
