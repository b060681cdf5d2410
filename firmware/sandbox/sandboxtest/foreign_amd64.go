package sandboxtest

import "golang.org/x/sys/unix"

// int80 makes a system call of the 32-bit interface.
func int80(number, arg uint32) (result int32)

// foreign asks for a namespace by the 32-bit interface, whose numbers mean
// other calls than those of the 64-bit one.
var foreign = func() error {
	const unshare = 310
	if r := int80(unshare, unix.CLONE_NEWUTS); r < 0 {
		return reached("32-bit interface", unix.Errno(-r))
	}
	return nil
}
