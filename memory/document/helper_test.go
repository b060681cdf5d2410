package document_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/memory/disk/disktest"
	"homeagent/memory/document"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// clock is a time that tests move.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

// openAt opens a store that must have nothing to tell.
func openAt(t testing.TB, dir string, opts document.Options) *document.Store {
	t.Helper()
	s, notices := openNotices(t, dir, opts)
	if len(notices) > 0 {
		t.Fatalf("notices: %+v", notices)
	}
	return s
}

func openNotices(t testing.TB, dir string, opts document.Options) (*document.Store, []document.Notice) {
	t.Helper()
	if opts.Location == nil {
		opts.Location = time.UTC
	}
	s, notices, err := document.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s, notices
}

func closeStore(t testing.TB, s *document.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// event is the n-th event of a stream, a minute after the one before.
func event(stream string, n int) document.Event {
	return document.Event{ID: fmt.Sprintf("%s-t%04d/u", stream, n), Turn: fmt.Sprintf("t%04d", n), Stream: stream, Seq: int64(n) * 1000,
		Time: noon.Add(time.Duration(n) * time.Minute), Role: "user", Speaker: "mama", Text: fmt.Sprintf("第 %d 句 number %d", n, n)}
}

func events(stream string, from, n int) (out []document.Event) {
	for i := range n {
		out = append(out, event(stream, from+i))
	}
	return out
}

func put(t testing.TB, s *document.Store, evs ...document.Event) []document.Document {
	t.Helper()
	moved, err := s.PutEvents(context.Background(), evs)
	if err != nil {
		t.Fatal(err)
	}
	return moved
}

// all is every document, in the order of List.
func all(t testing.TB, s *document.Store) (docs []document.Document) {
	t.Helper()
	err := s.List(context.Background(), func(m document.Meta) bool {
		d, err := s.Peek(context.Background(), m.ID)
		if err != nil {
			t.Fatal(err)
		}
		if m.Events != len(d.Events) || m.Title != d.Title || m.Archived != d.Archived {
			t.Fatalf("the index says %+v of %s with %d events", m, d.ID, len(d.Events))
		}
		docs = append(docs, d)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// eventIDs are the ids of all events of documents.
func eventIDs(docs []document.Document) (ids []string) {
	for _, d := range docs {
		for _, e := range d.Events {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

func titles(t testing.TB, s *document.Store) (out []string) {
	t.Helper()
	for _, d := range all(t, s) {
		out = append(out, d.Title)
	}
	slices.Sort(out)
	return out
}

// paths are the document files below dir.
func paths(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// modelDisk is disktest.Disk with folders: they are there while something is in
// them, and once they were made.
type modelDisk struct {
	*disktest.Disk
	dirs map[string]bool
}

func newModel(d *disktest.Disk) modelDisk {
	m := modelDisk{d, map[string]bool{}}
	for _, name := range d.Names() {
		m.dirs[filepath.Dir(name)] = true
	}
	return m
}

func (m modelDisk) MkdirAll(path string, _ os.FileMode) error {
	m.dirs[filepath.Clean(path)] = true
	return nil
}

func (m modelDisk) Lstat(path string) (fs.FileInfo, error) {
	if m.dirs[filepath.Clean(path)] {
		return info{name: filepath.Base(path), mode: fs.ModeDir}, nil
	}
	b, err := m.ReadFile(path)
	if err != nil {
		return nil, err
	}
	h := fnv.New64a()
	h.Write(b)
	// Another content has another time.
	return info{name: filepath.Base(path), size: int64(len(b)), mtime: time.Unix(0, int64(h.Sum64()>>1))}, nil
}

type info struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.mtime }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }

func hasWord(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
