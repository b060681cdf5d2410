package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// InUseError is a data folder that another homed holds.
type InUseError struct {
	Dir string
	// PID is the holder's process number as it wrote it, "" if unreadable.
	PID string
}

func (e *InUseError) Error() string {
	who := "another homed"
	if e.PID != "" {
		who += " (process " + e.PID + ")"
	}
	return fmt.Sprintf("the data folder %s is in use by %s; stop it first, or give another folder with -data", e.Dir, who)
}

// lock takes the folder for this process until the file is closed or the process ends.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "homed.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, folderError(dir, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		pid, _ := io.ReadAll(io.LimitReader(f, 32))
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, &InUseError{Dir: dir, PID: strings.TrimSpace(string(pid))}
		}
		return nil, folderError(dir, err)
	}
	// The number only makes the message better; a full disk must not keep the box from starting.
	if f.Truncate(0) == nil {
		fmt.Fprintf(io.NewOffsetWriter(f, 0), "%d\n", os.Getpid())
	}
	return f, nil
}

// folderError says in words why the data folder cannot be used.
func folderError(dir string, err error) error {
	switch {
	case errors.Is(err, os.ErrPermission), errors.Is(err, unix.EROFS):
		return fmt.Errorf("the data folder %s cannot be written (%w); give this user the folder, or another one with -data", dir, err)
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return fmt.Errorf("the disk under %s is full (%w); free some space and start again", dir, err)
	}
	return fmt.Errorf("the data folder %s cannot be used: %w", dir, err)
}
