package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"homeagent/firmware/sandbox"
)

// Wherever version 2 is mounted, with controllers or without, a sandbox gets a
// group of its own, sees it as the root, and leaves nothing of it.
func TestOwnGroup(t *testing.T) {
	view := system(t)
	parent := ""
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		var st unix.Statfs_t
		if unix.Statfs(dir, &st) == nil && st.Type == unix.CGROUP2_SUPER_MAGIC {
			parent = filepath.Join(dir, "sandbox-own-group")
			break
		}
	}
	if parent == "" {
		t.Skip("no control groups of version 2 are mounted")
	}
	if err := os.Mkdir(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(parent); err != nil {
			t.Error(err)
		}
	})
	p, out := start(t, t.Context(), sandbox.Spec{View: view, Cgroup: parent}, "grep ^0: /proc/self/cgroup; read x <&-; sleep 1000")
	if line, err := out.ReadString('\n'); line != "0::/\n" {
		t.Errorf("%q, %v", line, err)
	}
	groups, err := filepath.Glob(parent + "/box-*")
	if err != nil || len(groups) != 1 {
		t.Fatalf("%v, %v", groups, err)
	}
	if procs, err := os.ReadFile(groups[0] + "/cgroup.procs"); err != nil || len(strings.Fields(string(procs))) < 2 {
		t.Errorf("in the group: %q, %v", procs, err)
	}
	p.Kill()
	p.Wait()
	if groups, err := filepath.Glob(parent + "/box-*"); err != nil || len(groups) != 0 {
		t.Errorf("left: %v, %v", groups, err)
	}
}

// Nothing of the library stays behind in the supervisor, failures included.
func TestNothingLeft(t *testing.T) {
	view := system(t)
	before := descriptors(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, program := range []string{"/bin/true", "/bin/none"} {
		for range 3 {
			p, err := sandbox.Start(t.Context(), sandbox.Spec{Program: program, View: view, UID: asUser, GID: asUser}, sandbox.Stdio{})
			if err == nil {
				p.Wait()
			} else if program == "/bin/true" {
				t.Fatal(err)
			}
		}
	}
	if after := descriptors(t); after > before+1 { // the poller's own
		t.Errorf("%d descriptors, before %d", after, before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
