package audio

import (
	"math"
	"sync"
	"sync/atomic"
)

// Gain is the volume that all sinks share. It may be used from any goroutine;
// the sound path only loads one number.
type Gain struct {
	level atomic.Uint32 // amplitude as bits of a float32

	mu      sync.Mutex
	percent int
	muted   bool
	ducks   map[*duck]struct{}
}

// duck is one wish to be softer for a while.
type duck struct{ factor float64 }

// NewGain returns a gain of percent, 0 to 100.
func NewGain(percent int) *Gain {
	g := &Gain{percent: clampPercent(percent), ducks: map[*duck]struct{}{}}
	g.update()
	return g
}

// clampPercent brings a volume into the range.
func clampPercent(p int) int { return min(max(p, 0), 100) }

// Percent is the volume that was set, also while muted.
func (g *Gain) Percent() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.percent
}

// Muted reports whether the gain is silent until it is set again.
func (g *Gain) Muted() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.muted
}

// Set sets the volume, brought into 0 to 100, ends muting, and returns it.
func (g *Gain) Set(percent int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.percent, g.muted = clampPercent(percent), false
	g.update()
	return g.percent
}

// Change adds to the volume under the rules of Set.
func (g *Gain) Change(delta int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.percent, g.muted = clampPercent(g.percent+clampChange(delta)), false
	g.update()
	return g.percent
}

// clampChange keeps a sum of two percents far from overflow.
func clampChange(d int) int { return min(max(d, -100), 100) }

// SetMuted makes the gain silent or gives back its volume.
func (g *Gain) SetMuted(muted bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.muted = muted
	g.update()
}

// Duck lowers the amplitude to factor (0 to 1) of what it would be, for as long
// as something more important is heard, and returns what ends that. Several may
// overlap; the lowest counts.
func (g *Gain) Duck(factor float64) (release func()) {
	d := &duck{min(max(factor, 0), 1)}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ducks[d] = struct{}{}
	g.update()
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.ducks, d)
		g.update()
	}
}

// update computes the amplitude. The caller holds mu.
func (g *Gain) update() {
	a := math.Pow(float64(g.percent)/100, 3)
	low := 1.0
	for d := range g.ducks {
		low = min(low, d.factor)
	}
	if g.muted {
		low = 0
	}
	g.level.Store(math.Float32bits(float32(a * low)))
}

// Level is the amplitude now, 0 to 1.
func (g *Gain) Level() float32 { return math.Float32frombits(g.level.Load()) }

// Apply multiplies samples by the gain, sliding from the amplitude that the
// block before ended with, so that a change does not click. It returns the
// amplitude it ends with. It takes no lock.
func (g *Gain) Apply(samples []int16, from float32) float32 {
	to := g.Level()
	if from == to {
		if to == 1 {
			return to
		}
		for i, s := range samples {
			samples[i] = int16(math.RoundToEven(float64(float32(s) * to)))
		}
		return to
	}
	step := (to - from) / float32(max(len(samples), 1))
	for i, s := range samples {
		samples[i] = int16(math.RoundToEven(float64(float32(s) * (from + step*float32(i+1)))))
	}
	return to
}
