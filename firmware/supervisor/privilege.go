package supervisor

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"homeagent/firmware/account"
)

// How willingly the kernel ends each process when memory runs out, from -1000
// (never) to 1000 (first). The speech engines give themselves 800: they come
// back in a second. Without homed nothing comes back.
const (
	homedScore = -900
	doorScore  = 100
	agentScore = 300
)

// giveUpPrivileges makes what the calling thread starts from now on unable to
// gain any: no set-user-ID program gives it rights, and no capability is left
// to be had. The thread itself keeps what it has. The goroutine must be locked
// to it and must never unlock, so that the thread ends with the goroutine.
func giveUpPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	for c := uintptr(0); c < 64; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL {
			break // the kernel knows no more
		} else if err != nil {
			return fmt.Errorf("capability %d: %w", c, err)
		}
	}
	return nil
}

// credential is what a started process gets of its user. Changing from root to
// another user takes every capability away.
func credential(u *account.User) *syscall.Credential {
	c := &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID), Groups: []uint32{}}
	for _, g := range u.Groups {
		c.Groups = append(c.Groups, uint32(g))
	}
	return c
}

// environment is the supervisor's own with the user's name and home in place of
// root's, followed by the process's.
func environment(own []string, u *account.User, home string, more []string) []string {
	if u != nil {
		own = slices.DeleteFunc(slices.Clone(own), func(kv string) bool {
			k, _, _ := strings.Cut(kv, "=")
			return k == "HOME" || k == "USER" || k == "LOGNAME" || k == "MAIL" || k == "SUDO_USER" || strings.HasPrefix(k, "XDG_")
		})
		own = append(own, "HOME="+home, "USER="+u.Name, "LOGNAME="+u.Name)
	}
	return append(slices.Clone(own), more...)
}

// setScore tells the kernel how willingly to end a process.
func setScore(pid, score int) error {
	return os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(strconv.Itoa(score)), 0)
}

// lockThread ties the goroutine to its thread until the goroutine ends, and
// gives up the thread's privileges for what it starts where asked to.
func lockThread(giveUp bool) (unlock func(), err error) {
	runtime.LockOSThread()
	if !giveUp {
		return runtime.UnlockOSThread, nil
	}
	return func() {}, giveUpPrivileges()
}
