package openai

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/speech/speechtest"
	"homeagent/tools/fakespeech"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-very-secret"

// service starts a fake and gives its configuration. It fails the test over
// complaints, unless they are expected.
func startService(t *testing.T, cfg fakespeech.Config, expectComplaints bool) (*fakespeech.Server, Config) {
	t.Helper()
	cfg.Key = key
	fake := fakespeech.New(cfg)
	srv := httptest.NewServer(fake)
	tr := &http.Transport{}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		srv.Close()
		if c := fake.Complaints(); len(c) > 0 && !expectComplaints {
			t.Errorf("the service complains: %q", c)
		}
	})
	return fake, Config{BaseURL: srv.URL + "/v1", Key: func() string { return key }, Client: &http.Client{Transport: tr}, Wait: 30 * time.Second}
}

func transcriber(t *testing.T, cfg Config) *Transcriber {
	t.Helper()
	cfg.Model = "whisper-1"
	r, err := NewTranscriber(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func speaker(t *testing.T, cfg Config) *Speaker {
	t.Helper()
	cfg.Model = "tts-1"
	s, err := NewSpeaker(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTranscriberConformance(t *testing.T) {
	speechtest.Recognizer(t, speechtest.RecognizerFixture{
		New: func(t *testing.T) speech.Recognizer {
			fake, cfg := startService(t, fakespeech.Config{}, true) // it refuses silence
			fake.Understand(slices.Repeat([]string{"打开客厅的灯"}, 10)...)
			return transcriber(t, cfg)
		},
		Speech: speechtest.Buzz(2 * time.Second),
		Hint:   speech.Hint{Lang: "zh"},
		Want: func(got speech.Transcript) string {
			if got.Text != "打开客厅的灯" || got.Lang != "zh" || got.Command {
				return "wrong transcript"
			}
			return ""
		},
		NoSilence: true,
	})
}

func TestSpeakerConformance(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		t.Run(map[bool]string{false: "true lengths", true: "streamed lengths"}[streamed], func(t *testing.T) {
			speechtest.Synthesizer(t, speechtest.SynthesizerFixture{
				New: func(t *testing.T) speech.Synthesizer {
					_, cfg := startService(t, fakespeech.Config{Streamed: streamed}, false)
					return speaker(t, cfg)
				},
				Texts: map[string]string{"zh": "客厅的灯已经打开了。", "en": "The living room lamp is on."},
			})
		})
	}
}

func TestRequest(t *testing.T) {
	fake, cfg := startService(t, fakespeech.Config{}, false)
	r := transcriber(t, cfg)
	words := []string{"客厅灯", " living room \n lamp ", ""}
	for range 200 {
		words = append(words, "a very long name of a device")
	}
	if _, err := r.Recognize(t.Context(), speechtest.Buzz(time.Second), speech.Hint{Lang: "zh", Words: words}); err != nil {
		t.Fatal(err)
	}
	h := fake.Heard()[0]
	if !strings.HasPrefix(h.Prompt, "客厅灯, living room lamp, a very long name") || utf8.RuneCountInString(h.Prompt) > promptRunes {
		t.Errorf("prompt %q", h.Prompt)
	}
	if h.Language != "zh" || h.Duration != time.Second || h.RMS < 1000 {
		t.Errorf("heard %+v", h)
	}
	if _, err := r.Recognize(t.Context(), speechtest.Buzz(time.Second), speech.Hint{}); err != nil {
		t.Fatal(err)
	}
	if h := fake.Heard()[1]; h.Language != "" || h.Prompt != "" {
		t.Errorf("without a hint: %+v", h)
	}
}

// faultCases are failures that both directions meet.
var faultCases = []struct {
	fault fakespeech.Fault
	code  Code
	op    string // "" both, else the only one
}{
	{fakespeech.Hang, Slow, ""},
	{fakespeech.Stall, Slow, "transcribe"},
	{fakespeech.Cut, Unreachable, "transcribe"},
	{fakespeech.Garbage, Nonsense, ""},
	{fakespeech.HTML, Nonsense, ""},
	{fakespeech.Huge, Nonsense, ""},
	{fakespeech.Redirect, NotFound, ""},
	{fakespeech.Busy, Limit, ""},
	{fakespeech.Down, Broken, ""},
	{fakespeech.Leak, Refused, ""},
	{fakespeech.MP3, Format, "speak"},
	{fakespeech.Empty, Nonsense, "speak"},
}

func TestFaults(t *testing.T) {
	for _, c := range faultCases {
		for _, op := range []string{"transcribe", "speak"} {
			if c.op != "" && c.op != op {
				continue
			}
			t.Run(op+" "+string(c.fault), func(t *testing.T) {
				fake, cfg := startService(t, fakespeech.Config{}, false)
				cfg.Wait = 300 * time.Millisecond
				fake.Fail(c.fault)
				var err error
				if op == "speak" {
					_, err = speaker(t, cfg).Synthesize(t.Context(), "hello", "en")
				} else {
					_, err = transcriber(t, cfg).Recognize(t.Context(), speechtest.Buzz(time.Second), speech.Hint{})
				}
				var e *Error
				if !errors.As(err, &e) || e.Code != c.code || e.Op != op {
					t.Fatalf("error %v", err)
				}
				if strings.Contains(err.Error(), key) {
					t.Errorf("the key is in %q", err)
				}
				if e.In("zh") == e.In("en") || e.In("zh") == "" {
					t.Errorf("no words: %q, %q", e.In("zh"), e.In("en"))
				}
			})
		}
	}
}

// A service that breaks off in the middle of a text: what came is played, and
// the error follows.
func TestSpeechBreaksOff(t *testing.T) {
	for _, f := range []fakespeech.Fault{fakespeech.Cut, fakespeech.Stall} {
		t.Run(string(f), func(t *testing.T) {
			fake, cfg := startService(t, fakespeech.Config{}, false)
			cfg.Wait = 300 * time.Millisecond
			fake.Fail("", f)
			src, err := speaker(t, cfg).Synthesize(t.Context(), "One sentence. "+strings.Repeat("And another one. ", 20), "en")
			if err != nil {
				t.Fatal(err)
			}
			sound, err := speechtest.ReadAll(t.Context(), src)
			var e *Error
			if !errors.As(err, &e) || e.Code != Unreachable && e.Code != Slow && e.Code != Nonsense {
				t.Errorf("error %v", err)
			}
			if len(sound) < 24000 {
				t.Errorf("%d samples came through", len(sound))
			}
		})
	}
}

func TestPiecesFit(t *testing.T) {
	fake, cfg := startService(t, fakespeech.Config{}, false)
	text := "First. " + strings.Repeat("这是一句不太长的话。", 25) + strings.Repeat("x", 1500)
	src, err := speaker(t, cfg).Synthesize(t.Context(), text, "zh")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := speechtest.ReadAll(t.Context(), src); err != nil {
		t.Fatal(err)
	}
	said := fake.Said()
	if said[0].Input != "First." {
		t.Errorf("speaking begins with %q", said[0].Input)
	}
	joined := ""
	for _, s := range said {
		joined += s.Input
	}
	if len(said) < 3 || strings.ReplaceAll(joined, " ", "") != strings.ReplaceAll(text, " ", "") {
		t.Errorf("%d pieces, %d of %d bytes", len(said), len(joined), len(text))
	}
}

// Pieces in another format are converted to that of the first.
func TestFormatChanges(t *testing.T) {
	fake, cfg := startService(t, fakespeech.Config{}, false)
	fake.Fail("", fakespeech.OtherFormat)
	src, err := speaker(t, cfg).Synthesize(t.Context(), "One sentence here. And another one there.", "en")
	if err != nil {
		t.Fatal(err)
	}
	f := src.Format()
	sound, err := speechtest.ReadAll(t.Context(), src)
	if err != nil || f.Rate != 24000 || f.Channels != 1 {
		t.Fatalf("%v, %v", f, err)
	}
	if d := f.Duration(len(sound)); d < 3*time.Second || d > 4*time.Second {
		t.Errorf("both last %s", d)
	}
}

func TestUnreachable(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	cfg := Config{BaseURL: srv.URL + "/v1"}
	srv.Close()
	_, err := transcriber(t, cfg).Recognize(t.Context(), speechtest.Buzz(time.Second), speech.Hint{})
	var e *Error
	if !errors.As(err, &e) || e.Code != Unreachable {
		t.Errorf("error %v", err)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
	}{
		{"no address", Config{Model: "m"}},
		{"no scheme", Config{BaseURL: "host/v1", Model: "m"}},
		{"file", Config{BaseURL: "file:///etc/passwd", Model: "m"}},
		{"no model", Config{BaseURL: "http://host/v1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := NewTranscriber(c.cfg); err == nil {
				t.Error("taken")
			}
			if _, err := NewSpeaker(c.cfg); err == nil {
				t.Error("taken")
			}
		})
	}
}

// The caller's context bounds the wait for the first sound.
func TestSynthesizeIsCancelled(t *testing.T) {
	fake, cfg := startService(t, fakespeech.Config{}, false)
	fake.Fail(fakespeech.Hang)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := speaker(t, cfg).Synthesize(ctx, "hello", "en"); err == nil {
		t.Error("no error")
	}
}

func FuzzSaid(f *testing.F) {
	f.Add([]byte(`{"error":{"message":"bad model"}}`))
	f.Add([]byte(`{"detail":"x"}`))
	f.Add([]byte("<html>"))
	f.Add([]byte("\xff\x00 " + key))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := said(b, key)
		if strings.Contains(got, key) || !utf8.ValidString(got) || utf8.RuneCountInString(got) > 301 || strings.ContainsAny(got, "\n\x00") {
			t.Errorf("said(%q) = %q", b, got)
		}
	})
}
