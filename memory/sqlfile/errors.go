package sqlfile

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	sqlite "github.com/mattn/go-sqlite3"
)

var (
	// ErrDamaged is wrapped when the file's content is no sound database.
	ErrDamaged = errors.New("damaged")
	// ErrNewer is wrapped when a newer program has written the file.
	ErrNewer = errors.New("written by a newer version")
	// ErrReadOnly is wrapped when the file or its folder may not be written.
	ErrReadOnly = errors.New("may not be written")
	// ErrBusy is wrapped when another program held the file for too long.
	ErrBusy = errors.New("held by another program")
)

// Plain turns SQLite's errors into this package's; others stay as they are. A
// full disk becomes an error that disk.IsFull knows.
func Plain(err error) error {
	if err == nil {
		return nil
	}
	for _, known := range []error{ErrDamaged, ErrNewer, ErrReadOnly, ErrBusy} {
		if errors.Is(err, known) {
			return err
		}
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	var se sqlite.Error
	if !errors.As(err, &se) {
		return err
	}
	switch se.Code {
	case sqlite.ErrCorrupt, sqlite.ErrNotADB:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case sqlite.ErrReadonly, sqlite.ErrPerm:
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	case sqlite.ErrBusy, sqlite.ErrLocked:
		return fmt.Errorf("%w: %w", ErrBusy, err)
	case sqlite.ErrFull:
		return fmt.Errorf("%w: %w", syscall.ENOSPC, err)
	case sqlite.ErrIoErr:
		// A write of SQLite's own that found no room is an input/output error.
		if se.SystemErrno != 0 {
			return fmt.Errorf("%w: %w", se.SystemErrno, err)
		}
	}
	return err
}
