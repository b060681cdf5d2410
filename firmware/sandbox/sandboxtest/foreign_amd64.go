package sandboxtest

import "golang.org/x/sys/unix"

// int80 makes a system call of the 32-bit interface.
func int80(number, arg uint32) (result int32)

// other asks for a namespace by the 32-bit interface, whose numbers mean other
// calls than those of the 64-bit one, and returns the kernel's error, 0 for none.
var other = func() unix.Errno {
	const unshare = 310
	return unix.Errno(-int80(unshare, unix.CLONE_NEWUTS))
}
