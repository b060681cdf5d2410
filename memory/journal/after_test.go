package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"homeagent/memory/disk/disktest"
	"homeagent/memory/journal"
)

// walk reads the whole journal behind seq by pages of limit.
func walk(t testing.TB, j *journal.Journal, seq uint64, limit int) (ids []string, last uint64) {
	t.Helper()
	for {
		lines, err := j.After(context.Background(), seq, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) == 0 {
			return ids, seq
		}
		if len(lines) > limit {
			t.Fatalf("%d lines, the limit is %d", len(lines), limit)
		}
		for _, l := range lines {
			if l.Seq <= seq {
				t.Fatalf("number %d comes behind %d", l.Seq, seq)
			}
			seq = l.Seq
			ids = append(ids, l.ID)
		}
	}
}

func TestAfterGoesThroughFilesAndOutbox(t *testing.T) {
	db, dir := openState(t), t.TempDir()
	j, err := journal.Open(db, dir, journal.Options{MaxFile: 700})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := walk(t, j, 0, 3); len(got) != 0 {
		t.Fatalf("an empty journal has %q", got)
	}
	all := names(20)
	for i, id := range all {
		if err := add(db, j, turn(id)); err != nil {
			t.Fatal(err)
		}
		if i%4 == 3 && i < 16 {
			if err := j.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if files, _ := j.Files(); len(files) < 3 {
		t.Fatalf("only %d files", len(files))
	}
	for _, limit := range []int{1, 3, 7, 100} {
		for _, seq := range []uint64{0, 1, 5, 15, 16, 19, 20, 99} {
			if got, _ := walk(t, j, seq, limit); !slices.Equal(got, all[min(int(seq), 20):]) {
				t.Fatalf("after %d by %d: %q", seq, limit, got)
			}
		}
	}
	if got, err := j.After(context.Background(), 0, 0); got != nil || err != nil {
		t.Fatalf("no limit: %v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := j.After(ctx, 0, 1); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	// Lines that a crash left in both places come once.
	if j, err = journal.Open(db, dir, journal.Options{MaxFile: 700}); err != nil {
		t.Fatal(err)
	}
	if got, _ := walk(t, j, 0, 6); !slices.Equal(got, all) {
		t.Fatalf("opened again: %q", got)
	}
}

// A reader that pages while turns arrive and are flushed misses none.
func TestAfterBesideWriters(t *testing.T) {
	db := openState(t)
	j, err := journal.Open(db, t.TempDir(), journal.Options{MaxFile: 4000})
	if err != nil {
		t.Fatal(err)
	}
	all := names(200)
	var wg sync.WaitGroup
	written := make(chan struct{})
	wg.Go(func() {
		defer close(written)
		for i, id := range all {
			if err := add(db, j, turn(id)); err != nil {
				t.Error(err)
			}
			if i%3 == 0 {
				if err := j.Flush(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	var got []string
	seq := uint64(0)
	for done := false; !done; {
		select {
		case <-written:
			done = true
		default:
		}
		ids, last := walk(t, j, seq, 5)
		got, seq = append(got, ids...), last
	}
	wg.Wait()
	if !slices.Equal(got, all) {
		t.Fatalf("got %d of %d: %q", len(got), len(all), got)
	}
}

func TestDistilledToMarksWholeFiles(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db, dir := openState(t), t.TempDir()
	j, err := journal.Open(db, dir, journal.Options{MaxFile: 1, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range names(4) { // a file each
		if err := errors.Join(add(db, j, turn(id)), j.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := j.Files()
	steps := []struct {
		seq  uint64
		want []string
	}{{0, nil}, {2, files[:2]}, {2, nil}, {3, files[2:3]}, {99, nil}}
	for _, step := range steps {
		got, err := j.DistilledTo(context.Background(), step.seq)
		if err != nil || !slices.Equal(got, step.want) {
			t.Fatalf("to %d: %q, %v, want %q", step.seq, got, err, step.want)
		}
	}
	s, err := j.Stats(context.Background())
	if err != nil || s.Files != 4 || s.Distilled != 3 || s.Last != 4 || s.Waiting != 0 || s.Bytes == 0 {
		t.Fatalf("stats %+v, %v", s, err)
	}
	now = now.Add(journal.DefaultRetention)
	if got, err := j.Sweep(); err != nil || !slices.Equal(got, files[:3]) {
		t.Fatalf("swept %q, %v", got, err)
	}
}

func TestRedactDeletesEverywhere(t *testing.T) {
	for _, reopen := range []bool{false, true} {
		t.Run(fmt.Sprintf("reopen %v", reopen), func(t *testing.T) {
			db, dir := openState(t), t.TempDir()
			j, err := journal.Open(db, dir, journal.Options{MaxFile: 900})
			if err != nil {
				t.Fatal(err)
			}
			all := names(12)
			for i, id := range all {
				if err := add(db, j, turn(id)); err != nil {
					t.Fatal(err)
				}
				if i%3 == 2 && i < 9 {
					if err := j.Flush(); err != nil {
						t.Fatal(err)
					}
				}
			}
			gone := map[string]bool{"t000": true, "t001": true, "t002": true, "t004": true, "t008": true, "t010": true}
			n, err := j.Redact(context.Background(), func(l journal.Line) bool { return !gone[l.ID] })
			if err != nil || n < len(gone) {
				t.Fatalf("deleted %d, %v", n, err)
			}
			if reopen {
				if j, err = journal.Open(db, dir, journal.Options{MaxFile: 900}); err != nil {
					t.Fatal(err)
				}
			}
			want := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return gone[id] })
			if got, _ := walk(t, j, 0, 5); !slices.Equal(got, want) {
				t.Fatalf("left %q, want %q", got, want)
			}
			if j.Waiting() != 2 {
				t.Fatalf("%d wait", j.Waiting())
			}
			if err := add(db, j, turn("t008")); !errors.Is(err, errSeen) {
				t.Fatalf("a deleted turn came back: %v", err)
			}
			if err := errors.Join(add(db, j, turn("new")), j.Close()); err != nil {
				t.Fatal(err)
			}
			if got := written(t, j); !slices.Equal(got, append(want, "new")) {
				t.Fatalf("left %q", got)
			}
			if n, err := j.Redact(context.Background(), func(journal.Line) bool { return true }); n != 0 || err != nil {
				t.Fatalf("nothing to delete: %d, %v", n, err)
			}
			if _, err := j.Redact(context.Background(), func(journal.Line) bool { return false }); err != nil {
				t.Fatal(err)
			}
			if files, _ := j.Files(); len(files) != 0 {
				t.Fatalf("files %q", files)
			}
		})
	}
}

// Whatever the file layer does at whichever call: kept lines stay, and a second
// Redact finishes the work.
func TestRedactOnAFailingDisk(t *testing.T) {
	keep := func(l journal.Line) bool { return !strings.HasSuffix(l.ID, "1") && l.ID != "t005" }
	want := []string{"t000", "t002", "t003", "t004"}
	for _, fault := range disktest.Faults {
		for n := 1; ; n++ {
			db, d := openState(t), disktest.New()
			opts := journal.Options{FS: d, MaxFile: 900}
			j, err := journal.Open(db, "raw", opts)
			if err != nil {
				t.Fatal(err)
			}
			for i, id := range names(6) {
				if err := add(db, j, turn(id)); err != nil {
					t.Fatal(err)
				}
				if i%2 == 1 {
					if err := j.Flush(); err != nil {
						t.Fatal(err)
					}
				}
			}
			d.FaultAt(n, fault)
			_, err = j.Redact(context.Background(), keep)
			whole := d.Calls() < n
			if whole && err != nil {
				t.Fatalf("%v at %d was not reached: %v", fault, n, err)
			}
			for _, left := range disktest.Keeps {
				after := d.Reboot(left)
				opts.FS = after
				j, err := journal.Open(db, "raw", opts)
				if err != nil {
					t.Fatalf("%v at %d, %v: %v", fault, n, left, err)
				}
				got, _ := walk(t, j, 0, 10)
				if kept := slices.DeleteFunc(slices.Clone(got), func(id string) bool { return !slices.Contains(want, id) }); !slices.Equal(kept, want) {
					t.Fatalf("%v at %d, %v: left %q", fault, n, left, got)
				}
				if _, err := j.Redact(context.Background(), keep); err != nil {
					t.Fatalf("%v at %d, %v: again: %v", fault, n, left, err)
				}
				if got, _ := walk(t, j, 0, 10); !slices.Equal(got, want) {
					t.Fatalf("%v at %d, %v: again: left %q", fault, n, left, got)
				}
				for _, name := range after.Names() {
					if data, _ := after.ReadFile(name); strings.Contains(string(data), "t005") {
						t.Fatalf("%v at %d, %v: %s still holds it", fault, n, left, name)
					}
				}
			}
			if whole {
				break
			}
		}
	}
}
