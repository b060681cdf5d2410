package document_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"homeagent/memory/disk"
	"homeagent/memory/document"
)

// TestAFullDisk fills a small file system, where the index grows too: what was
// acknowledged stays, what was not is refused, and all goes on when there is
// room again.
func TestAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("skipped: no small file system can be mounted here (%v)", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	ctx := context.Background()
	s := openAt(t, dir, document.Options{})
	put(t, s, events("voice", 0, 15)...)
	ballast := filepath.Join(dir, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !disk.IsFull(err) || f.Close() != nil {
		t.Fatalf("filling up: %v", err)
	}
	n := 1
	for err = nil; err == nil && n < 500; n++ {
		_, err = s.PutEvents(ctx, events("voice", n*15, 15))
	}
	if !disk.IsFull(err) {
		t.Fatalf("a move on a full disk: %v", err)
	}
	if _, err := s.PutEvents(ctx, events("web", 0, 15)); !disk.IsFull(err) {
		t.Fatalf("another: %v", err)
	}
	if _, err := s.Get(ctx, all(t, s)[0].ID); err != nil {
		t.Fatalf("a read on a full disk: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	put(t, s, events("voice", (n-1)*15, 15)...)
	put(t, s, events("web", 0, 15)...)
	check := func() {
		t.Helper()
		once(t, all(t, s))
		acknowledgedEvents(t, s, append(events("voice", 0, n*15), events("web", 0, 15)...))
	}
	check()
	closeStore(t, s)
	s = openAt(t, dir, document.Options{})
	check()
	if r, err := s.Reindex(ctx); err != nil || len(r.Changed)+len(r.Gone) > 0 {
		t.Fatalf("the index differed: %+v, %v", r, err)
	}
	closeStore(t, s)
}
