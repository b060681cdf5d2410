package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"homeagent/drivers/voice/engine"
	"homeagent/drivers/voice/engine/server"
	"homeagent/drivers/voice/speech"
	"homeagent/memory/token"
	"homeagent/memory/token/jieba/dict"
)

// enginesEnv makes the test binary the engines process; its value is the folder
// of the dictionary.
const enginesEnv = "HOMED_AGENT_TEST_ENGINES"

func TestMain(m *testing.M) {
	if dir := os.Getenv(enginesEnv); dir != "" {
		if err := server.Serve(context.Background(), os.Stdin, os.Stdout, server.Options{Words: openDictionary(dir)}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// enginesOf runs this binary as the engines with a dictionary.
func enginesOf(t *testing.T, dir string) *engine.Client {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := engine.NewClient(engine.Options{Command: []string{self}, Env: append(os.Environ(), "GORACE=atexit_sleep_ms=0", enginesEnv+"="+dir)})
	t.Cleanup(func() { c.Close() })
	return c
}

func TestCutterWithoutDictionary(t *testing.T) {
	engines := enginesOf(t, t.TempDir())
	c := newCutter(engines, t.TempDir())
	got, err := c.Cut(t.Context(), "钥匙的门垫")
	if err != nil || !slices.Equal(got, []string{"钥匙", "门垫"}) {
		t.Errorf("%q, %v", got, err)
	}
	if engines.Running() {
		t.Error("the engines were started for nothing")
	}
}

// TestCutterWithDamage: the engines say what is wrong and live on, and the plain
// cutter stands in.
func TestCutterWithDamage(t *testing.T) {
	dir := t.TempDir()
	for _, name := range dict.Files() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	engines := enginesOf(t, dir)
	if _, err := engines.Tag(t.Context(), "钥匙"); err == nil || errors.Is(err, engine.ErrCrashed) || errors.Is(err, speech.ErrMissing) {
		t.Errorf("error %v", err)
	}
	if !engines.Running() {
		t.Error("the engines did not live on")
	}
	if got, err := newCutter(engines, dir).Tag(t.Context(), "钥匙"); err != nil || !slices.Equal(got, []token.Word{{Text: "钥匙"}}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := os.Remove(filepath.Join(dir, dict.StopFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := openDictionary(t.TempDir())(); !errors.Is(err, speech.ErrMissing) {
		t.Errorf("missing: %v", err)
	}
}

// TestCutterByDictionary asks a real engines process with both dictionaries.
func TestCutterByDictionary(t *testing.T) {
	models := modelsDir("")
	for name, small := range map[string]bool{"full": false, "small": true} {
		t.Run(name, func(t *testing.T) {
			dir := dictionary(models, small)
			if _, err := os.Stat(dir); err != nil {
				t.Skipf("%s is not there; run tools/setup", dir)
			}
			c := newCutter(enginesOf(t, dir), dir)
			got, err := c.Tag(t.Context(), "我住在上海，\x00钥匙在门垫下面")
			if err != nil || !slices.Contains(got, token.Word{Text: "上海", Tag: token.TagPlace}) || !slices.ContainsFunc(got, func(w token.Word) bool { return w.Text == "钥匙" }) {
				t.Errorf("%v, %v", got, err)
			}
			words, err := c.Keywords(t.Context(), "备用钥匙放在门垫下面了，钥匙是铜的", 1)
			if err != nil || len(words) != 1 || words[0].Text != "钥匙" || words[0].Weight <= 0 {
				t.Errorf("%v, %v", words, err)
			}
			if cut, err := c.Cut(t.Context(), "打开客厅的灯"); err != nil || !slices.Equal(cut, []string{"打开", "客厅", "的", "灯"}) {
				t.Errorf("%q, %v", cut, err)
			}
		})
	}
}
