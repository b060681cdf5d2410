package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Size of a terminal in characters.
type Size struct{ Rows, Cols int }

// openTerminal makes a terminal in the sandbox's own devpts, so that the program
// has nobody else's.
func (r *room) openTerminal() error {
	if r.Terminal == nil {
		return nil
	}
	var err error
	if r.master, err = unix.Open("/dev/pts/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("ptmx: %w", err)
	}
	if err := unix.IoctlSetPointerInt(r.master, unix.TIOCSPTLCK, 0); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	peer, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(r.master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return fmt.Errorf("peer: %w", errno)
	}
	r.slave = int(peer)
	return setSize(r.master, *r.Terminal)
}

func setSize(fd int, s Size) error {
	return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(s.Rows), Col: uint16(s.Cols)})
}
