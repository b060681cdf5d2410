package voice

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"homeagent/agent/pcm"
	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/speech/speechtest"
)

// magic is the loudness of the fake wake word, which nothing else has.
const magic = 12345

// wakeWord is the sound of the fake wake word: half a second.
func wakeWord() []int16 {
	out := make([]int16, pcm.Voice.Rate/2)
	for i := range out {
		out[i] = magic * int16(1-2*(i/40%2))
	}
	return out
}

// fakeDetector hears wakeWord 100 ms after it has ended.
type fakeDetector struct {
	pos, run int64
	since    int64 // samples since a whole word, -1 if none
	mu       *sync.Mutex
	panics   bool
}

func (d *fakeDetector) Accept(s []int16) (hits []speech.Hit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.panics {
		panic("detector")
	}
	for _, v := range s {
		d.pos++
		if v == magic || v == -magic {
			d.run++
		} else {
			d.run = 0
		}
		if d.run == int64(pcm.Voice.Rate/2) {
			d.since, d.run = 0, 0
		} else if d.since >= 0 {
			if d.since++; d.since == int64(pcm.Voice.Rate/10) {
				hits = append(hits, speech.Hit{Word: "computer", Score: 1, End: d.pos - d.since})
				d.since = -1
			}
		}
	}
	return hits
}

func (d *fakeDetector) Reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.run, d.since = 0, -1
}

// fakeWake is a Wake whose words are the number of their takes.
type fakeWake struct {
	mu      sync.Mutex
	last    *fakeDetector
	missing error
	builtIn bool
}

func (w *fakeWake) Open(words []Word) (speech.Detector, error) {
	if w.missing != nil {
		return nil, w.missing
	}
	if len(words) == 0 && !w.builtIn {
		return nil, errNoWord{}
	}
	d := &fakeDetector{since: -1, mu: &w.mu}
	w.mu.Lock()
	w.last = d
	w.mu.Unlock()
	return d, nil
}

func (w *fakeWake) Learn(_ context.Context, name string, takes [][]int16) ([]byte, func(string) string, error) {
	if w.missing != nil {
		return nil, nil, w.missing
	}
	for _, t := range takes {
		if speechtest.RMS(t) < 500 {
			return nil, nil, errors.New("a take is silent")
		}
	}
	return []byte{byte(len(takes))}, func(string) string { return "fine" }, nil
}

func (w *fakeWake) BuiltIn() string {
	if w.builtIn {
		return "computer"
	}
	return ""
}

// fakeRecognizer gives scripted transcripts.
type fakeRecognizer struct {
	name  string
	langs []string
	mu    sync.Mutex
	next  []speech.Transcript // in order; the last one stays
	heard [][]int16
	hints []speech.Hint
	err   error
	wait  time.Duration
	hang  chan struct{} // not even the context ends a call until it is closed
	panic bool
}

func (r *fakeRecognizer) Name() string    { return r.name }
func (r *fakeRecognizer) Langs() []string { return r.langs }

func (r *fakeRecognizer) Recognize(ctx context.Context, audio []int16, hint speech.Hint) (speech.Transcript, error) {
	if err := ctx.Err(); err != nil {
		return speech.Transcript{}, err
	}
	r.mu.Lock()
	r.heard = append(r.heard, slices.Clone(audio))
	r.hints = append(r.hints, hint)
	t := speech.Transcript{}
	if len(r.next) > 0 && speechtest.RMS(audio) > 200 {
		t = r.next[0]
		if len(r.next) > 1 {
			r.next = r.next[1:]
		}
	}
	if t.Engine = r.name; t.Lang == "" {
		t.Lang = hint.Lang
	}
	err, wait, hang, dies := r.err, r.wait, r.hang, r.panic
	r.mu.Unlock()
	if dies {
		panic("engine")
	}
	if hang != nil {
		<-hang
	}
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return speech.Transcript{}, ctx.Err()
		}
	}
	return t, err
}

func (r *fakeRecognizer) set(f func(r *fakeRecognizer)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r)
}

