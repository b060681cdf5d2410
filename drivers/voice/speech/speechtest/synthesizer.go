package speechtest

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"homeagent/agent/pcm"
	"homeagent/drivers/voice/speech"
)

// SynthesizerFixture is a synthesizer and a sentence in each of its languages.
type SynthesizerFixture struct {
	New func(t *testing.T) speech.Synthesizer
	// Texts are sentences of one to ten seconds by language.
	Texts map[string]string
}

// ReadAll reads a Source to its end and closes it.
func ReadAll(ctx context.Context, src pcm.Source) ([]int16, error) {
	defer src.Close()
	var out []int16
	buf := make([]int16, 1024)
	for {
		n, err := src.Read(ctx, buf)
		out = append(out, buf[:n]...)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if n < len(buf) {
			return out, errors.New("a short read without an error")
		}
	}
}

// Synthesizer runs the suite.
func Synthesizer(t *testing.T, f SynthesizerFixture) {
	if len(f.Texts) == 0 {
		t.Fatal("the fixture has no text")
	}
	open := func(t *testing.T, s speech.Synthesizer, text, lang string) pcm.Source {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel() // a Source outlives the context of the call
		src, err := s.Synthesize(ctx, text, lang)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { src.Close() })
		return src
	}
	speaks := func(t *testing.T, s speech.Synthesizer, text, lang string) []int16 {
		t.Helper()
		src := open(t, s, text, lang)
		form := src.Format()
		if !form.Valid() {
			t.Fatalf("format %v", form)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		sound, err := ReadAll(ctx, src)
		if err != nil {
			t.Fatal(err)
		}
		if d := form.Duration(len(sound)); d < 500*time.Millisecond || d > 30*time.Second {
			t.Errorf("%q lasts %s", text, d)
		}
		if r := RMS(sound); r < 200 {
			t.Errorf("%q is as quiet as %.0f", text, r)
		}
		return sound
	}
	var lang, text string
	for lang, text = range f.Texts {
		t.Run("speaks "+lang, func(t *testing.T) {
			s := f.New(t)
			if !offers(s.Langs(), lang) {
				t.Errorf("%q is not among %q", lang, s.Langs())
			}
			one := speaks(t, s, text, lang)
			if two := speaks(t, s, text+" "+text, lang); len(two) < len(one)*3/2 {
				t.Errorf("twice the text gives %d samples after %d", len(two), len(one))
			}
		})
	}
	t.Run("ends for good", func(t *testing.T) {
		src := open(t, f.New(t), text, lang)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		buf := make([]int16, 4096)
		for {
			if _, err := src.Read(ctx, buf); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if n, err := src.Read(ctx, buf); n != 0 || err != io.EOF {
			t.Errorf("behind the end: %d, %v", n, err)
		}
	})
	t.Run("nothing to say", func(t *testing.T) {
		for _, text := range []string{"", " \n", "***", "...", "\x00\x01"} {
			src := open(t, f.New(t), text, lang)
			if sound, err := ReadAll(t.Context(), src); err != nil || RMS(sound) > 200 {
				t.Errorf("%q gives %d samples, %v", text, len(sound), err)
			}
		}
	})
	t.Run("bad bytes do not matter", func(t *testing.T) {
		speaks(t, f.New(t), "\xff\xfe "+text+" \x00", lang)
	})
	t.Run("a megabyte is spoken from its beginning", func(t *testing.T) {
		src := open(t, f.New(t), strings.Repeat(text+" ", 1<<20/len(text)), lang)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		buf := make([]int16, src.Format().Samples(2*time.Second))
		if n, err := src.Read(ctx, buf); err != nil || n != len(buf) || RMS(buf) < 200 {
			t.Errorf("%d samples, loudness %.0f, %v", n, RMS(buf[:n]), err)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("close ends a Read", func(t *testing.T) {
		src := open(t, f.New(t), strings.Repeat(text+" ", 200), lang)
		ended := make(chan error, 1)
		first := make(chan struct{})
		go func() {
			buf := make([]int16, 1600)
			for i := 0; ; i++ {
				_, err := src.Read(t.Context(), buf)
				if i == 0 {
					close(first)
				}
				if err != nil {
					ended <- err
					return
				}
			}
		}()
		<-first
		src.Close()
		if err := src.Close(); err != nil {
			t.Errorf("closing twice: %v", err)
		}
		wait(t, ended, "Read goes on after Close")
	})
	t.Run("the context ends a Read and a call", func(t *testing.T) {
		s := f.New(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := open(t, s, text, lang).Read(ctx, make([]int16, 100)); !errors.Is(err, context.Canceled) {
			t.Errorf("Read: %v", err)
		}
		if src, err := s.Synthesize(ctx, text, lang); err == nil {
			src.Close()
			t.Error("Synthesize took a cancelled context")
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("Synthesize: %v does not wrap context.Canceled", err)
		}
	})
	t.Run("several at once", func(t *testing.T) {
		s := f.New(t)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				src, err := s.Synthesize(t.Context(), text, lang)
				if err != nil {
					t.Error(err)
					return
				}
				if sound, err := ReadAll(t.Context(), src); err != nil || RMS(sound) < 200 {
					t.Errorf("%d samples, %v", len(sound), err)
				}
			})
		}
		wg.Wait()
	})
}

// offers reports whether a list of languages has lang; an empty list is any.
func offers(langs []string, lang string) bool {
	for _, l := range langs {
		if l == lang {
			return true
		}
	}
	return len(langs) == 0
}

// wait takes a value from c, or fails with the words.
func wait[T any](t *testing.T, c <-chan T, words string) T {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case v := <-c:
		return v
	case <-limit.C:
		t.Fatal(words)
	}
	panic("not reached")
}
