package speechtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"homeagent/agent/pcm"
	"homeagent/drivers/voice/speech"
)

// EndpointingFixture is a maker of endpointers and speech they recognise.
type EndpointingFixture struct {
	New func(t *testing.T) speech.Endpointing
	// Speech is one second or more of speech at pcm.Voice without a pause, from
	// its first sample to its last.
	Speech []int16
	// Slack is how far found ends may lie from the true ones, default 300 ms.
	Slack time.Duration
}

// Endpointing runs the suite.
func Endpointing(t *testing.T, f EndpointingFixture) {
	if f.Slack == 0 {
		f.Slack = 300 * time.Millisecond
	}
	slack := int64(pcm.Voice.Samples(f.Slack))
	cfg := speech.EndpointConfig{Trailing: 500 * time.Millisecond}
	open := func(t *testing.T, e speech.Endpointing) speech.Endpointer {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel() // an endpointer outlives the context of the call
		ep, err := e.OpenEndpointer(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ep.Close() })
		return ep
	}
	// feed gives the sound in pieces until the end was found.
	feed := func(t *testing.T, ep speech.Endpointer, sound []int16, piece int) (sp speech.Speech) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		for len(sound) > 0 && !sp.Ended {
			n := min(piece, len(sound))
			var err error
			if sp, err = ep.Accept(ctx, sound[:n]); err != nil {
				t.Fatal(err)
			}
			sound = sound[n:]
		}
		return sp
	}
	before := Silence(700 * time.Millisecond)
	sound := Join(before, f.Speech, Silence(2*time.Second))
	start, end := int64(len(before)), int64(len(before)+len(f.Speech))
	check := func(t *testing.T, sp speech.Speech) {
		t.Helper()
		if !sp.Started || !sp.Ended {
			t.Fatalf("speech was not found: %+v", sp)
		}
		if d := sp.Start - start; d < -slack || d > slack {
			t.Errorf("it starts at %d, found at %d", start, sp.Start)
		}
		if d := sp.End - end; d < -slack || d > slack {
			t.Errorf("it ends at %d, found at %d", end, sp.End)
		}
	}
	t.Run("finds speech, however it is cut up", func(t *testing.T) {
		e := f.New(t)
		for _, piece := range []int{160, 512, 777, 1280, len(sound)} {
			check(t, feed(t, open(t, e), sound, piece))
		}
	})
	t.Run("silence is no speech", func(t *testing.T) {
		if sp := feed(t, open(t, f.New(t)), Silence(5*time.Second), 512); sp.Started || sp.Ended {
			t.Errorf("%+v", sp)
		}
	})
	t.Run("speech that goes on does not end", func(t *testing.T) {
		if sp := feed(t, open(t, f.New(t)), Join(before, f.Speech), 512); !sp.Started || sp.Ended {
			t.Errorf("%+v", sp)
		}
	})
	t.Run("speech from the first sample", func(t *testing.T) {
		if sp := feed(t, open(t, f.New(t)), Join(f.Speech, Silence(2*time.Second)), 512); !sp.Ended || sp.Start > slack {
			t.Errorf("%+v", sp)
		}
	})
	t.Run("the end stays", func(t *testing.T) {
		ep := open(t, f.New(t))
		was := feed(t, ep, sound, 512)
		sp, err := ep.Accept(t.Context(), f.Speech)
		if err != nil || sp != was {
			t.Errorf("%+v became %+v, %v", was, sp, err)
		}
	})
	t.Run("no samples are no harm", func(t *testing.T) {
		ep := open(t, f.New(t))
		if sp, err := ep.Accept(t.Context(), nil); err != nil || sp.Started {
			t.Errorf("%+v, %v", sp, err)
		}
		check(t, feed(t, ep, sound, 512))
	})
	t.Run("two at once know nothing of each other", func(t *testing.T) {
		e := f.New(t)
		a, b := open(t, e), open(t, e)
		feed(t, a, Join(before, f.Speech), 512)
		if sp := feed(t, b, Silence(time.Second), 512); sp.Started {
			t.Errorf("%+v", sp)
		}
	})
	t.Run("cancelled and closed", func(t *testing.T) {
		e := f.New(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if ep, err := e.OpenEndpointer(ctx, cfg); err == nil {
			ep.Close() // opening may need no waiting
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("open: %v does not wrap context.Canceled", err)
		}
		ep := open(t, e)
		if err := ep.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := ep.Close(); err != nil {
			t.Errorf("closing twice: %v", err)
		}
		ep.Accept(t.Context(), f.Speech) // may fail, must not hang or crash
		check(t, feed(t, open(t, e), sound, 512))
	})
}
