package speechtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"homeagent/drivers/voice/speech"
)

// patience is how long any call may take before it counts as hung.
const patience = 60 * time.Second

// RecognizerFixture is a recognizer and what it is known to understand.
type RecognizerFixture struct {
	// New opens one; the test's Cleanup closes what it needs.
	New func(t *testing.T) speech.Recognizer
	// Speech is at pcm.Voice, with Hint; Want checks what was understood and
	// returns a complaint, "" if none.
	Speech []int16
	Hint   speech.Hint
	Want   func(speech.Transcript) string
	// NoSilence skips the check that silence gives no text, for services that
	// are known to invent some.
	NoSilence bool
}

// Recognizer runs the suite.
func Recognizer(t *testing.T, f RecognizerFixture) {
	ask := func(t *testing.T, r speech.Recognizer, audio []int16) (speech.Transcript, error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return r.Recognize(ctx, audio, f.Hint)
	}
	understands := func(t *testing.T, r speech.Recognizer) {
		t.Helper()
		got, err := ask(t, r, f.Speech)
		if err != nil {
			t.Fatal(err)
		}
		if bad := f.Want(got); bad != "" {
			t.Fatalf("%s: %+v", bad, got)
		}
		if got.Engine == "" {
			t.Error("the transcript names no engine")
		}
	}
	t.Run("understands, again and again", func(t *testing.T) {
		r := f.New(t)
		understands(t, r)
		understands(t, r)
	})
	t.Run("names itself and its languages", func(t *testing.T) {
		r := f.New(t)
		if r.Name() == "" {
			t.Error("no name")
		}
		if a, b := r.Langs(), r.Langs(); !slices.Equal(a, b) {
			t.Errorf("languages change: %q, %q", a, b)
		}
		if l := r.Langs(); f.Hint.Lang != "" && len(l) > 0 && !slices.Contains(l, f.Hint.Lang) {
			t.Errorf("%q is not among %q", f.Hint.Lang, l)
		}
	})
	t.Run("leaves the sound alone", func(t *testing.T) {
		audio := slices.Clone(f.Speech)
		if _, err := ask(t, f.New(t), audio); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(audio, f.Speech) {
			t.Error("the caller's samples were changed")
		}
	})
	t.Run("silence is nothing", func(t *testing.T) {
		if f.NoSilence {
			t.Skip("the fixture says that the engine invents words")
		}
		got, err := ask(t, f.New(t), Silence(2*time.Second))
		if err != nil || got.Text != "" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("too little is no crash", func(t *testing.T) {
		r := f.New(t)
		for _, n := range []int{0, 1, 100, 1600} {
			if got, err := ask(t, r, f.Speech[:min(n, len(f.Speech))]); n == 0 && (err != nil || got.Text != "") {
				t.Errorf("no sound gives %+v, %v", got, err)
			}
		}
		understands(t, r)
	})
	t.Run("a cancelled call ends and the next one works", func(t *testing.T) {
		r := f.New(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Recognize(ctx, f.Speech, f.Hint); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v does not wrap context.Canceled", err)
		}
		understands(t, r)
	})
	t.Run("several at once", func(t *testing.T) {
		r := f.New(t)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				got, err := ask(t, r, f.Speech)
				if err != nil {
					t.Error(err)
				} else if bad := f.Want(got); bad != "" {
					t.Errorf("%s: %+v", bad, got)
				}
			})
		}
		wg.Wait()
	})
}
