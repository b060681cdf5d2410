package sandbox

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// drop takes the user's ids and leaves nothing else: no capability in any set,
// the bounding one included, and no way to gain one by what is executed. The
// calling goroutine is locked to its thread, which starts the program later.
// The ids change on all threads of the process, and no_new_privs reaches the
// others with the filter; the bounding set matters to the one that starts.
func drop(s *Spec) error {
	for c := uintptr(0); c < 64; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL {
			break // the kernel knows no more
		} else if err != nil {
			return fmt.Errorf("bounding set %d: %w", c, err)
		}
	}
	if err := syscall.Setgroups(append([]int{}, s.Groups...)); err != nil {
		return fmt.Errorf("groups: %w", err)
	}
	if err := syscall.Setresgid(s.GID, s.GID, s.GID); err != nil {
		return fmt.Errorf("group %d: %w", s.GID, err)
	}
	if err := syscall.Setresuid(s.UID, s.UID, s.UID); err != nil {
		return fmt.Errorf("user %d: %w", s.UID, err)
	}
	// Permitted and effective went with root; inheritable may still hold what
	// the supervisor was started with.
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	// The program has the same user. It must not read this process's memory,
	// open its files through /proc, or see it at all.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("dumpable: %w", err)
	}
	return verify(s)
}

// verify looks at what is left, as a mistake here would go unnoticed.
func verify(s *Spec) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&header, &have[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	if have != [2]unix.CapUserData{} {
		return fmt.Errorf("capabilities are left: %v", have)
	}
	if bounding, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_ADMIN, 0, 0, 0); err != nil || bounding != 0 {
		return fmt.Errorf("the bounding set is not empty: %d, %v", bounding, err)
	}
	if u, e, saved := unix.Getresuid(); u != s.UID || e != s.UID || saved != s.UID {
		return fmt.Errorf("user is %d, %d, %d", u, e, saved)
	}
	if err := syscall.Setuid(0); err == nil {
		return errors.New("root can be had back")
	}
	return nil
}
