package trial

import (
	"math"
	"os/exec"
	"testing"

	"homeagent/drivers/voice/wake/waketest"
)

// TestPeople is a small sample of what the command measures: generous bounds,
// so that it fails when the wake word is broken and not when it is a little worse.
func TestPeople(t *testing.T) {
	dir := waketest.Audio(t, "wakeword")
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed")
	}
	m, b := waketest.Model(t), waketest.Bank(t)
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), m, b, c, Options{Takes: 3, Every: 14, MostClips: 4, MostStrangers: 90, Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d words, missed %v, %d false in %.2f hours", r.Words, r.Miss, r.False, r.Hours)
	if r.Words < 3 {
		t.Errorf("%d words were learned", r.Words)
	}
	for how, limit := range map[Condition]float64{Clean: 0.1, Running: 0.15, Noise10: 0.3} {
		if n := r.Miss[how]; n.N < 10 || float64(n.Wrong) > limit*float64(n.N) {
			t.Errorf("%s: missed %d of %d, more than %g", how, n.Wrong, n.N, limit)
		}
	}
	if r.False > 1 {
		t.Errorf("%d false wakes in %.2f hours", r.False, r.Hours)
	}
}

func TestBounds(t *testing.T) {
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"none of 100 wrong: the rule of three", ShareBound(0, 100), 1 - math.Pow(0.05, 0.01)},
		{"5 of 50", ShareBound(5, 50), 0.1991},
		{"all wrong", ShareBound(3, 3), 1},
		{"no event", RateBound(0), 2.9957},
		{"10 events", RateBound(10), 16.962},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if math.Abs(tt.got-tt.want) > 1e-3 {
				t.Errorf("%v, want %v", tt.got, tt.want)
			}
		})
	}
}
