package sandboxtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"homeagent/firmware/sandbox"
)

// Attempt is one way out.
type Attempt struct {
	// Name says what is tried.
	Name string
	// Try does it, inside or outside. nil means that it worked, an Absent that
	// this kernel has nothing of the kind, any other error what stopped it.
	Try func(t Targets) error
	// Spec changes what the sandbox is given, nil for nothing.
	Spec func(h *House, s *sandbox.Spec)
	// AsUser makes the control run as the sandbox's user without a sandbox. The others run as root.
	AsUser bool
	// Check, if set, looks from outside whether it worked, whatever Try said. It leaves no traces.
	Check func(h *House) bool
	// Death counts a sandbox that broke as a success.
	Death bool
}

// Absent is the error of an attempt whose means this kernel does not have.
type Absent struct{ What string }

// Error says what is missing.
func (a Absent) Error() string { return "this kernel has no " + a.What }

// Targets are what an attempt aims at: the same things, by the paths where they
// are inside and outside.
type Targets struct {
	// Inside tells that this is no control.
	Inside bool
	// Home is the folder of it all outside, which does not exist inside.
	Home string
	// Key is what the file Secret holds.
	Key, Secret string
	// Outside is a folder that the sandbox does not have.
	Outside string
	// ReadOnly is a folder everybody may write, bound read-only.
	ReadOnly string
	// Workspace is a writable folder.
	Workspace string
	// Small is a file system of SmallSize bytes.
	Small string
	// Tmp is a folder for temporary files, Shm one in memory.
	Tmp, Shm string
	// Victim is a process outside, of the sandbox's user, with Marker in its arguments.
	Victim int
	Marker string
	// First is process 1 inside, and the victim outside.
	First int
	// TCP is a listener's address; Abstract and Socket are unix listeners.
	TCP, Abstract, Socket string
	// Disk is a block device that root can open, 0 if there is none.
	Disk uint64
	// Bomb is how many processes make a bomb.
	Bomb int
	// Limit is how much an attempt to exceed a limit takes, in bytes.
	Limit int64
}

// first arguments of the binary when it is executed anew
const (
	argTry   = "sandboxtest-try"
	argPause = "sandboxtest-pause"
	argRoot  = "sandboxtest-am-i-root"
	argOther = "sandboxtest-32-bit"
	// a script's name, as the kernel passes it to its interpreter
	scriptName = "sandboxtest-interpreter"
)

type verdict struct {
	Worked, Absent bool
	How            string
}

// Main does what Run, executing the binary anew, asks for; without that it
// returns. The binary must also call sandbox.Main for its first argument.
func Main() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case argTry:
		syscall.Exit(try(os.Args[2], os.Args[3]))
	case argPause:
		for {
			unix.Pause()
		}
	case argOther:
		syscall.Exit(int(other()))
	case argRoot:
		if privileged() {
			syscall.Exit(0)
		}
		syscall.Exit(1)
	}
	if strings.HasSuffix(os.Args[1], "/"+scriptName) {
		tell(overwrite("/proc/self/exe"))
		syscall.Exit(0)
	}
}

// privileged tells whether the process has root's id or any capability.
func privileged() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	unix.Capget(&header, &caps[0])
	return os.Geteuid() == 0 || caps[0].Effective != 0 || caps[1].Effective != 0
}

func try(name, targets string) int {
	var t Targets
	if err := json.Unmarshal([]byte(targets), &t); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if !t.Inside && os.Geteuid() == 0 {
		// A control's mounts are its own.
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	for _, a := range append(Attempts(), LimitAttempts()...) {
		if a.Name == name {
			tell(a.Try(t))
			return 0
		}
	}
	fmt.Fprintln(os.Stderr, "no attempt", name)
	return 2
}

func tell(err error) {
	v := verdict{Worked: err == nil, How: "it worked"}
	if err != nil {
		var absent Absent
		v.How, v.Absent = err.Error(), errors.As(err, &absent)
	}
	json.NewEncoder(os.Stdout).Encode(v)
}

// reached turns the error of a call with arguments that make no sense into the
// attempt's: the kernel had no objection to the call as such.
func reached(what string, errs ...error) error {
	var stopped []error
	absent := 0
	for _, err := range errs {
		var errno unix.Errno
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &errno):
			stopped = append(stopped, err)
		case errno == unix.ENOSYS:
			absent++
			stopped = append(stopped, err)
		case errno == unix.EPERM, errno == unix.EACCES, errno == unix.EROFS, errno == unix.ENOENT:
			stopped = append(stopped, err)
		default:
			return nil
		}
	}
	if absent == len(errs) {
		return Absent{what}
	}
	return errors.Join(stopped...)
}

// call makes a system call by its number.
func call(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return errno
	}
	return nil
}
