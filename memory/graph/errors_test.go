package graph

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	sqlite "github.com/mattn/go-sqlite3"

	"homeagent/memory/disk"
)

// What SQLite says in its own numbers is told in those that everybody knows.
func TestPlain(t *testing.T) {
	for _, row := range []struct {
		name string
		err  error
		want error
		full bool
	}{
		{"the file may not grow", sqlite.Error{Code: sqlite.ErrFull}, syscall.ENOSPC, true},
		{"a write of its own found no room", sqlite.Error{Code: sqlite.ErrIoErr, SystemErrno: syscall.ENOSPC}, syscall.ENOSPC, true},
		{"a quota", sqlite.Error{Code: sqlite.ErrIoErr, SystemErrno: syscall.EDQUOT}, syscall.EDQUOT, true},
		{"a bad card", sqlite.Error{Code: sqlite.ErrIoErr, SystemErrno: syscall.EIO}, syscall.EIO, false},
		{"an error of no system call", sqlite.Error{Code: sqlite.ErrIoErr}, sqlite.ErrIoErr, false},
		{"damage", sqlite.Error{Code: sqlite.ErrCorrupt}, ErrDamaged, false},
		{"no permission", fs.ErrPermission, ErrReadOnly, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := plain(fmt.Errorf("open: %w", row.err))
			if !errors.Is(got, row.want) {
				var se sqlite.Error
				if !errors.As(got, &se) || se.Code != row.want {
					t.Errorf("%v is not %v", got, row.want)
				}
			}
			if disk.IsFull(got) != row.full {
				t.Errorf("%v: full is %v", got, !row.full)
			}
		})
	}
	if plain(nil) != nil {
		t.Error("no error has become one")
	}
}
