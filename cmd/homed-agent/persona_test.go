package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

func TestPersona(t *testing.T) {
	write := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	long := strings.Repeat("你好。", maxPersona) // nine bytes each; the bound falls inside a character
	tests := []struct {
		name   string
		put    func(path string) error
		text   string // its beginning
		zh, en string // parts of the notice, "" for none
	}{
		{"none", func(string) error { return nil }, "", "", ""},
		{"text", write("你是管家。\n"), "你是管家。\n", "", ""},
		{"empty", write(""), "", "", ""},
		{"with a mark in front", write("\xef\xbb\xbfHello"), "Hello", "", ""},
		{"another encoding", write("\xc4\xe3\xba\xc3"), "", "不是 UTF-8 文字", "holds no UTF-8 text"},
		{"binary", write("\x00\x01\x02"), "", "不是 UTF-8 文字", "holds no UTF-8 text"},
		{"too long", write(long), "你好。", "超过 16 KiB", "longer than 16 KiB"},
		{"a byte too long", write(strings.Repeat("a", maxPersona-1) + "好"), "aaa", "超过", "longer than"},
		{"folder", func(path string) error { return os.Mkdir(path, 0o700) }, "", "不是普通文件", "no regular file"},
		{"pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }, "", "不是普通文件", "no regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "personal.md")
			if err := tt.put(path); err != nil {
				t.Fatal(err)
			}
			p := newPersona(path)
			got := p.Text()
			if !strings.HasPrefix(got, tt.text) || tt.text == "" && got != "" || len(got) > maxPersona || !utf8.ValidString(got) {
				t.Errorf("text of %d bytes %.40q", len(got), got)
			}
			for lang, part := range map[string]string{"zh": tt.zh, "en": tt.en} {
				if n := p.Notice(lang); !strings.Contains(n, part) || part == "" && n != "" {
					t.Errorf("%s: notice %q", lang, n)
				}
			}
		})
	}
}

// TestPersonaIsReadAgain: who mends the file is heard at once.
func TestPersonaIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "personal.md")
	p := newPersona(path)
	for _, step := range []struct{ text, notice string }{{"one", ""}, {"\xff\xfe", "no UTF-8"}, {"three!", ""}} {
		if err := os.WriteFile(path, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		want := step.text
		if step.notice != "" {
			want = ""
		}
		if got, n := p.Text(), p.Notice("en"); got != want || !strings.Contains(n, step.notice) || step.notice == "" && n != "" {
			t.Errorf("after %q: %q, %q", step.text, got, n)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := p.Text(); got != "" {
		t.Errorf("after removing: %q", got)
	}
}
