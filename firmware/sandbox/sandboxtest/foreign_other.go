//go:build !amd64

package sandboxtest

import "golang.org/x/sys/unix"

// other is nil: the boards' kernels run no other interface than their own.
var other func() unix.Errno
