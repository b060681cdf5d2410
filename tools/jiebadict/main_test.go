package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeagent/memory/token/jieba/dict"
)

// source is a sound dictionary beside a licence.
func source(t *testing.T) string {
	t.Helper()
	from := filepath.Join(t.TempDir(), "dict")
	if err := os.Mkdir(from, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"../" + licence: "MIT\n",
		dict.WordsFile:  "门 500 n\n钥匙 90 n\n",
		dict.ModelFile:  strings.Repeat("-1 -1 -1 -1\n", 5) + strings.Repeat("门:-4.0\n", 4),
		dict.UserFile:   "",
		dict.RareFile:   "钥匙 7.9\n",
		dict.StopFile:   "的\n",
	} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return from
}

func TestRun(t *testing.T) {
	from, dir := source(t), t.TempDir()
	damage := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		name   string
		before func()
		args   []string
		code   int
		says   string
	}{
		{"missing", nil, []string{"-check"}, 1, "jieba-small is missing"},
		{"made", nil, nil, 0, "is made"},
		{"there", nil, []string{"-check"}, 0, "is there"},
		{"damaged", func() { damage("jieba-small/" + dict.RareFile) }, []string{"-check"}, 1, "jieba-small is missing or differs"},
		{"mended", nil, nil, 0, "jieba-small is made"},
		{"there again", nil, nil, 0, "jieba is there"},
		{"wrong usage", nil, []string{"more"}, 2, "unexpected"},
		{"bad source", func() { os.Remove(filepath.Join(from, dict.StopFile)) }, nil, 1, dict.StopFile},
	}
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			if s.before != nil {
				s.before()
			}
			var out bytes.Buffer
			args := append([]string{"-dir", dir, "-from", from}, s.args...)
			if code := run(t.Context(), args, &out, &out); code != s.code || !strings.Contains(out.String(), s.says) {
				t.Errorf("exit code %d: %s", code, out.String())
			}
		})
	}
	if err := dict.Check(filepath.Join(dir, dict.SmallFolder)); err != nil {
		t.Error(err)
	}
}
