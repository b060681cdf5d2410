package speechtest

import (
	"testing"
	"time"

	"homeagent/agent/pcm"
	"homeagent/drivers/voice/speech"
)

// DetectorFixture is a detector and a word it hears.
type DetectorFixture struct {
	New func(t *testing.T) speech.Detector
	// Word is its name; Sound holds it once at pcm.Voice and nothing else, from
	// the first sample to the last.
	Word  string
	Sound []int16
	// Other is sound without the word, ten seconds or more.
	Other []int16
	// Slack is how far Hit.End may lie from the word's end, default 250 ms.
	Slack time.Duration
}

// Detector runs the suite.
func Detector(t *testing.T, f DetectorFixture) {
	if f.Slack == 0 {
		f.Slack = 250 * time.Millisecond
	}
	slack := int64(pcm.Voice.Samples(f.Slack))
	feed := func(d speech.Detector, sound []int16, piece int) (hits []speech.Hit) {
		for len(sound) > 0 {
			n := min(piece, len(sound))
			hits = append(hits, d.Accept(sound[:n])...)
			sound = sound[n:]
		}
		return hits
	}
	before, after := Silence(2*time.Second), Silence(1500*time.Millisecond)
	once := Join(before, f.Sound, after)
	end := int64(len(before) + len(f.Sound))
	check := func(t *testing.T, hits []speech.Hit, ends ...int64) {
		t.Helper()
		if len(hits) != len(ends) {
			t.Fatalf("%d hits instead of %d: %+v", len(hits), len(ends), hits)
		}
		for i, h := range hits {
			if h.Word != f.Word || h.Score < 0 {
				t.Errorf("hit %+v", h)
			}
			if d := h.End - ends[i]; d < -slack || d > slack {
				t.Errorf("the word ends at %d, the hit at %d", ends[i], h.End)
			}
		}
	}
	t.Run("hears the word once, however the sound is cut up", func(t *testing.T) {
		for _, piece := range []int{160, 512, 777, speech.Frame, len(once)} {
			check(t, feed(f.New(t), once, piece), end)
		}
	})
	t.Run("hears it again", func(t *testing.T) {
		check(t, feed(f.New(t), Join(once, once), 512), end, end+int64(len(once)))
	})
	t.Run("positions go on after a reset", func(t *testing.T) {
		d := f.New(t)
		check(t, feed(d, once, 512), end)
		d.Reset()
		d.Reset()
		check(t, feed(d, once, 512), end+int64(len(once)))
	})
	t.Run("a reset forgets", func(t *testing.T) {
		d := f.New(t)
		half := len(f.Sound) / 2
		hits := feed(d, Join(before, f.Sound[:half]), 512)
		d.Reset()
		check(t, append(hits, feed(d, Join(f.Sound[half:], after), 512)...))
	})
	t.Run("hears nothing in other sound", func(t *testing.T) {
		check(t, feed(f.New(t), Join(Silence(10*time.Second), f.Other), 512))
	})
	t.Run("no samples are no harm", func(t *testing.T) {
		d := f.New(t)
		check(t, d.Accept(nil))
		check(t, feed(d, once, 512), end)
	})
	t.Run("leaves the sound alone", func(t *testing.T) {
		copied := append([]int16(nil), once...)
		feed(f.New(t), copied, 512)
		for i := range copied {
			if copied[i] != once[i] {
				t.Fatalf("sample %d was changed", i)
			}
		}
	})
}
