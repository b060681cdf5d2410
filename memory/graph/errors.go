package graph

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
	// ErrTooLong is wrapped when a field is longer than MaxField.
	ErrTooLong = errors.New("text too long")
	// ErrEmpty is wrapped when a subject, or all of what a fact says, is empty.
	ErrEmpty = errors.New("text empty")
	// ErrNoCriteria is returned by a Purge that would take everything.
	ErrNoCriteria = errors.New("nothing says what to forget")
)

// plain turns SQLite's errors into this package's. A full disk becomes one
// that disk.IsFull knows.
func plain(err error) error {
	if err == nil {
		return nil
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
