package state_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	bolt "go.etcd.io/bbolt"

	"homeagent/memory/state"
)

func open(t testing.TB, path string) *state.DB {
	t.Helper()
	d, notice, err := state.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if notice != nil {
		t.Fatalf("unexpected notice: %+v", notice)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// filled is the bytes of a database with a few pages of content.
func filled(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	d := open(t, path)
	s := d.Store("timer")
	for i := range 200 {
		if err := s.Put(fmt.Sprintf("key %03d", i), bytes.Repeat([]byte{byte(i)}, 300)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Put("big", make([]byte, state.MaxValue)); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOpenSetsADamagedFileAside(t *testing.T) {
	sound := filled(t)
	page := os.Getpagesize()
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return b
	}
	tests := []struct {
		name string
		data func() []byte
	}{
		{"empty", func() []byte { return []byte{} }},
		{"one byte", func() []byte { return sound[:1] }},
		{"text", func() []byte { return []byte("this is no database\n") }},
		{"noise", func() []byte { return noise(64 << 10) }},
		{"zeros", func() []byte { return make([]byte, 64<<10) }},
		{"first page only", func() []byte { return sound[:page] }},
		{"two pages", func() []byte { return sound[:2*page] }},
		{"four pages", func() []byte { return sound[:4*page] }},
		{"cut in the middle of a page", func() []byte { return sound[:40*page+17] }},
		{"pages behind the first two are noise", func() []byte { return append(bytes.Clone(sound[:2*page]), noise(len(sound)-2*page)...) }},
		{"pages behind the first two are zeros", func() []byte { return append(bytes.Clone(sound[:2*page]), make([]byte, len(sound)-2*page)...) }},
		{"page links lead far out", func() []byte {
			b := bytes.Clone(sound)
			for at := 2 * page; at < 60*page; at += page {
				for i := 32; i < 160; i += 8 {
					binary.LittleEndian.PutUint64(b[at+i:], 1<<40)
				}
			}
			return b
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			data := tt.data()
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			d, notice, err := state.Open(path)
			if err != nil {
				t.Fatalf("the house does not start: %v", err)
			}
			defer d.Close()
			if notice == nil {
				t.Fatal("the loss went unsaid")
			}
			if !errors.Is(notice.Err, state.ErrDamaged) || notice.Path != path {
				t.Fatalf("notice %+v", notice)
			}
			kept, err := os.ReadFile(notice.Aside)
			if err != nil || len(kept) < len(data) || !bytes.Equal(kept[:min(len(kept), len(data))], data) {
				t.Fatalf("the bad file was not kept as it was: %d of %d bytes, %v", len(kept), len(data), err)
			}
			if err := d.Store("x").Put("a", []byte("b")); err != nil {
				t.Fatalf("the new one takes nothing: %v", err)
			}
			d.Close()
			if v, err := open(t, path).Store("x").Get("a"); err != nil || string(v) != "b" {
				t.Fatalf("the new one keeps nothing: %q, %v", v, err)
			}
		})
	}
}

// TestOpenSetsAFolderAside: a folder in the file's place keeps what it holds
// under another name.
func TestOpenSetsAFolderAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.MkdirAll(filepath.Join(path, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	d, notice, err := state.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if notice == nil || !errors.Is(notice.Err, state.ErrDamaged) {
		t.Fatalf("notice %v", notice)
	}
	if _, err := os.Stat(filepath.Join(notice.Aside, "inside")); err != nil {
		t.Fatal(err)
	}
	if err := d.Store("x").Put("a", []byte("b")); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Run("a second opener", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.db")
		open(t, path)
		if _, _, err := state.Open(path); !errors.Is(err, state.ErrLocked) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("no folder", func(t *testing.T) {
		_, _, err := state.Open(filepath.Join(t.TempDir(), "no", "state.db"))
		if !errors.Is(err, os.ErrNotExist) || errors.Is(err, state.ErrDamaged) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("a file that may not be written", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "state.db")
		d := open(t, path)
		d.Store("x").Put("a", []byte("b"))
		d.Close()
		if err := os.Chmod(path, 0o444); err != nil {
			t.Fatal(err)
		}
		asNobody(t, func() {
			if _, _, err := state.Open(path); !errors.Is(err, state.ErrReadOnly) {
				t.Errorf("got %v", err)
			}
		})
		if v, err := open(t, path).Store("x").Get("a"); err != nil || string(v) != "b" {
			t.Fatalf("the file changed: %q, %v", v, err)
		}
	})
}

// In a folder of one's own a file of another user's is no obstacle: one that may
// be read is copied, one that may not is set aside.
func TestFilesOfAnotherUser(t *testing.T) {
	for _, row := range []struct {
		name string
		mode os.FileMode
		kept bool
	}{{"readable", 0o444, true}, {"unreadable", 0, false}} {
		t.Run(row.name, func(t *testing.T) {
			// Not t.TempDir, whose parent is closed to others.
			dir, err := os.MkdirTemp("", "another-user-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			path := filepath.Join(dir, "state.db")
			d := open(t, path)
			d.Store("x").Put("a", []byte("b"))
			d.Close()
			if err := errors.Join(os.Chmod(path, row.mode), os.Chmod(dir, 0o777)); err != nil {
				t.Fatal(err)
			}
			asNobody(t, func() {
				d, notice, err := state.Open(path)
				if err != nil {
					t.Error(err)
					return
				}
				defer d.Close()
				v, err := d.Store("x").Get("a")
				if (string(v) == "b") != row.kept || (notice == nil) != row.kept {
					t.Errorf("found %q, %v; notice %v", v, err, notice)
				}
				if err := d.Store("x").Put("c", []byte("d")); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// asNobody runs f on a thread without the power to write what permissions
// forbid, which root has. The thread dies with the goroutine.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Geteuid() == 0 {
			runtime.LockOSThread()
			if err := syscall.Setfsuid(65534); err != nil {
				t.Error(err)
				return
			}
			defer syscall.Setfsuid(0)
		}
		f()
	}()
	<-done
}

func TestUpdateIsAllOrNothing(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "state.db"))
	before := d.Commits()
	boom := errors.New("boom")
	err := d.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("x"))
		if err != nil {
			return err
		}
		if err := b.Put([]byte("a"), []byte("b")); err != nil {
			return err
		}
		return boom
	})
	if !errors.Is(err, boom) || d.Commits() != before {
		t.Fatalf("%v, %d commits", err, d.Commits()-before)
	}
	if err := d.View(func(tx *bolt.Tx) error {
		if tx.Bucket([]byte("x")) != nil {
			return errors.New("half a transaction stayed")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := d.Update(func(tx *bolt.Tx) error { return nil }); err != nil || d.Commits() != before+1 {
		t.Fatalf("%v, %d commits", err, d.Commits()-before)
	}
	d.Close()
	if err := d.Close(); err != nil {
		t.Fatalf("second close: %v", err)
	}
	if err := d.Update(func(tx *bolt.Tx) error { return nil }); err == nil {
		t.Fatal("an update after close went through")
	}
}

// What a creation has left behind that a power cut ended is no damage.
func TestOpenAfterACreationThatWasCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path+".new", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, path).Store("x").Put("a", []byte("b")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the rest of the creation is still there (%v)", err)
	}
}
