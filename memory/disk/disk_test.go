package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"homeagent/memory/disk"
	"homeagent/memory/disk/disktest"
)

// TestWriteFileLeavesOldOrNew stops a replacement at every call.
func TestWriteFileLeavesOldOrNew(t *testing.T) {
	const calls = 5
	for _, fault := range disktest.Faults {
		for n := 1; n <= calls+1; n++ {
			for _, keep := range disktest.Keeps {
				t.Run(fmt.Sprintf("%v at %d keeping %v", fault, n, keep), func(t *testing.T) {
					d := disktest.New()
					if err := disk.WriteFileFS(d, "/d/f", []byte("old"), 0o600); err != nil {
						t.Fatal(err)
					}
					d.FaultAt(n, fault)
					err := disk.WriteFileFS(d, "/d/f", []byte("new content"), 0o600)
					got, rerr := d.Reboot(keep).ReadFile("/d/f")
					if rerr != nil {
						t.Fatal(rerr)
					}
					if err == nil && string(got) != "new content" {
						t.Fatalf("acknowledged, found %q", got)
					}
					if s := string(got); s != "old" && s != "new content" {
						t.Fatalf("found %q", s)
					}
				})
			}
		}
	}
}

func TestSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	seen := map[string]bool{}
	for i := range 3 {
		if err := os.WriteFile(path, []byte{byte(i)}, 0o600); err != nil {
			t.Fatal(err)
		}
		to, err := disk.SetAside(path, now)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(to); !bytes.Equal(b, []byte{byte(i)}) || seen[to] {
			t.Fatalf("%s holds %v", to, b)
		}
		seen[to] = true
	}
	if _, err := disk.SetAside(path, now); err == nil {
		t.Fatal("set aside a file that is not there")
	}
}

func TestIsFull(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want bool
	}{
		{"nil", nil, false},
		{"no space", syscall.ENOSPC, true},
		{"quota, wrapped", fmt.Errorf("x: %w", &os.PathError{Op: "write", Err: syscall.EDQUOT}), true},
		{"other", syscall.EIO, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := disk.IsFull(tt.err); got != tt.want {
				t.Fatalf("IsFull(%v) = %v", tt.err, got)
			}
		})
	}
}

// TestCreate: a new file has its name only when it is whole.
func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	for _, left := range []string{path + ".new", path + ".new-wal"} { // of a creation that was cut
		if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	broken := errors.New("broken")
	err := disk.Create(path, func(tmp string) error {
		if err := os.WriteFile(tmp, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		return broken
	}, "-wal")
	if _, serr := os.Lstat(path); err != broken || !errors.Is(serr, os.ErrNotExist) {
		t.Fatalf("a failed creation: %v, the file %v", err, serr)
	}
	err = disk.Create(path, func(tmp string) error {
		for _, p := range []string{tmp, tmp + "-wal"} {
			if _, err := os.Lstat(p); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s was left: %v", p, err)
			}
		}
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the name is there before the file is: %v", err)
		}
		return os.WriteFile(tmp, []byte("whole"), 0o600)
	}, "-wal")
	if text, rerr := os.ReadFile(path); err != nil || rerr != nil || string(text) != "whole" {
		t.Errorf("%q, %v, %v", text, err, rerr)
	}
	if left, err := filepath.Glob(path + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
