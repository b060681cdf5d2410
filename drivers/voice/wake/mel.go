package wake

import (
	"fmt"
	"math"

	"homeagent/drivers/voice/wake/wakefile"
)

const (
	fftSize  = 512
	bins     = fftSize/2 + 1
	bands    = 32
	hop      = 160 // samples between two mel frames: 10 ms
	stepRows = 8   // mel frames of one step: 80 ms
	// history is how many samples of the step before the first window of a step still needs.
	history = 3 * hop
	// powerFloor and dynamicRange are the front end's own limits: power is
	// clamped from below, and decibels to within 80 of the loudest of a step.
	powerFloor   = 1e-10
	dynamicRange = 80
)

// filter is one mel band: its weights from bin lo on.
type filter struct {
	lo      int
	weights []float64
}

// melTables are the constants of the front end, shared by every stream.
type melTables struct {
	window  [fftSize]float64
	filters [bands]filter
	fft     *fft
}

func newMelTables(f *wakefile.File) (*melTables, error) {
	window, _, err := f.Float32("window", fftSize)
	if err != nil {
		return nil, err
	}
	weights, _, err := f.Float32("filters", bins, bands)
	if err != nil {
		return nil, err
	}
	t := &melTables{fft: newFFT()}
	for i, v := range window {
		t.window[i] = float64(v)
	}
	for b := range t.filters {
		lo, hi := bins, -1
		for k := range bins {
			if weights[k*bands+b] != 0 {
				lo, hi = min(lo, k), k
			}
		}
		if hi < 0 {
			return nil, fmt.Errorf("%w: mel band %d is empty", wakefile.ErrDamaged, b)
		}
		t.filters[b].lo = lo
		for k := lo; k <= hi; k++ {
			t.filters[b].weights = append(t.filters[b].weights, float64(weights[k*bands+b]))
		}
	}
	return t, nil
}

// melStream is the front end of one stream of sound.
type melStream struct {
	t *melTables
	// x are the samples of the step and the history in front of them.
	x            [history + stepRows*hop]float64
	re, im       [fftSize]float64
	powA, powB   [bins]float64
	decibel, out [stepRows * bands]float32
}

func (m *melStream) reset() { m.x = [len(m.x)]float64{} }

// step takes 80 ms and returns eight rows of 32 bands, scaled as the embedding
// wants them (decibels / 10 + 2). The result is valid until the next call.
func (m *melStream) step(samples []int16) []float32 {
	copy(m.x[:history], m.x[len(m.x)-history:])
	for i, s := range samples[:stepRows*hop] {
		m.x[history+i] = float64(s)
	}
	loudest := float32(math.Inf(-1))
	for row := 0; row < stepRows; row += 2 {
		m.pair(row)
		for b := range bands {
			f := &m.t.filters[b]
			var pa, pb float64
			a, bb := m.powA[f.lo:], m.powB[f.lo:]
			for k, w := range f.weights {
				pa += w * a[k]
				pb += w * bb[k]
			}
			da, db := toDecibel(pa), toDecibel(pb)
			m.decibel[row*bands+b], m.decibel[(row+1)*bands+b] = da, db
			loudest = max(loudest, da, db)
		}
	}
	for i, d := range m.decibel {
		m.out[i] = max(d, loudest-dynamicRange)/10 + 2
	}
	return m.out[:]
}

func toDecibel(power float64) float32 {
	return float32(10 * math.Log10(max(power, powerFloor)))
}

// pair computes the power spectra of rows row and row+1 in one complex
// transform: one row as the real, the other as the imaginary part.
//
//go:norace
func (m *melStream) pair(row int) {
	a := m.x[row*hop : row*hop+fftSize]
	b := m.x[(row+1)*hop : (row+1)*hop+fftSize]
	for i, w := range &m.t.window {
		j := m.t.fft.order[i]
		m.re[j], m.im[j] = a[i]*w, b[i]*w
	}
	m.t.fft.run(&m.re, &m.im)
	m.powA[0], m.powB[0] = m.re[0]*m.re[0], m.im[0]*m.im[0]
	for k := 1; k < bins; k++ {
		c := fftSize - k
		ar, ai := (m.re[k]+m.re[c])/2, (m.im[k]-m.im[c])/2
		br, bi := (m.im[k]+m.im[c])/2, (m.re[c]-m.re[k])/2
		m.powA[k], m.powB[k] = ar*ar+ai*ai, br*br+bi*bi
	}
}

// fft is a 512-point transform with its tables: decimation in time, radix 2,
// input in bit-reversed order.
type fft struct {
	order    [fftSize]uint16
	cos, sin [fftSize / 2]float64
}

func newFFT() *fft {
	f := &fft{}
	for i := range f.order {
		r := 0
		for bit := 1; bit < fftSize; bit <<= 1 {
			r <<= 1
			if i&bit != 0 {
				r |= 1
			}
		}
		f.order[i] = uint16(r)
	}
	for i := range f.cos {
		f.sin[i], f.cos[i] = math.Sincos(-2 * math.Pi * float64(i) / fftSize)
	}
	return f
}

//go:norace
func (f *fft) run(re, im *[fftSize]float64) {
	// The first two stages need no multiplication.
	for k := 0; k+3 < fftSize; k += 4 {
		r0, r1 := re[k]+re[k+1], re[k]-re[k+1]
		i0, i1 := im[k]+im[k+1], im[k]-im[k+1]
		r2, r3 := re[k+2]+re[k+3], re[k+2]-re[k+3]
		i2, i3 := im[k+2]+im[k+3], im[k+2]-im[k+3]
		re[k], im[k], re[k+2], im[k+2] = r0+r2, i0+i2, r0-r2, i0-i2
		re[k+1], im[k+1], re[k+3], im[k+3] = r1+i3, i1-r3, r1-i3, i1+r3
	}
	for size := 8; size <= fftSize; size <<= 1 {
		half, stride := size/2, fftSize/size
		for k := 0; k < fftSize; k += size {
			ur, ui := re[k:k+half], im[k:k+half]
			vr, vi := re[k+half:k+size], im[k+half:k+size]
			ui, vr, vi = ui[:len(ur)], vr[:len(ur)], vi[:len(ur)]
			t := 0
			for j := range ur {
				c, s := f.cos[t&(fftSize/2-1)], f.sin[t&(fftSize/2-1)]
				t += stride
				xr, xi := vr[j]*c-vi[j]*s, vr[j]*s+vi[j]*c
				vr[j], vi[j] = ur[j]-xr, ui[j]-xi
				ur[j] += xr
				ui[j] += xi
			}
		}
	}
}
