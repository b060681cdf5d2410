package server

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"homeagent/drivers/voice/internal/clips"
	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/sphinx"
)

// engines loads the machine's engines, or skips.
func engines(t testing.TB) *models {
	t.Helper()
	dir := clips.Models(t, "onnxruntime/libonnxruntime.so*", "moonshine/*.onnx", "silero/silero_vad_v6.onnx")
	if _, err := os.Stat(sphinx.DefaultModel); err != nil {
		t.Skipf("skipped: %s is absent; tools/setup brings it", sphinx.DefaultModel)
	}
	m := newModels(Options{ModelsDir: dir, Threads: 1})
	t.Cleanup(func() {
		if err := m.close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func grammar(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".gram")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The engines load once for all of these; the first one loads them.
func TestEngines(t *testing.T) {
	m := engines(t)
	for _, part := range []struct {
		name string
		test func(*testing.T, *models)
	}{
		{"decoders are kept", testDecodersAreKept},
		{"commands are recognised", testCommandsAreRecognised},
		{"other speech is no command", testOtherSpeechIsNoCommand},
		{"odd sound", testRecognizeOddSound},
		{"with less", testRecognizeWithLess},
		{"short of memory", testSmall},
		{"cancelled", testRecognizeCancelled},
		{"endpoint on recordings", testEndpointOnRecordings},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, m) })
	}
}

// The words of an order that decide what is brought.
var slotWords = regexp.MustCompile(`\b(small|(light|medium|dark) roast|medium|large|\w+ ounce|(single|double|triple) shot|(house |iced )?coffee|americano|(iced )?(latte|mocha)|espresso|cappuccino|(brown )?sugar|sweetener|cream|(almond |soy |whole )?milk|lots of|a lot of|a little bit of|some)\b`)

func slots(s string) string { return strings.Join(slotWords.FindAllString(s, -1), ", ") }

// noArticle leaves out the words that the grammar has as optional.
func noArticle(s string) string { return strings.ReplaceAll(s, " the ", " ") }

func testCommandsAreRecognised(t *testing.T, m *models) {
	for _, c := range clips.Kind(t, "household") {
		t.Run(c.Name, func(t *testing.T) {
			got, err := m.recognize(t.Context(), c.Audio, grammar(t, "household"))
			if err != nil || !got.command || noArticle(got.words) != noArticle(c.Transcript) || got.note != "" {
				t.Errorf("%+v, %v; want the command %q", got, err, c.Transcript)
			}
		})
	}
	for _, c := range clips.Kind(t, "barista") {
		t.Run(c.Name, func(t *testing.T) {
			got, err := m.recognize(t.Context(), c.Audio, grammar(t, "barista"))
			if err != nil || !got.command || slots(got.words) != slots(c.Transcript) {
				t.Errorf("%+v, %v; want a command with %q", got, err, slots(c.Transcript))
			}
		})
	}
}

func testOtherSpeechIsNoCommand(t *testing.T, m *models) {
	rows := []struct{ kind, grammar string }{{"other", "household"}, {"barista", "household"}, {"household", "barista"}, {"other", "barista"}}
	for _, row := range rows {
		for _, c := range clips.Kind(t, row.kind) {
			t.Run(row.grammar+"/"+c.Name, func(t *testing.T) {
				got, err := m.recognize(t.Context(), c.Audio, grammar(t, row.grammar))
				if err != nil || got.command || got.engine != "moonshine" || got.words == "" {
					t.Errorf("%+v, %v; want free text", got, err)
				}
			})
		}
	}
}

func testRecognizeOddSound(t *testing.T, m *models) {
	rows := []struct {
		name  string
		audio []int16
	}{{"none", nil}, {"less than a step", make([]int16, 100)}, {"ten seconds of nothing", make([]int16, 10*rate)}}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got, err := m.recognize(t.Context(), row.audio, grammar(t, "household"))
			if err != nil || got != (text{}) {
				t.Errorf("%+v, %v; want nothing", got, err)
			}
		})
	}
}

