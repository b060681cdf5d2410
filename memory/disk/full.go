package disk

import (
	"errors"
	"syscall"
)

// IsFull tells whether err says that the disk or the user's share of it is
// full, wherever in the chain it stands. Callers use it to tell the user what
// to do (make room) instead of what failed.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
