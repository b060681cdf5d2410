package document_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"homeagent/memory/disk/disktest"
	"homeagent/memory/document"
)

// noThree keeps every event but the third and those of the web.
func noThree(e document.Event) bool {
	return e.ID != event("voice", 3).ID && e.Stream != "web"
}

func TestRedact(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := openAt(t, dir, document.Options{})
	moved := put(t, s, append(events("voice", 0, 6), events("web", 0, 2)...)...)
	gone, docs, err := s.Redact(ctx, noThree)
	if err != nil || len(gone) != 3 || len(docs) != 2 {
		t.Fatal(gone, docs, err)
	}
	if _, err := s.Peek(ctx, moved[1].ID); !errors.Is(err, document.ErrNotFound) {
		t.Fatalf("an empty document stays: %v", err)
	}
	if held, err := s.Has(ctx, gone...); err != nil || len(held) > 0 {
		t.Fatal(held, err)
	}
	for _, p := range paths(t, dir) {
		b, err := os.ReadFile(p)
		if err != nil || strings.Contains(string(b), event("voice", 3).Text) {
			t.Fatalf("%s still has it, %v", p, err)
		}
	}
	syncs := s.Syncs()
	if gone, docs, err := s.Redact(ctx, noThree); err != nil || len(gone)+len(docs) > 0 || s.Syncs() != syncs {
		t.Fatal(gone, docs, err)
	}
	closeStore(t, s)
	s = openAt(t, dir, document.Options{})
	if got := eventIDs(all(t, s)); len(got) != 5 {
		t.Fatalf("%q", got)
	}
}

// TestRedactIsCut at each call: a second try ends it, and nothing else is lost.
func TestRedactIsCut(t *testing.T) {
	ctx := context.Background()
	for n := 1; ; n++ {
		d, dir := disktest.New(), t.TempDir()
		s := openAt(t, dir, document.Options{FS: newModel(d)})
		put(t, s, append(events("voice", 0, 6), events("web", 0, 2)...)...)
		d.FaultAt(n, disktest.Tear)
		_, _, err := s.Redact(ctx, noThree)
		s.Close() // the power is gone: its error is the wish
		if err == nil {
			if n < 5 {
				t.Fatalf("only %d calls", n)
			}
			return
		}
		d = d.Reboot(disktest.Keeps[n%len(disktest.Keeps)])
		s = openAt(t, dir, document.Options{FS: newModel(d)})
		if _, _, err := s.Redact(ctx, noThree); err != nil {
			t.Fatal(err)
		}
		ids := eventIDs(all(t, s))
		if len(ids) != 5 || slices.Contains(ids, event("voice", 3).ID) {
			t.Fatalf("cut at %d: %q", n, ids)
		}
		acknowledgedEvents(t, s, events("voice", 4, 2))
	}
}