// says makes transcripts of a recognizer, commands where the text begins with "!".
func says(texts ...string) (out []speech.Transcript) {
	for _, s := range texts {
		text, cmd := strings.CutPrefix(s, "!")
		out = append(out, speech.Transcript{Text: text, Command: cmd})
	}
	return out
}

// fakeSynthesizer hums a tenth of a second for each letter.
type fakeSynthesizer struct {
	name  string
	langs []string
	mu    sync.Mutex
	said  []string
	err   error
	quiet time.Duration // silence before the hum
}

func (s *fakeSynthesizer) Name() string    { return s.name }
func (s *fakeSynthesizer) Langs() []string { return s.langs }

func (s *fakeSynthesizer) Synthesize(ctx context.Context, text, lang string) (pcm.Source, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	text = strings.Trim(text, " \n*.\x00\x01\xff\xfe")
	if len(text) > 10000 {
		text = text[:10000]
	}
	s.said = append(s.said, text)
	f := pcm.Format{Rate: 16000, Channels: 1}
	return &samplesSource{f: f, left: speechtest.Join(make([]int16, f.Samples(s.quiet)), speechtest.Buzz(time.Duration(len([]rune(text)))*100*time.Millisecond))}, nil
}

func (s *fakeSynthesizer) texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said)
}

// fakeEndpointing is loudness with faults.
type fakeEndpointing struct {
	mu      sync.Mutex
	openErr error
	err     error
	hang    chan struct{}
	garbage bool
	open    int
}

func (f *fakeEndpointing) OpenEndpointer(ctx context.Context, cfg speech.EndpointConfig) (speech.Endpointer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.openErr != nil {
		return nil, f.openErr
	}
	f.open++
	return &fakeEndpointer{energy: newEnergy(cfg), f: f}, nil
}

type fakeEndpointer struct {
	*energy
	f    *fakeEndpointing
	once sync.Once
}

func (e *fakeEndpointer) Accept(ctx context.Context, s []int16) (speech.Speech, error) {
	e.f.mu.Lock()
	err, hang, garbage := e.f.err, e.f.hang, e.f.garbage
	e.f.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if err != nil {
		return speech.Speech{}, err
	}
	sp, _ := e.energy.Accept(ctx, s)
	if garbage {
		sp.Start, sp.End = 1<<40, -1<<40
	}
	return sp, nil
}

func (e *fakeEndpointer) Close() error {
	e.once.Do(func() {
		e.f.mu.Lock()
		e.f.open--
		e.f.mu.Unlock()
	})
	return nil
}

// The fakes keep the contract that the real engines keep.
func TestFakesConform(t *testing.T) {
	t.Run("detector", func(t *testing.T) {
		speechtest.Detector(t, speechtest.DetectorFixture{
			New:   func(*testing.T) speech.Detector { return &fakeDetector{since: -1, mu: &sync.Mutex{}} },
			Word:  "computer",
			Sound: wakeWord(),
			Other: speechtest.Buzz(10 * time.Second),
		})
	})
	t.Run("recognizer", func(t *testing.T) {
		speechtest.Recognizer(t, speechtest.RecognizerFixture{
			New:    func(*testing.T) speech.Recognizer { return &fakeRecognizer{name: "fake", next: says("!hello")} },
			Speech: speechtest.Buzz(time.Second),
			Hint:   speech.Hint{Lang: "en"},
			Want: func(t speech.Transcript) string {
				if t.Text != "hello" || !t.Command || t.Lang != "en" {
					return "wrong"
				}
				return ""
			},
		})
	})
	t.Run("synthesizer", func(t *testing.T) {
		speechtest.Synthesizer(t, speechtest.SynthesizerFixture{
			New:   func(*testing.T) speech.Synthesizer { return &fakeSynthesizer{name: "fake"} },
			Texts: map[string]string{"en": "The lamp is on.", "zh": "客厅的灯开了。"},
		})
	})
	t.Run("endpointing", func(t *testing.T) {
		speechtest.Endpointing(t, speechtest.EndpointingFixture{
			New:    func(*testing.T) speech.Endpointing { return &fakeEndpointing{} },
			Speech: speechtest.Buzz(1500 * time.Millisecond),
		})
	})
}
