package onnx

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"homeagent/drivers/voice/internal/clips"
	"homeagent/drivers/voice/speech"
)

// runtimeOf opens the machine's ONNX Runtime, or skips.
func runtimeOf(t testing.TB) (*Runtime, string) {
	t.Helper()
	dir := clips.Models(t, "onnxruntime/libonnxruntime.so*", "moonshine/*.onnx", "silero/silero_vad_v6.onnx")
	lib, err := Library(dir)
	if err != nil {
		t.Fatal(err)
	}
	rt, err := Open(lib, 1)
	if err != nil {
		t.Fatal(err)
	}
	return rt, dir
}

func moonshine(t testing.TB) *Moonshine {
	t.Helper()
	rt, dir := runtimeOf(t)
	m, err := rt.NewMoonshine(filepath.Join(dir, "moonshine"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func plain(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" ,.?!", r) }), " ")
}

func TestMoonshine(t *testing.T) {
	m := moonshine(t)
	rows := map[string]string{
		"household/turn_on_the_living_room_lamp.wav": "turn on the living room lamp",
		"household/what_time_is_it.wav":              "what time is it",
	}
	for _, c := range clips.Kind(t, "household") {
		want, ok := rows[c.Name]
		if !ok {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			got, err := m.Transcribe(t.Context(), c.Audio)
			if err != nil || plain(got) != want {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		})
	}
}

func TestMoonshineOddSound(t *testing.T) {
	m := moonshine(t)
	for name, audio := range map[string][]int16{"none": nil, "one sample": {1}, "one second of nothing": make([]int16, 16000)} {
		t.Run(name, func(t *testing.T) {
			if _, err := m.Transcribe(t.Context(), audio); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := m.Transcribe(t.Context(), make([]int16, MaxSamples+1)); err == nil {
		t.Error("too long a sound gave no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Transcribe(ctx, make([]int16, 16000)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestMoonshineAtOnce(t *testing.T) {
	m := moonshine(t)
	c := clips.Kind(t, "household")[0]
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if got, err := m.Transcribe(t.Context(), c.Audio); err != nil || plain(got) != c.Transcript {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	wg.Wait()
}

func TestSilero(t *testing.T) {
	rt, dir := runtimeOf(t)
	s, err := rt.NewSilero(filepath.Join(dir, "silero", "silero_vad_v6.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	share := func(audio []int16) float64 {
		st, err := s.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		n, speech := 0, 0
		for ; len(audio) >= Step; audio = audio[Step:] {
			p, err := st.Probability(audio[:Step])
			if err != nil || p < 0 || p > 1 {
				t.Fatalf("probability %g, %v", p, err)
			}
			n++
			if p >= 0.5 {
				speech++
			}
		}
		return float64(speech) / float64(n)
	}
	for _, c := range clips.Kind(t, "household") {
		if got := share(c.Audio); got < 0.2 {
			t.Errorf("%s: speech in %.2f of it", c.Name, got)
		}
	}
	if got := share(make([]int16, 10*16000)); got != 0 {
		t.Errorf("silence: speech in %.2f of it", got)
	}
	st, err := s.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, err := st.Probability(make([]int16, Step-1)); err == nil {
		t.Error("a short step gave no error")
	}
}

func TestMissing(t *testing.T) {
	rt, dir := runtimeOf(t)
	empty := t.TempDir()
	broken := t.TempDir()
	for _, f := range []string{"encoder_model.onnx", "decoder_model_merged.onnx", "silero_vad_v6.onnx"} {
		if err := os.WriteFile(filepath.Join(broken, f), []byte("no model"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tok, err := os.ReadFile(filepath.Join(dir, "moonshine", "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "tokenizer.json"), tok, 0o644); err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name string
		err  func() error
		miss bool
	}{
		{"library", func() error { _, err := Library(empty); return err }, true},
		{"moonshine", func() error { _, err := rt.NewMoonshine(empty); return err }, true},
		{"silero", func() error { _, err := rt.NewSilero(filepath.Join(empty, "x.onnx")); return err }, true},
		{"moonshine damaged", func() error { _, err := rt.NewMoonshine(broken); return err }, false},
		{"silero damaged", func() error { _, err := rt.NewSilero(filepath.Join(broken, "silero_vad_v6.onnx")); return err }, false},
		{"a second library", func() error { _, err := Open("/none", 1); return err }, false},
		{"no thread", func() error { _, err := Open("/none", 0); return err }, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			err := row.err()
			if err == nil || errors.Is(err, speech.ErrMissing) != row.miss {
				t.Errorf("error %v", err)
			}
			if row.miss && !strings.Contains(err.Error(), "tools/setup") {
				t.Errorf("error %q does not say which command helps", err)
			}
		})
	}
}
