package document_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"homeagent/memory/disk/disktest"
	"homeagent/memory/document"
)

// script is a short run of a house; each step can be repeated and then changes
// nothing more.
var script = []func(*document.Store) error{
	func(s *document.Store) error { return move(s, events("voice", 0, 4)...) },
	func(s *document.Store) error {
		_, err := s.ForEntity(context.Background(), 1, "妈妈", "住在杭州")
		return err
	},
	func(s *document.Store) error {
		return move(s, append(events("voice", 4, 3), events("web", 0, 2)...)...)
	},
	func(s *document.Store) error { return s.Flush(context.Background()) },
	func(s *document.Store) error {
		_, err := s.Put(context.Background(), document.Document{ID: "note", Origin: document.Commit, Text: "牛奶"})
		return err
	},
	func(s *document.Store) error { return move(s, events("voice", 7, 3)...) },
	func(s *document.Store) error {
		_, err := s.ForEntity(context.Background(), 1, "妈妈", "住在上海")
		return err
	},
	func(s *document.Store) error { return s.Delete(context.Background(), "note") },
	func(s *document.Store) error { return move(s, events("web", 2, 2)...) },
}

func move(s *document.Store, evs ...document.Event) error {
	_, err := s.PutEvents(context.Background(), evs)
	return err
}

// indexKeeps is what becomes of the index, which a power cut may set back or
// damage, but never behind what was marked durably.
var indexKeeps = []string{"kept", "lost", "garbage"}

// TestEveryFaultAtEveryCall runs the script with each fault at each call of the
// file layer, restarts, and holds what is there against what was acknowledged;
// then the rest of the script must go through and end as without a fault.
func TestEveryFaultAtEveryCall(t *testing.T) {
	quiet := document.Options{Now: (&clock{noon}).now, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	open := func(t *testing.T, d *disktest.Disk, dir string) *document.Store {
		t.Helper()
		opts := quiet
		opts.FS = newModel(d)
		s, _ := openNotices(t, dir, opts)
		return s
	}
	d := disktest.New()
	s := open(t, d, t.TempDir())
	d.FaultAt(0, disktest.Fail)
	for _, step := range script {
		if err := step(s); err != nil {
			t.Fatal(err)
		}
	}
	calls, want := d.Calls(), all(t, s)
	closeStore(t, s)
	stride := 1
	if testing.Short() {
		stride = 5
	}
	for _, fault := range disktest.Faults {
		for n := 1; n <= calls; n += stride {
			// The combinations of what stays are spread over the calls.
			keep, indexKeep := disktest.Keeps[n%len(disktest.Keeps)], indexKeeps[n/len(disktest.Keeps)%len(indexKeeps)]
			t.Run(fmt.Sprintf("%v at %d, %v, index %s", fault, n, keep, indexKeep), func(t *testing.T) {
				d, dir := disktest.New(), t.TempDir()
				s := open(t, d, dir)
				d.FaultAt(n, fault)
				done := 0
				for _, step := range script {
					if step(s) != nil {
						break
					}
					done++
				}
				if done == len(script) && fault != disktest.Full { // which only writes notice
					t.Fatal("no step failed")
				}
				if fault == disktest.Fail || fault == disktest.Full {
					// The program lives on: what failed is tried again. A full
					// disk has room again.
					if fault == disktest.Full {
						d.FaultAt(0, disktest.Fail)
					}
					for i, step := range script[done:] {
						if err := step(s); err != nil {
							t.Fatalf("step %d: %v", done+i, err)
						}
					}
					sameDocs(t, "going on", all(t, s), want)
				}
				s.Close() // the power is gone: its error is the wish
				setBack(t, dir, indexKeep)
				d = d.Reboot(keep)
				s = open(t, d, dir)
				once(t, all(t, s))
				if fault == disktest.Fail || fault == disktest.Full {
					done = len(script)
				}
				acknowledged(t, s, done)
				for i, step := range script[min(done, len(script)-1):] {
					if err := step(s); err != nil {
						t.Fatalf("after the restart, step %d: %v", done+i, err)
					}
				}
				once(t, all(t, s))
				sameDocs(t, "after the restart", all(t, s), want)
				closeStore(t, s)
			})
		}
	}
}

// setBack does to the index what its name says.
func setBack(t *testing.T, dir, keep string) {
	t.Helper()
	path := filepath.Join(dir, "index.db")
	switch keep {
	case "lost":
		for _, end := range []string{"", "-wal", "-shm"} {
			os.Remove(path + end) // those that are there
		}
	case "garbage":
		if err := os.WriteFile(path, []byte("no database any more"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// once: no event is in two documents.
func once(t *testing.T, docs []document.Document) {
	t.Helper()
	ids := eventIDs(docs)
	slices.Sort(ids)
	if n := len(ids); len(slices.Compact(ids)) != n {
		t.Fatalf("an event is there twice: %q", ids)
	}
}

// acknowledged: what the first done steps of the script have promised.
func acknowledged(t *testing.T, s *document.Store, done int) {
	t.Helper()
	ids := eventIDs(all(t, s))
	need := map[int][]document.Event{0: events("voice", 0, 4), 2: append(events("voice", 4, 3), events("web", 0, 2)...), 5: events("voice", 7, 3), 8: events("web", 2, 2)}
	for step, evs := range need {
		for _, e := range evs {
			if step < done && !slices.Contains(ids, e.ID) {
				t.Fatalf("%s of step %d of %d is lost", e.ID, step, done)
			}
		}
	}
	if done > 1 {
		d, err := s.Peek(context.Background(), document.EntityID(1))
		if err != nil || !hasWord(d.Text, "住在杭州", "住在上海") || done > 6 && d.Text != "住在上海" {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	_, err := s.Peek(context.Background(), "note")
	if done > 4 && done < 7 && err != nil || done > 7 && err == nil {
		t.Fatalf("the note after %d steps: %v", done, err)
	}
}

// sameDocs compares contents; which of a day's documents has an event may
// differ where one was begun twice.
func sameDocs(t *testing.T, when string, got, want []document.Document) {
	t.Helper()
	texts := func(docs []document.Document) map[string]string {
		m := map[string]string{}
		for _, d := range docs {
			if d.Text != "" {
				m[d.ID] = d.Text
			}
			for _, e := range d.Events {
				m[e.ID] = e.Text
			}
		}
		return m
	}
	if g, w := texts(got), texts(want); !reflect.DeepEqual(g, w) {
		t.Fatalf("%s: got %v, want %v", when, g, w)
	}
}
