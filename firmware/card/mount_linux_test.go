package card

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRemounted(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_RDONLY|unix.MS_NODEV|unix.MS_NOSUID, "size=1m"); err != nil {
		t.Skipf("no tmpfs can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "x")
	write := func() error { return os.WriteFile(path, []byte("x"), 0o644) }
	if write() == nil {
		t.Fatal("the folder is writable before")
	}
	if err := Remounted(dir)(write); err != nil {
		t.Error(err)
	}
	failed := errors.New("no")
	if err := Remounted(dir)(func() error { return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	if write() == nil {
		t.Error("the folder is writable afterwards")
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Flags&unix.ST_NODEV == 0 || s.Flags&unix.ST_NOSUID == 0 {
		t.Errorf("flags %x, %v", s.Flags, err)
	}
}

func TestRemountedPlainFolder(t *testing.T) {
	called := false
	if err := Remounted(t.TempDir())(func() error { called = true; return nil }); err != nil || !called {
		t.Errorf("%t, %v", called, err)
	}
	if err := Remounted(filepath.Join(t.TempDir(), "missing"))(func() error { return nil }); err == nil {
		t.Error("a folder that is not there was written")
	}
}
