package audio

import (
	"math"
	"slices"
	"testing"
)

func TestGain(t *testing.T) {
	for _, tc := range []struct {
		name    string
		do      func(g *Gain)
		percent int
		muted   bool
		level   float64
	}{
		{"as made", func(*Gain) {}, 50, false, .125},
		{"full", func(g *Gain) { g.Set(100) }, 100, false, 1},
		{"above", func(g *Gain) { g.Set(140) }, 100, false, 1},
		{"below", func(g *Gain) { g.Set(-3) }, 0, false, 0},
		{"louder", func(g *Gain) { g.Change(10) }, 60, false, .216},
		{"much softer", func(g *Gain) { g.Change(math.MinInt) }, 0, false, 0},
		{"much louder", func(g *Gain) { g.Change(math.MaxInt) }, 100, false, 1},
		{"muted", func(g *Gain) { g.SetMuted(true) }, 50, true, 0},
		{"louder ends muting", func(g *Gain) { g.SetMuted(true); g.Change(10) }, 60, false, .216},
		{"set ends muting", func(g *Gain) { g.SetMuted(true); g.Set(50) }, 50, false, .125},
		{"ducked", func(g *Gain) { g.Duck(.5) }, 50, false, .0625},
		{"the lowest duck counts", func(g *Gain) { g.Duck(.5); g.Duck(.2); g.Duck(.9) }, 50, false, .025},
		{"duck ended", func(g *Gain) { r := g.Duck(.5); g.Duck(.8); r(); r() }, 50, false, .1},
		{"duck out of range", func(g *Gain) { g.Duck(7) }, 50, false, .125},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewGain(50)
			tc.do(g)
			if g.Percent() != tc.percent || g.Muted() != tc.muted || math.Abs(float64(g.Level())-tc.level) > 1e-6 {
				t.Errorf("%d%%, muted %v, level %v", g.Percent(), g.Muted(), g.Level())
			}
		})
	}
}

// A change slides over one block without a jump and never overflows.
func TestGainApply(t *testing.T) {
	g := NewGain(100)
	if s := []int16{-32768, 32767, 5}; g.Apply(s, 1) != 1 || !slices.Equal(s, []int16{-32768, 32767, 5}) {
		t.Errorf("full volume changed the samples to %v", s)
	}
	s := slices.Repeat([]int16{32767}, 100)
	if end := g.Apply(s, 0); end != 1 || s[0] != 328 || s[99] != 32767 || !slices.IsSorted(s) {
		t.Errorf("fading in gave %v, %v … %v", end, s[0], s[99])
	}
	g.SetMuted(true)
	s = slices.Repeat([]int16{-32768}, 100)
	if end := g.Apply(s, 1); end != 0 || s[99] != 0 || !slices.IsSorted(s) {
		t.Errorf("fading out gave %v, %v … %v", end, s[0], s[99])
	}
	g.Set(50)
	if s = []int16{800, -800, 1}; g.Apply(s, g.Level()) != g.Level() || !slices.Equal(s, []int16{100, -100, 0}) {
		t.Errorf("half gave %v", s)
	}
	if g.Apply(nil, 1) != g.Level() {
		t.Error("an empty block does not move the level")
	}
}
