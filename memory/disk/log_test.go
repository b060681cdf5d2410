package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"homeagent/memory/disk"
	"homeagent/memory/disk/disktest"
)

// open opens a log and returns it with the records it replayed.
func open(t testing.TB, fs disk.FS, path string) (*disk.Log, []string) {
	t.Helper()
	var got []string
	l, err := disk.OpenLog(fs, path, func(rec []byte) error { got = append(got, string(rec)); return nil })
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return l, got
}

func TestLogKeepsWhatWasAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	l, got := open(t, disk.OS{}, path)
	if len(got) != 0 || l.Size() != 0 {
		t.Fatalf("a new log has %q, %d bytes", got, l.Size())
	}
	want := []string{"", "a", "门垫下面", string(make([]byte, 100_000))}
	for i, s := range want {
		if err := l.Append([]byte(s), i%2 == 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatalf("second close: %v", err)
	}
	if err := l.Append(nil, true); !errors.Is(err, disk.ErrClosed) {
		t.Fatalf("append after close: %v", err)
	}
	l, got = open(t, disk.OS{}, path)
	defer l.Close()
	if !slices.Equal(got, want) || l.Dropped() != 0 {
		t.Fatalf("got %d records, dropped %d", len(got), l.Dropped())
	}
}

func TestLogCutsADamagedTail(t *testing.T) {
	sound := func(t *testing.T) []byte {
		path := filepath.Join(t.TempDir(), "x.log")
		l, _ := open(t, disk.OS{}, path)
		defer l.Close()
		for _, s := range []string{"one", "two", "three"} {
			if err := l.Append([]byte(s), true); err != nil {
				t.Fatal(err)
			}
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	tests := []struct {
		name   string
		damage func([]byte) []byte
		want   []string
	}{
		{"empty", func([]byte) []byte { return nil }, nil},
		{"one byte", func(b []byte) []byte { return b[:1] }, nil},
		{"garbage", func([]byte) []byte { return bytes.Repeat([]byte("not a log "), 50) }, nil},
		{"zeros", func([]byte) []byte { return make([]byte, 4096) }, nil},
		{"length beyond all", func(b []byte) []byte { return append(b, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4) }, []string{"one", "two", "three"}},
		{"zeros behind", func(b []byte) []byte { return append(b, make([]byte, 512)...) }, []string{"one", "two", "three"}},
		{"last record torn", func(b []byte) []byte { return b[:len(b)-2] }, []string{"one", "two"}},
		{"last head torn", func(b []byte) []byte { return b[:len(b)-9] }, []string{"one", "two"}},
		{"bit flipped in the second", func(b []byte) []byte { b[11+8] ^= 4; return b }, []string{"one"}},
		{"length flipped in the second", func(b []byte) []byte { b[11] ^= 1; return b }, []string{"one"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := tt.damage(sound(t))
			path := filepath.Join(t.TempDir(), "x.log")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			l, got := open(t, disk.OS{}, path)
			if !slices.Equal(got, tt.want) {
				t.Fatalf("read %q, want %q", got, tt.want)
			}
			if l.Dropped() != int64(len(data))-l.Size() {
				t.Fatalf("dropped %d of %d, size %d", l.Dropped(), len(data), l.Size())
			}
			if l.Dropped() > 0 {
				tail, err := os.ReadFile(path + ".tail")
				if err != nil || !bytes.Equal(tail, data[l.Size():]) {
					t.Fatalf("the tail was not kept: %q, %v", tail, err)
				}
			}
			if err := l.Append([]byte("next"), true); err != nil {
				t.Fatal(err)
			}
			l.Close()
			l, got = open(t, disk.OS{}, path)
			defer l.Close()
			if want := append(slices.Clone(tt.want), "next"); !slices.Equal(got, want) || l.Dropped() != 0 {
				t.Fatalf("after the repair %q, dropped %d", got, l.Dropped())
			}
		})
	}
}

func TestLogRefuses(t *testing.T) {
	l, _ := open(t, disktest.New(), "/x.log")
	if err := l.Append(make([]byte, disk.MaxRecord+1), true); !errors.Is(err, disk.ErrTooBig) {
		t.Fatalf("a record too big: %v", err)
	}
	if err := l.Rewrite([][]byte{make([]byte, disk.MaxRecord+1)}); !errors.Is(err, disk.ErrTooBig) {
		t.Fatalf("a rewrite too big: %v", err)
	}
	if l.Size() != 0 {
		t.Fatalf("size %d after refusals", l.Size())
	}
	if err := l.Append(make([]byte, disk.MaxRecord), true); err != nil {
		t.Fatalf("the largest record: %v", err)
	}
	_, err := disk.OpenLog(disk.OS{}, filepath.Join(t.TempDir(), "no", "folder"), nil)
	if !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("no folder: %v", err)
	}
	boom := errors.New("boom")
	d := disktest.New()
	l, _ = open(t, d, "/y.log")
	l.Append([]byte("a"), true)
	if _, err := disk.OpenLog(d, "/y.log", func([]byte) error { return boom }); !errors.Is(err, boom) {
		t.Fatalf("replay's error: %v", err)
	}
}

// world is what a run of writes may have left: acked must be there, pending may.
type world struct {
	acked, pending []string
	broken         bool
}

// run drives a fixed program of appends, syncs and a rewrite, going on after
// errors as a caller would, and notes what was acknowledged.
func run(fs disk.FS) world {
	var w world
	l, err := disk.OpenLog(fs, "/d/x.log", nil)
	if err != nil {
		return w
	}
	note := func(s string, sync bool) {
		err := l.Append([]byte(s), sync)
		switch {
		case err == nil && sync:
			w.acked = append(append(w.acked, w.pending...), s)
			w.pending = nil
		case err == nil || errors.Is(err, disk.ErrBroken):
			w.pending = append(w.pending, s)
		}
		w.broken = w.broken || errors.Is(err, disk.ErrBroken)
	}
	for i := range 6 {
		note(fmt.Sprintf("record %d", i), i%2 == 1)
	}
	all := append(slices.Clone(w.acked), w.pending...)
	if len(all) > 3 {
		all = all[len(all)-3:]
	}
	var recs [][]byte
	for _, s := range all {
		recs = append(recs, []byte(s))
	}
	switch err := l.Rewrite(recs); {
	case err == nil:
		w = world{acked: all}
	default:
		// Old or new: the newest three are in both, if they were acknowledged at all.
		w.acked = slices.DeleteFunc(w.acked, func(s string) bool { return !slices.Contains(all, s) })
	}
	for i := 6; i < 10; i++ {
		note(fmt.Sprintf("record %d", i), i%2 == 1)
	}
	l.Close()
	return w
}

// TestLogLosesNothingAcknowledged cuts the power, or fails a call, at every
// call of a run, and opens what may be left.
func TestLogLosesNothingAcknowledged(t *testing.T) {
	clean := disktest.New()
	run(clean)
	calls := clean.Calls()
	if calls < 20 {
		t.Fatalf("only %d calls: the run does not reach the log", calls)
	}
	for _, fault := range disktest.Faults {
		for n := 1; n <= calls+1; n++ {
			for _, keep := range disktest.Keeps {
				t.Run(fmt.Sprintf("%v at %d keeping %v", fault, n, keep), func(t *testing.T) {
					d := disktest.New()
					d.FaultAt(n, fault)
					w := run(d)
					l, got := open(t, d.Reboot(keep), "/d/x.log")
					defer l.Close()
					for _, s := range w.acked {
						if !slices.Contains(got, s) {
							t.Errorf("lost %q; found %q", s, got)
						}
					}
					if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
						t.Errorf("out of order or twice: %q", got)
					}
					if keep == disktest.All && !w.broken && fault == disktest.Fail && l.Dropped() != 0 {
						t.Errorf("a failed call left %d damaged bytes", l.Dropped())
					}
				})
			}
		}
	}
}

