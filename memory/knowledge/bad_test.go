package knowledge_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"homeagent/memory/knowledge"
)

// TestWhatCannotBeTakenIn is named, in both languages, once; the rest works.
func TestWhatCannotBeTakenIn(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "content.md")
	if err := os.WriteFile(outside, []byte("secret of another folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		entry string
		make  func(t *testing.T, h *house)
		want  error
	}{
		{"binary", "x", func(t *testing.T, h *house) { h.write(t, "x", "PNG\x00\x01") }, knowledge.ErrText},
		{"GBK", "x", func(t *testing.T, h *house) { h.write(t, "x", "\xd4\xbf\xb3\xd7 secret") }, knowledge.ErrText},
		{"huge", "x", func(t *testing.T, h *house) {
			h.write(t, "x", strings.Repeat("secret ", knowledge.MaxContent/6))
		}, knowledge.ErrTooBig},
		{"bad name", "a b", func(t *testing.T, h *house) { h.write(t, "a b", "secret") }, knowledge.ErrName},
		{"text beside the folders", "notes.md", func(t *testing.T, h *house) {
			if err := os.WriteFile(filepath.Join(h.dir, "notes.md"), []byte("secret"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, knowledge.ErrPlace},
		{"folder that is a link", "x", func(t *testing.T, h *house) {
			if err := os.Symlink(filepath.Dir(outside), filepath.Join(h.dir, "x")); err != nil {
				t.Fatal(err)
			}
		}, knowledge.ErrOutside},
		{"content that is a link", "x", func(t *testing.T, h *house) {
			if err := os.Remove(h.write(t, "x", "")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outside, filepath.Join(h.dir, "x", "content.md")); err != nil {
				t.Fatal(err)
			}
		}, knowledge.ErrOutside},
		{"a folder", "x", func(t *testing.T, h *house) {
			if err := os.MkdirAll(filepath.Join(h.dir, "x", "content.md"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, knowledge.ErrKind},
		{"a pipe", "x", func(t *testing.T, h *house) {
			if err := os.Remove(h.write(t, "x", "")); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(filepath.Join(h.dir, "x", "content.md"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, knowledge.ErrKind},
		{"empty", "", func(t *testing.T, h *house) { h.write(t, "x", "") }, nil},
		{"an empty folder", "", func(t *testing.T, h *house) {
			if err := os.MkdirAll(filepath.Join(h.dir, "x"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, nil},
		{"hidden", "", func(t *testing.T, h *house) { h.write(t, ".git", "secret") }, nil},
	}
	check := func(t *testing.T, notices []knowledge.Notice, entry string, want error) {
		t.Helper()
		if want == nil {
			if len(notices) > 0 {
				t.Fatalf("notices %v", notices)
			}
			return
		}
		if len(notices) != 1 || notices[0].Name != entry || !errors.Is(notices[0].Err, want) || notices[0].Zh == "" || !strings.Contains(notices[0].En, entry) {
			t.Fatalf("notices %v", notices)
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t)
			h.write(t, "fine", "the fine one")
			tt.make(t, h)
			for range 2 { // at each start
				s, notices := h.open(t)
				check(t, notices, tt.entry, tt.want)
				again, err := s.Scan(bg)
				if err != nil {
					t.Fatal(err)
				}
				check(t, again, "", nil)
				h.clock.later()
				if got := ask(t, s, "fine"); got != "fine||the fine one" {
					t.Fatal(got)
				}
				if got := ask(t, s, "secret"); got != "" {
					t.Fatal(got)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			// The same while it runs.
			h = newHouse(t)
			h.write(t, "fine", "the fine one")
			s := h.quiet(t)
			tt.make(t, h)
			for range 3 {
				h.clock.later()
				if got := ask(t, s, "secret"); got != "" {
					t.Fatal(got)
				}
			}
			check(t, h.heard, tt.entry, tt.want)
		})
	}
}

// TestGoneBad: what was fine and is no longer is not found any more.
func TestGoneBad(t *testing.T) {
	h := newHouse(t)
	h.write(t, "wifi", "called Garten")
	s := h.quiet(t)
	h.write(t, "wifi", "called Garten\x00")
	h.clock.later()
	if got := ask(t, s, "Garten"); got != "" || len(h.heard) != 1 {
		t.Fatalf("%q, heard %v", got, h.heard)
	}
	h.write(t, "wifi", "called Garten again")
	h.clock.later()
	if got := ask(t, s, "Garten"); got == "" || len(h.heard) != 1 {
		t.Fatalf("%q, heard %v", got, h.heard)
	}
}

// TestBadCaches: whatever has become of the index and of what was seen, all is
// found again.
func TestBadCaches(t *testing.T) {
	for _, victim := range []string{"index", "seen", "both"} {
		for name, data := range map[string][]byte{"empty": nil, "garbage": []byte(strings.Repeat("garbage ", 2000)), "null": []byte("null")} {
			t.Run(victim+" "+name, func(t *testing.T) {
				h := newHouse(t)
				h.write(t, "wifi", "called Garten")
				if err := h.quiet(t).Close(); err != nil {
					t.Fatal(err)
				}
				for path, hit := range map[string]bool{h.index: victim != "seen", h.index + ".seen": victim != "index"} {
					if !hit {
						continue
					}
					if err := os.WriteFile(path, data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if got := ask(t, h.quiet(t), "called"); got != "wifi||called Garten" {
					t.Fatal(got)
				}
			})
		}
	}
	t.Run("a file in the folder's place", func(t *testing.T) {
		h := newHouse(t)
		if err := os.WriteFile(h.dir, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, notices := h.open(t)
		if len(notices) != 1 || notices[0].Aside == "" {
			t.Fatalf("notices %v", notices)
		}
		if err := s.Create(bg, "a", "x"); err != nil {
			t.Fatal(err)
		}
	})
}
