package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/memory/disk/disktest"
	"homeagent/memory/knowledge"
)

var bg = context.Background()

// clock is a time that tests move; it begins with the real one, because files
// have real times.
type clock struct{ t time.Time }

func newClock() *clock { return &clock{time.Now()} }

func (c *clock) now() time.Time { return c.t }

func (c *clock) later() { c.t = c.t.Add(time.Minute) }

type house struct {
	dir, index string
	clock      *clock
	heard      []knowledge.Notice
}

func newHouse(t testing.TB) *house {
	data := t.TempDir()
	return &house{dir: filepath.Join(data, "knowledge"), index: filepath.Join(data, "knowledge.db"), clock: newClock()}
}

func (h *house) open(t testing.TB) (*knowledge.Store, []knowledge.Notice) {
	t.Helper()
	s, notices, err := knowledge.Open(bg, h.dir, h.index, knowledge.Options{Now: h.clock.now,
		Notify: func(n knowledge.Notice) { h.heard = append(h.heard, n) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, notices
}

func (h *house) quiet(t testing.TB) *knowledge.Store {
	t.Helper()
	s, notices := h.open(t)
	if len(notices) > 0 {
		t.Fatalf("notices: %v", notices)
	}
	return s
}

// write puts a content in place by hand.
func (h *house) write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(h.dir, name, "content.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ask is the best hit as "name|heading|text", "" if there is none.
func ask(t testing.TB, s *knowledge.Store, query string) string {
	t.Helper()
	hits, err := s.Search(bg, query, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(hits) == 0 {
		return ""
	}
	return hits[0].Name + "|" + hits[0].Heading + "|" + hits[0].Text
}

func names(s *knowledge.Store) (out []string) {
	for _, e := range s.List() {
		if e.Err == nil {
			out = append(out, e.Name)
		}
	}
	return out
}

func TestCreateAndFind(t *testing.T) {
	h := newHouse(t)
	s := h.quiet(t)
	manual := "# 洗衣机\n\n## 童锁\n\n按住“水位”键三秒。\n\n## Filter\n\nClean the lint filter every month.\n"
	for range 2 {
		if err := s.Create(bg, "洗衣机说明书", manual); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Create(bg, "recipes", "Pancakes need two eggs."); err != nil {
		t.Fatal(err)
	}
	check := func(s *knowledge.Store) {
		t.Helper()
		for query, want := range map[string]string{
			"童锁怎么开":                         "洗衣机说明书|洗衣机 › 童锁|按住“水位”键三秒。",
			"how often to clean the filter": "洗衣机说明书|洗衣机 › Filter|Clean the lint filter every month.",
			"说明书里的水位":                       "洗衣机说明书|洗衣机 › 童锁|按住“水位”键三秒。",
			"eggs in a pancake":             "recipes||Pancakes need two eggs.",
			"spaceship":                     "",
			`"' OR 1=1 -- NEAR(x) *`:        "",
		} {
			if got := ask(t, s, query); got != want {
				t.Errorf("%s: got %q, want %q", query, got, want)
			}
		}
		if got := names(s); !slices.Equal(got, []string{"recipes", "洗衣机说明书"}) {
			t.Errorf("names %q", got)
		}
		if text, err := s.Read(bg, "洗衣机说明书"); err != nil || text != manual {
			t.Errorf("read %q, %v", text, err)
		}
	}
	check(s)
	if err := s.Create(bg, "recipes", "Pancakes need three eggs."); !errors.Is(err, knowledge.ErrExists) {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check(h.quiet(t))
}

func TestCreateRefuses(t *testing.T) {
	h := newHouse(t)
	s := h.quiet(t)
	if err := os.Symlink(t.TempDir(), filepath.Join(h.dir, "link")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, text string
		want       error
	}{
		{"../x", "x", knowledge.ErrName},
		{"a/b", "x", knowledge.ErrName},
		{".hidden", "x", knowledge.ErrName},
		{"a.md", "x", knowledge.ErrName},
		{"", "x", knowledge.ErrName},
		{"nul\x00", "x", knowledge.ErrName},
		{"rtl\u202e", "x", knowledge.ErrName},
		{"bad\xff", "x", knowledge.ErrName},
		{strings.Repeat("名", 41), "x", knowledge.ErrName},
		{"binary", "\x00\x01", knowledge.ErrText},
		{"gbk", "\xd4\xbf\xb3\xd7", knowledge.ErrText},
		{"huge", strings.Repeat("x", knowledge.MaxContent+1), knowledge.ErrTooBig},
		{"link", "x", knowledge.ErrOutside},
	}
	for _, tt := range tests {
		if err := s.Create(bg, tt.name, tt.text); !errors.Is(err, tt.want) {
			t.Errorf("%q: %v", tt.name, err)
		}
		if _, err := s.Read(bg, tt.name); err == nil {
			t.Errorf("%q can be read", tt.name)
		}
	}
	if got := names(s); got != nil {
		t.Fatalf("names %q", got)
	}
}

// TestEditedByHand: adding, editing and removing by hand is found by the next
// question, or by the next start.
func TestEditedByHand(t *testing.T) {
	h := newHouse(t)
	s := h.quiet(t)
	h.write(t, "wifi", "The guest network is called Garten.")
	expect := func(when, query, want string) {
		t.Helper()
		h.clock.later()
		if got := ask(t, s, query); got != want {
			t.Errorf("%s: got %q, want %q", when, got, want)
		}
	}
	expect("added", "guest network", "wifi||The guest network is called Garten.")
	h.write(t, "wifi", "The guest network is called Wiesen.") // of the same size
	expect("edited", "guest network", "wifi||The guest network is called Wiesen.")
	expect("old words", "Garten", "")
	h.write(t, "wifi", "\ufeffThe guest network is called Feld.")
	expect("with a byte order mark", "guest network", "wifi||The guest network is called Feld.")
	if err := os.RemoveAll(filepath.Join(h.dir, "wifi")); err != nil {
		t.Fatal(err)
	}
	expect("removed", "guest network", "")
	if len(h.heard) > 0 {
		t.Errorf("heard %v", h.heard)
	}
	h.write(t, "wifi", "The guest network is called Berg.")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	h.write(t, "bins", "The bins are emptied on Monday.")
	s = h.quiet(t)
	if got := ask(t, s, "guest network"); got != "wifi||The guest network is called Berg." {
		t.Error(got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(h.dir, "wifi")); err != nil {
		t.Fatal(err)
	}
	s = h.quiet(t)
	if got := ask(t, s, "guest network"); got != "" {
		t.Error(got)
	}
	if got := names(s); !slices.Equal(got, []string{"bins"}) {
		t.Errorf("names %q", got)
	}
}

// TestScanIsIncremental: a file of the same time and size is not read again,
// unless it was just being written; and the index is asked.
func TestScanIsIncremental(t *testing.T) {
	h := newHouse(t)
	path := h.write(t, "wifi", "called Garten")
	old := time.Now().Add(-time.Hour)
	same := func() {
		t.Helper()
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	same()
	s := h.quiet(t)
	h.write(t, "wifi", "called Wiesen")
	same()
	if _, err := s.Scan(bg); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, s, "called"); got != "wifi||called Garten" {
		t.Fatalf("read again: %q", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		os.Remove(h.index + end) // those that are there
	}
	if got := ask(t, h.quiet(t), "called"); got != "wifi||called Wiesen" {
		t.Fatalf("a new index: %q", got)
	}
}

var errCut = errors.New("the power is gone")

// TestCreateIsCut at each step of writing: there is nothing of it, or all, and a
// second try goes through.
func TestCreateIsCut(t *testing.T) {
	for n := 0; ; n++ {
		h := newHouse(t)
		cut := &disktest.Cut{Left: n, Err: errCut}
		s, _, err := knowledge.Open(bg, h.dir, h.index, knowledge.Options{FS: cut})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Create(bg, "wifi", "called Garten")
		if cerr := s.Close(); cerr != nil {
			t.Fatal(cerr)
		}
		if err == nil {
			if n < 5 {
				t.Fatalf("only %d steps", n)
			}
			return
		}
		if !errors.Is(err, errCut) {
			t.Fatal(err)
		}
		s = h.quiet(t)
		if text, err := s.Read(bg, "wifi"); text != "called Garten" && !errors.Is(err, knowledge.ErrNotFound) {
			t.Fatalf("cut at %d: %q, %v", n, text, err)
		}
		if err := s.Create(bg, "wifi", "called Garten"); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, s, "Garten"); got != "wifi||called Garten" {
			t.Fatalf("cut at %d: %q", n, got)
		}
	}
}

// TestAskedWhileEdited: eight who ask, one who creates, one who edits by hand.
func TestAskedWhileEdited(t *testing.T) {
	h := newHouse(t)
	s, _, err := knowledge.Open(bg, h.dir, h.index, knowledge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	done := make(chan error, 10)
	stop := make(chan struct{})
	for range 8 {
		go func() {
			var failed error
			for {
				select {
				case <-stop:
					done <- failed
					return
				default:
				}
				_, err := s.Search(bg, "called Garten", 5)
				failed = errors.Join(failed, err)
				s.List()
			}
		}()
	}
	go func() {
		var failed error
		for i := range 30 {
			failed = errors.Join(failed, s.Create(bg, fmt.Sprintf("n%d", i), fmt.Sprintf("number%d is called Garten", i)))
		}
		done <- failed
	}()
	go func() {
		var failed error
		for i := range 30 {
			path := filepath.Join(h.dir, "hand", "content.md")
			failed = errors.Join(failed, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(fmt.Sprintf("edition%d", i)), 0o600))
			_, err := s.Scan(bg)
			failed = errors.Join(failed, err)
		}
		done <- failed
	}()
	for i := range 10 {
		if i == 2 {
			close(stop)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Scan(bg); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{"edition29": "hand||edition29", "number29": "n29||number29 is called Garten", "edition3": ""} {
		if got := ask(t, s, query); got != want {
			t.Errorf("%s: %q", query, got)
		}
	}
}
