package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/words"
)

// controllers are what limits a sandbox.
var controllers = []string{"memory", "pids", "cpu"}

// groupPrefix begins the names of the sandboxes' groups.
const groupPrefix = "box-"

// PrepareCgroup makes the control group name below root, where version 2 is
// mounted (/sys/fs/cgroup), fit to hold those of sandboxes, and returns its
// folder for Spec.Cgroup. Groups that an earlier supervisor left in it are ended
// and removed. Unless root is the machine's own root group, no process may be in it itself.
func PrepareCgroup(root, name string) (string, error) {
	dir := filepath.Join(root, name)
	if err := prepareCgroup(root, dir); err != nil {
		return "", words.Errorf("沙箱的内存和处理器限制不能用（%v）；请检查 %s 是否为 cgroup v2，内核参数是否有 cgroup_enable=memory",
			"sandboxes cannot be limited in memory and processor (%v); check that %s is cgroup version 2 and the kernel has cgroup_enable=memory",
			err, root)
	}
	return dir, nil
}

func prepareCgroup(root, dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(root, &st); err != nil {
		return &os.PathError{Op: "statfs", Path: root, Err: err}
	}
	if st.Type != unix.CGROUP2_SUPER_MAGIC {
		return fmt.Errorf("%s is no cgroup version 2", root)
	}
	have, err := os.ReadFile(filepath.Join(root, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for _, c := range controllers {
		if !slices.Contains(strings.Fields(string(have)), c) {
			return fmt.Errorf("the kernel offers no controller %s", c)
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	all := "+" + strings.Join(controllers, " +")
	for _, d := range []string{root, dir} {
		if err := os.WriteFile(filepath.Join(d, "cgroup.subtree_control"), []byte(all), 0); err != nil {
			return err
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, groupPrefix+"*"))
	if err != nil {
		return err
	}
	for _, g := range left {
		if err := (&group{dir: g}).remove(); err != nil {
			return err
		}
	}
	return nil
}

// group is a sandbox's own control group. A nil one does nothing.
type group struct {
	dir string
	fd  *os.File
}

// newGroup makes the group with its limits, nil where the spec names no parent.
func newGroup(s *Spec) (*group, error) {
	if s.Cgroup == "" {
		return nil, nil
	}
	var st unix.Statfs_t
	if err := unix.Statfs(s.Cgroup, &st); err != nil {
		return nil, &os.PathError{Op: "statfs", Path: s.Cgroup, Err: err}
	}
	if st.Type != unix.CGROUP2_SUPER_MAGIC {
		return nil, fmt.Errorf("%s is no cgroup version 2", s.Cgroup)
	}
	dir, err := os.MkdirTemp(s.Cgroup, groupPrefix)
	if err != nil {
		return nil, err
	}
	g := &group{dir: dir}
	for file, value := range groupValues(s.Limits) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(value), 0); err != nil {
			return nil, errors.Join(err, g.remove())
		}
	}
	if g.fd, err = os.Open(dir); err != nil {
		return nil, errors.Join(err, g.remove())
	}
	return g, nil
}

// groupValues are what the limits are in a control group's files. What process 1
// needs comes on top, so that the program has what it was promised.
func groupValues(l Limits) map[string]string {
	v := map[string]string{}
	if l.Memory > 0 {
		v["memory.max"] = strconv.FormatInt(l.Memory+ownMemory, 10)
		v["memory.swap.max"] = "0" // on a box, swap is memory too
	}
	if l.PIDs > 0 {
		v["pids.max"] = strconv.Itoa(l.PIDs + ownThreads)
	}
	if l.CPU > 0 {
		const period = 100_000 // microseconds, the kernel's own
		v["cpu.max"] = fmt.Sprintf("%d %d", l.CPU*period/100, period)
	}
	return v
}

// ranOut tells whether the kernel ended a process of the group for its memory.
func (g *group) ranOut() bool {
	if g == nil {
		return false
	}
	b, err := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	if err != nil {
		return false
	}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		if n, ok := strings.CutPrefix(lines.Text(), "oom_kill "); ok && n != "0" {
			return true
		}
	}
	return false
}

// groupWait is how long a group's last process may take to leave it.
const groupWait = 5 * time.Second

// remove ends what is in the group and removes it.
func (g *group) remove() error {
	if g == nil {
		return nil
	}
	if g.fd != nil {
		g.fd.Close()
	}
	os.WriteFile(filepath.Join(g.dir, "cgroup.kill"), []byte("1"), 0) // kernels before 5.14 have none
	deadline := time.Now().Add(groupWait)
	for {
		err := unix.Rmdir(g.dir)
		if err == nil || err == unix.ENOENT {
			return nil
		}
		if err != unix.EBUSY || time.Now().After(deadline) {
			return &os.PathError{Op: "rmdir", Path: g.dir, Err: err}
		}
		<-time.After(10 * time.Millisecond)
	}
}