func testRecognizeWithLess(t *testing.T, m *models) {
	clip := clips.Kind(t, "household")[0]
	rows := []struct {
		name, grammar, note string
		opt                 func(*Options)
	}{
		{"no grammar", "", "", func(*Options) {}},
		{"grammar is broken", "#JSGF V1.0; grammar g; public <x> = (turn;", "the grammar cannot be used", func(*Options) {}},
		{"grammar has a strange word", "#JSGF V1.0; grammar g; public <x> = zzyzzx;", "zzyzzx", func(*Options) {}},
		{"no dictionary", grammar(t, "household"), "tools/setup", func(o *Options) { o.Dict = "/none" }},
		{"no acoustic model", grammar(t, "household"), "tools/setup", func(o *Options) { o.Sphinx.Model = "/none" }},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			opt := m.opt
			row.opt(&opt)
			less := newModels(opt)
			less.silero.value, less.silero.ok = m.silero.value, true
			less.moon.value, less.moon.ok = m.moon.value, true
			got, err := less.recognize(t.Context(), clip.Audio, row.grammar)
			if err != nil || got.command || plain(got.words) != clip.Transcript || !strings.Contains(got.note, row.note) || (row.note == "") != (got.note == "") {
				t.Errorf("%+v, %v; want free text and a note with %q", got, err, row.note)
			}
		})
	}
}

// testSmall: one after the other understands the same, and one grammar stays.
func testSmall(t *testing.T, m *models) {
	opt := m.opt
	opt.Small = true
	small := newModels(opt)
	small.silero.value, small.silero.ok = m.silero.value, true
	small.moon.value, small.moon.ok = m.moon.value, true
	defer func() { // the two engines are not its own
		small.silero.ok, small.moon.ok = false, false
		if err := small.close(); err != nil {
			t.Error(err)
		}
	}()
	if note, err := small.warm(t.Context(), "#JSGF V1.0; grammar g; public <x> = yes;"); err != nil || note != "" {
		t.Fatal(note, err)
	}
	clip := clips.Kind(t, "household")[0]
	got, err := small.recognize(t.Context(), clip.Audio, grammar(t, "household"))
	if err != nil || !got.command || noArticle(got.words) != noArticle(clip.Transcript) {
		t.Errorf("%+v, %v; want the command %q", got, err, clip.Transcript)
	}
	if len(small.decoders) != smallDecoders {
		t.Errorf("%d grammars stay loaded", len(small.decoders))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := small.recognize(ctx, clip.Audio, grammar(t, "household")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := small.warm(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("warming cancelled: %v", err)
	}
}

func TestNothingInstalled(t *testing.T) {
	m := newModels(Options{ModelsDir: t.TempDir()})
	defer m.close()
	_, judgeErr := m.judge()
	_, warmErr := m.warm(t.Context(), "")
	_, recErr := m.recognize(t.Context(), make([]int16, rate), "")
	for name, err := range map[string]error{"judge": judgeErr, "warm": warmErr, "recognize": recErr} {
		if !errors.Is(err, speech.ErrMissing) || !strings.Contains(err.Error(), "tools/setup") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func testDecodersAreKept(t *testing.T, m *models) {
	if _, err := m.warm(t.Context(), grammar(t, "household")); err != nil {
		t.Fatal(err)
	}
	first := m.decoders[0].Decoder
	for _, g := range []string{"#JSGF V1.0; grammar g; public <x> = yes;", grammar(t, "household"), "#JSGF V1.0; grammar g; public <x> = no;"} {
		if note := m.prepare(g); note != "" {
			t.Fatal(note)
		}
	}
	if len(m.decoders) != maxDecoders || m.decoders[1].Decoder != first {
		t.Errorf("the used grammar was not kept among %d", len(m.decoders))
	}
}

func testRecognizeCancelled(t *testing.T, m *models) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.recognize(ctx, clips.Kind(t, "household")[0].Audio, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func testEndpointOnRecordings(t *testing.T, m *models) {
	for _, kind := range []string{"household", "barista"} {
		for _, c := range clips.Kind(t, kind) {
			t.Run(c.Name, func(t *testing.T) {
				j, err := m.judge()
				if err != nil {
					t.Fatal(err)
				}
				defer j.Close()
				e := newEndpoint(j, 0, nil)
				sound := append(append([]int16{}, c.Audio...), make([]int16, rate)...)
				for at := 0; at < len(sound) && !e.found.Ended; at += 1280 {
					if _, err := e.feed(sound[at:min(at+1280, len(sound))]); err != nil {
						t.Fatal(err)
					}
				}
				if !e.found.Ended || e.found.Start >= e.found.End || e.found.End > int64(len(c.Audio)) {
					t.Errorf("found %+v in %d samples", e.found, len(c.Audio))
				}
			})
		}
	}
}
