package document_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"homeagent/memory/disk/disktest"
	"homeagent/memory/document"
)

// plain is the memory that a store is held against.
type plain struct {
	events   map[string]string
	texts    map[string]string
	archived map[string]bool
	reads    map[string]int
}

// TestStoreAgainstAPlainModel moves, puts, deletes, archives, reads, flushes,
// reindexes, restarts and loses power at random; the store always says what the
// model says.
func TestStoreAgainstAPlainModel(t *testing.T) {
	t.Logf("seed %d (repeat with -seed)", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 5))
	ctx := context.Background()
	d, dir, c := disktest.New(), t.TempDir(), &clock{noon}
	open := func() *document.Store {
		return openAt(t, dir, document.Options{FS: newModel(d), Now: c.now})
	}
	s := open()
	m := plain{map[string]string{}, map[string]string{}, map[string]bool{}, map[string]int{}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	restart := func(power bool) {
		must(s.Close())
		if power {
			d = d.Reboot(disktest.Keeps[rnd.IntN(len(disktest.Keeps))])
			if rnd.IntN(3) == 0 {
				setBack(t, dir, "lost")
				clear(m.reads)
			}
		}
		s = open()
	}
	for step := range 150 {
		c.t = c.t.Add(time.Duration(rnd.IntN(90)) * time.Minute)
		id := fmt.Sprintf("n%d", rnd.IntN(8))
		switch rnd.IntN(10) {
		case 0, 1, 2:
			evs := events([]string{"voice", "web", ""}[rnd.IntN(3)], rnd.IntN(2000), 1+rnd.IntN(20))
			put(t, s, evs...)
			for _, e := range evs {
				m.events[e.ID] = e.Text
			}
		case 3:
			text := fmt.Sprint("text ", rnd.IntN(4))
			_, err := s.Put(ctx, document.Document{ID: id, Origin: document.Commit, Text: text, Archived: m.archived[id]})
			must(err)
			m.texts[id] = text
		case 4:
			e := int64(1 + rnd.IntN(4))
			text := fmt.Sprint("page ", rnd.IntN(2))
			changed, err := s.ForEntity(ctx, e, "x", text)
			must(err)
			if id := document.EntityID(e); changed == (m.texts[id] == text) {
				t.Fatalf("step %d: changed %v, was %q, is %q", step, changed, m.texts[id], text)
			} else {
				m.texts[id] = text
			}
		case 5:
			must(s.Delete(ctx, id))
			delete(m.texts, id)
			delete(m.archived, id)
			delete(m.reads, id)
		case 6:
			err := s.Archive(ctx, id)
			if _, ok := m.texts[id]; ok != (err == nil) || err != nil && !errors.Is(err, document.ErrNotFound) {
				t.Fatalf("step %d: archive %s: %v", step, id, err)
			} else if ok {
				m.archived[id] = true
			}
		case 7:
			got, err := s.Get(ctx, id)
			if want, ok := m.texts[id]; ok != (err == nil) || got.Text != want {
				t.Fatalf("step %d: %q, want %q, %v", step, got.Text, want, err)
			} else if ok {
				m.reads[id]++
			}
		case 8:
			must(s.Flush(ctx))
			r, err := s.Reindex(ctx)
			if err != nil || len(r.Changed)+len(r.Gone) > 0 {
				t.Fatalf("step %d: %+v, %v", step, r, err)
			}
		default:
			restart(rnd.IntN(2) == 0)
		}
		if step%10 == 9 {
			m.check(t, step, s)
		}
	}
}

func (m plain) check(t *testing.T, step int, s *document.Store) {
	t.Helper()
	docs := all(t, s)
	once(t, docs)
	evs, texts, archived, reads := map[string]string{}, map[string]string{}, map[string]bool{}, map[string]int{}
	for _, d := range docs {
		if d.Origin != document.Context {
			texts[d.ID] = d.Text
		}
		if d.Archived {
			archived[d.ID] = true
		}
		for _, e := range d.Events {
			evs[e.ID] = e.Text
		}
		if !slices.IsSortedFunc(d.Events, func(a, b document.Event) int { return int(a.Seq - b.Seq) }) {
			t.Fatalf("step %d: %s is out of order", step, d.ID)
		}
	}
	if err := s.List(context.Background(), func(mt document.Meta) bool {
		if mt.Access > 0 {
			reads[mt.ID] = mt.Access
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(evs, m.events) || !maps.Equal(texts, m.texts) || !maps.Equal(archived, m.archived) || !maps.Equal(reads, m.reads) {
		t.Fatalf("step %d: %d events of %d; texts %v, want %v; archived %v, want %v; reads %v, want %v",
			step, len(evs), len(m.events), texts, m.texts, archived, m.archived, reads, m.reads)
	}
}

// TestAnIndexMadeBehindOpen: closing in the middle is quick and harmless, a move
// waits, and knows what the files have.
func TestAnIndexMadeBehindOpen(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := openAt(t, dir, document.Options{})
	for i := range 40 {
		e := event(fmt.Sprint("s", i), 0)
		put(t, s, e)
	}
	closeStore(t, s)
	for range 3 {
		setBack(t, dir, "lost")
		s, notices, err := document.Open(dir, document.Options{Location: time.UTC})
		if err != nil || len(notices) > 0 {
			t.Fatal(notices, err)
		}
		closeStore(t, s)
	}
	setBack(t, dir, "lost")
	s, _, err := document.Open(dir, document.Options{Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	put(t, s, event("s7", 0), event("s39", 0))
	docs := all(t, s)
	once(t, docs)
	if len(docs) != 40 {
		t.Fatalf("%d documents", len(docs))
	}
	closeStore(t, s)
	if err := s.Ready(ctx); err != nil { // it was
		t.Fatal(err)
	}
	if _, err := s.Has(ctx, "x"); err == nil {
		t.Fatal("a closed store answers")
	}
}
