package document_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/memory/document"
)

func TestPutKeepsEveryField(t *testing.T) {
	ctx := context.Background()
	c := &clock{noon}
	dir := t.TempDir()
	s := openAt(t, dir, document.Options{Now: c.now})
	want := document.Document{ID: "recipe_1", Title: "红烧肉", Origin: document.Commit,
		Text: "五花肉 \u2028 <&> \x00 🐶\n\nعربي", Created: noon.Add(-time.Hour)}
	if id, err := s.Put(ctx, want); err != nil || id != want.ID {
		t.Fatal(id, err)
	}
	want.Updated = noon
	c.t = noon.Add(time.Hour)
	if _, err := s.Put(ctx, document.Document{ID: "recipe_1", Title: "红烧肉", Origin: document.Commit, Text: want.Text}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Peek(ctx, "recipe_1")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
	want.Text, want.Updated = "other", c.t
	if _, err := s.Put(ctx, want); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = openAt(t, dir, document.Options{Now: c.now})
	if got, err := s.Get(ctx, "recipe_1"); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
	id, err := s.Put(ctx, document.Document{Origin: document.Commit, Text: "no id"})
	if err != nil || id == "" {
		t.Fatal(id, err)
	}
	if n, err := s.Len(ctx); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	for range 2 {
		if err := s.Delete(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Get(ctx, id); !errors.Is(err, document.ErrNotFound) {
		t.Fatal(err)
	}
	if n, err := s.Len(ctx); err != nil || n != 1 {
		t.Fatal(n, err)
	}
}

func TestPutRefuses(t *testing.T) {
	s := openAt(t, t.TempDir(), document.Options{})
	tests := []struct {
		name string
		doc  document.Document
		want error
	}{
		{"path in the id", document.Document{ID: "../x", Origin: document.Commit}, document.ErrInvalid},
		{"dot in the id", document.Document{ID: "x.json", Origin: document.Commit}, document.ErrInvalid},
		{"NUL in the id", document.Document{ID: "x\x00", Origin: document.Commit}, document.ErrInvalid},
		{"long id", document.Document{ID: strings.Repeat("x", 121), Origin: document.Commit}, document.ErrInvalid},
		{"no origin", document.Document{ID: "x"}, document.ErrInvalid},
		{"long title", document.Document{ID: "x", Origin: document.Commit, Title: strings.Repeat("x", document.MaxTitle+1)}, document.ErrInvalid},
		{"huge text", document.Document{ID: "x", Origin: document.Commit, Text: strings.Repeat("x", document.MaxText+1)}, document.ErrTooBig},
		{"event without id", document.Document{ID: "x", Origin: document.Context, Events: []document.Event{{Text: "x"}}}, document.ErrInvalid},
		{"event twice", document.Document{ID: "x", Origin: document.Context, Events: []document.Event{{ID: "e"}, {ID: "e"}}}, document.ErrInvalid},
		{"year 10000", document.Document{ID: "x", Origin: document.Commit, Created: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, document.ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := s.Put(context.Background(), tt.doc); !errors.Is(err, tt.want) {
				t.Fatal(err)
			}
			if n, err := s.Len(context.Background()); n != 0 || err != nil {
				t.Fatal(n, err)
			}
		})
	}
	for _, id := range []string{"../../etc/passwd", "", "a/b", "x.json"} {
		if _, err := s.Get(context.Background(), id); !errors.Is(err, document.ErrNotFound) {
			t.Fatalf("%q: %v", id, err)
		}
	}
}

// TestReadsCostNoSync: a hundred reads wait for nothing, and are counted.
func TestReadsCostNoSync(t *testing.T) {
	ctx := context.Background()
	c := &clock{noon}
	dir := t.TempDir()
	s := openAt(t, dir, document.Options{Now: c.now})
	if _, err := s.Put(ctx, document.Document{ID: "a", Origin: document.Commit, Text: "x"}); err != nil {
		t.Fatal(err)
	}
	before := s.Syncs()
	c.t = noon.Add(time.Hour)
	for range 100 {
		if _, err := s.Get(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Peek(ctx, "a"); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Syncs() - before; n != 0 {
		t.Fatalf("%d syncs", n)
	}
	check := func(when string) {
		t.Helper()
		if err := s.List(ctx, func(m document.Meta) bool {
			if m.Access != 100 || !m.LastAccess.Equal(c.t) {
				t.Fatalf("%s: %d reads, the last %v", when, m.Access, m.LastAccess)
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
	check("before the flush")
	for range 3 {
		if err := s.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Syncs() - before; n != 1 {
		t.Fatalf("%d syncs for three flushes", n)
	}
	check("after it")
	closeStore(t, s)
	s = openAt(t, dir, document.Options{})
	check("after a restart")
}

func TestCold(t *testing.T) {
	ctx := context.Background()
	c := &clock{noon}
	s := openAt(t, t.TempDir(), document.Options{Now: c.now})
	read := func(id string, n int) {
		t.Helper()
		for range n {
			if _, err := s.Get(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, id := range []string{"old", "old_read_twice", "old_read_often", "read_lately", "archived", "changed_lately"} {
		if _, err := s.Put(ctx, document.Document{ID: id, Origin: document.Commit, Text: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.ForEntity(ctx, 7, "mama", "x"); err != nil {
		t.Fatal(err)
	}
	put(t, s, event("voice", 1))
	if err := s.Archive(ctx, "archived"); err != nil {
		t.Fatal(err)
	}
	read("old_read_twice", 2)
	read("old_read_often", 3)
	if err := s.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	c.t = noon.Add(50 * time.Hour)
	read("read_lately", 1)
	if _, err := s.Put(ctx, document.Document{ID: "changed_lately", Origin: document.Commit, Text: "y"}); err != nil {
		t.Fatal(err)
	}
	cold := func(at time.Time) (ids []string) {
		t.Helper()
		metas, err := s.Cold(ctx, at, 72*time.Hour, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range metas {
			ids = append(ids, m.ID)
		}
		slices.Sort(ids)
		return ids
	}
	if got := cold(noon.Add(72 * time.Hour)); got != nil {
		t.Fatalf("too early: %q", got)
	}
	moved := all(t, s)
	ctxDoc := moved[slices.IndexFunc(moved, func(d document.Document) bool { return d.Origin == document.Context })].ID
	want := []string{ctxDoc, "old", "old_read_twice"}
	if got := cold(noon.Add(73 * time.Hour)); !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for range 2 {
		for _, id := range want {
			if err := s.Archive(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := cold(noon.Add(73 * time.Hour)); got != nil {
		t.Fatalf("archived and cold: %q", got)
	}
	if got, want := cold(noon.Add(1000*time.Hour)), []string{"changed_lately", "read_lately"}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	if err := s.Archive(ctx, "nothing"); !errors.Is(err, document.ErrNotFound) {
		t.Fatal(err)
	}
	// What comes late for an archived day begins a new document.
	before := len(all(t, s))
	put(t, s, event("voice", 2))
	if got := len(all(t, s)); got != before+1 {
		t.Fatalf("%d documents, %d before", got, before)
	}
}

// TestAHundredTidies: the pages of entities are written when they change and
// never else.
func TestAHundredTidies(t *testing.T) {
	ctx := context.Background()
	c := &clock{noon}
	dir := t.TempDir()
	s := openAt(t, dir, document.Options{Now: c.now})
	pages := []document.Page{{Entity: 1, Title: "妈妈", Text: "住在杭州"}, {Entity: 2, Title: "car", Text: "in the yard"}}
	if ids, err := s.ForEntities(ctx, pages); err != nil || len(ids) != 2 {
		t.Fatal(ids, err)
	}
	if err := s.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	before, syncs := all(t, s), s.Syncs()
	for i := range 100 {
		c.t = c.t.Add(time.Hour)
		if ids, err := s.ForEntities(ctx, pages); err != nil || len(ids) != 0 {
			t.Fatal(ids, err)
		}
		if r, err := s.Reindex(ctx); err != nil || len(r.Changed)+len(r.Gone) > 0 {
			t.Fatal(r, err)
		}
		if i == 50 {
			closeStore(t, s)
			s = openAt(t, dir, document.Options{Now: c.now})
			syncs = s.Syncs()
		}
	}
	if got := all(t, s); !reflect.DeepEqual(got, before) || s.Syncs() != syncs {
		t.Fatalf("%d syncs; got %+v", s.Syncs()-syncs, got)
	}
	if changed, err := s.ForEntity(ctx, 1, "妈妈", "住在上海"); err != nil || !changed {
		t.Fatal(changed, err)
	}
	d, err := s.Get(ctx, document.EntityID(1))
	if err != nil || d.Text != "住在上海" || d.Entity != 1 || !d.Created.Equal(noon) || len(all(t, s)) != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	if _, err := s.ForEntity(ctx, 0, "x", "y"); !errors.Is(err, document.ErrInvalid) {
		t.Fatal(err)
	}
	if m, ok, err := s.ByEntity(ctx, 1); err != nil || !ok || m.Title != "妈妈" || m.Access != 1 {
		t.Fatal(m, ok, err)
	}
	if _, ok, err := s.ByEntity(ctx, 3); err != nil || ok {
		t.Fatal(ok, err)
	}
}

// TestReindexFindsWhatHandsDid: files added, edited, removed and broken beside
// the running program.
func TestReindexFindsWhatHandsDid(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	var heard []document.Notice
	s := openAt(t, dir, document.Options{Notify: func(n document.Notice) { heard = append(heard, n) }})
	for _, id := range []string{"stays", "edited", "removed", "broken"} {
		if _, err := s.Put(ctx, document.Document{ID: id, Title: id, Origin: document.Commit, Text: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	file := func(id string) string {
		for _, p := range paths(t, dir) {
			if filepath.Base(p) == id+".json" {
				return p
			}
		}
		t.Fatalf("no file of %s", id)
		return ""
	}
	raw, err := os.ReadFile(file("edited"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(path, data string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file("edited"), strings.Replace(string(raw), `"title": "edited"`, `"title": "by hand"`, 1))
	write(file("broken"), "{")
	if err := os.Remove(file("removed")); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(filepath.Dir(file("stays")), "notes.txt"), "not ours")
	r, err := s.Reindex(ctx)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(r.Gone)
	if !slices.Equal(r.Changed, []string{"edited"}) || !slices.Equal(r.Gone, []string{"broken", "removed"}) {
		t.Fatalf("%+v", r)
	}
	if len(heard) != 1 || !strings.Contains(heard[0].Path, "broken.json") || !errors.Is(heard[0].Err, document.ErrDamaged) {
		t.Fatalf("heard %+v", heard)
	}
	if got := titles(t, s); !slices.Equal(got, []string{"by hand", "stays"}) {
		t.Fatalf("%q", got)
	}
	if r, err := s.Reindex(ctx); err != nil || len(r.Changed)+len(r.Gone) > 0 {
		t.Fatalf("a second time: %+v, %v", r, err)
	}
}
