package memory_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"homeagent/agent/plugin"
	"homeagent/memory"
	"homeagent/memory/disk"
)

// TestAFullDisk fills a small file system: what was acknowledged stays, what
// was not is refused in words, and all goes on when there is room again.
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
	m, notices, err := memory.Open(dir, memory.Options{})
	if err != nil || len(notices) > 0 {
		t.Fatal(notices, err)
	}
	ctx := context.Background()
	if err := play(m, 0); err != nil {
		t.Fatal(err)
	}
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

	acked := []string{"t0000"}
	var refused error
	n := 1
	for ; refused == nil && n < 500; n++ {
		if refused = play(m, n); refused == nil {
			acked = append(acked, fmt.Sprintf("t%04d", n))
		}
	}
	if !disk.IsFull(refused) || !strings.Contains(memory.Explain(refused, "zh"), "磁盘满了") || !strings.Contains(memory.Explain(refused, "en"), "Make room") {
		t.Fatalf("turn on a full disk: %v", refused)
	}
	var facts []string
	for i := 0; ; i++ {
		err := m.Commit(ctx, []plugin.Triple{{Subject: fmt.Sprintf("gadget%d", i), Relation: "is in", Object: "the box"}}, "")
		if err == nil && i < 2000 {
			facts = append(facts, fmt.Sprintf("gadget%d is in the box", i))
			continue
		}
		if !disk.IsFull(err) {
			t.Fatalf("fact on a full disk: %v", err)
		}
		break
	}
	if err := m.FlushJournal(); err != nil && !disk.IsFull(err) {
		t.Fatalf("journal on a full disk: %v", err)
	}

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	// The refused turn is tried again, as the mind does.
	if err := m.EndTurn(ctx, turn(n-1)); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	acked = append(acked, fmt.Sprintf("t%04d", n-1))
	if err := m.Commit(ctx, []plugin.Triple{{Subject: "late", Relation: "is", Object: "fine"}}, ""); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m, notices, err = memory.Open(dir, memory.Options{})
	if err != nil || len(notices) > 0 {
		t.Fatal(notices, err)
	}
	defer m.Close()
	if got := journaled(t, dir); !slices.Equal(got, acked) {
		t.Fatalf("journal %q, acknowledged %q", got, acked)
	}
	for _, f := range append(facts, "late is fine") {
		items, err := m.Plugin().Recall(ctx, f, 3)
		if err != nil || len(items) == 0 || items[0].Text != f {
			t.Fatalf("fact %q: %+v, %v", f, items, err)
		}
	}
}

// TestAFolderThatMayNotBeWritten is said in words.
func TestAFolderThatMayNotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		if os.Geteuid() == 0 {
			// Root may write anything; a thread with another file system identity
			// may not. It dies with this goroutine.
			runtime.LockOSThread()
			if err := syscall.Setfsuid(65534); err != nil {
				done <- err
				return
			}
			defer syscall.Setfsuid(0)
		}
		_, _, err := memory.Open(dir, memory.Options{})
		done <- err
	}()
	err := <-done
	if err == nil || !strings.Contains(memory.Explain(err, "zh"), "不可写") || !strings.Contains(memory.Explain(err, "en"), "may not be written") {
		t.Fatalf("got %v", err)
	}
}