func TestLogAfterAFailedCall(t *testing.T) {
	t.Run("full disk: usable when there is room again", func(t *testing.T) {
		d := disktest.New()
		l, _ := open(t, d, "/x.log")
		l.Append([]byte("a"), true)
		d.FaultAt(1, disktest.Full)
		err := l.Append([]byte("b"), true)
		if !disk.IsFull(err) || errors.Is(err, disk.ErrBroken) {
			t.Fatalf("append on a full disk: %v", err)
		}
		d.FaultAt(0, disktest.Fail)
		if err := l.Append([]byte("c"), true); err != nil {
			t.Fatal(err)
		}
		if _, got := open(t, d.Reboot(disktest.Synced), "/x.log"); !slices.Equal(got, []string{"a", "c"}) {
			t.Fatalf("found %q", got)
		}
	})
	t.Run("failed sync: broken until rewritten", func(t *testing.T) {
		d := disktest.New()
		l, _ := open(t, d, "/x.log")
		d.FaultAt(2, disktest.Fail)
		if err := l.Append([]byte("a"), true); !errors.Is(err, disk.ErrBroken) {
			t.Fatalf("failed sync: %v", err)
		}
		if err := l.Append([]byte("b"), true); !errors.Is(err, disk.ErrBroken) {
			t.Fatalf("a broken log took a record: %v", err)
		}
		if err := l.Rewrite([][]byte{[]byte("a")}); err != nil {
			t.Fatal(err)
		}
		if err := l.Append([]byte("b"), true); err != nil {
			t.Fatal(err)
		}
		if _, got := open(t, d.Reboot(disktest.Synced), "/x.log"); !slices.Equal(got, []string{"a", "b"}) {
			t.Fatalf("found %q", got)
		}
	})
}

// FuzzLog: any bytes open without a panic, and what was read, written again,
// reads the same and is the beginning of the file byte for byte.
func FuzzLog(f *testing.F) {
	d := disktest.New()
	l, _ := open(f, d, "/seed")
	l.Append([]byte("one"), false)
	l.Append(nil, false)
	l.Append([]byte("钥匙在门垫下面"), true)
	seed, _ := d.ReadFile("/seed")
	f.Add(seed)
	f.Add(seed[:len(seed)-3])
	f.Add([]byte{})
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := disktest.New()
		w, _ := d.OpenFile("/a", os.O_CREATE|os.O_WRONLY, 0o600)
		w.Write(data)
		l, got := open(t, d, "/a")
		if l.Size()+l.Dropped() != int64(len(data)) {
			t.Fatalf("size %d, dropped %d of %d", l.Size(), l.Dropped(), len(data))
		}
		again, _ := open(t, d, "/b")
		for _, s := range got {
			if err := again.Append([]byte(s), false); err != nil {
				t.Fatal(err)
			}
		}
		b, _ := d.ReadFile("/b")
		if !bytes.Equal(b, data[:l.Size()]) {
			t.Fatalf("wrote %x, had read %x", b, data[:l.Size()])
		}
		_, got2 := open(t, d, "/b")
		if !slices.Equal(got, got2) {
			t.Fatalf("read %q, then %q", got, got2)
		}
	})
}
