package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calls that take an attribute are given zeros of this length.
const zeros = 256

func kernelAttempts() []Attempt {
	all := []Attempt{
		{Name: "the kernel's keys", Try: func(Targets) error {
			_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
			_, err2 := unix.AddKey("user", "sandboxtest", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
			_, err3 := unix.RequestKey("user", "sandboxtest", "", unix.KEY_SPEC_PROCESS_KEYRING)
			return reached("keys", err, err2, err3)
		}},
		{Name: "io_uring", AsUser: true, Try: func(Targets) error {
			var params [zeros]byte
			return reached("io_uring", call(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params))))
		}},
		{Name: "userfaultfd", Try: func(Targets) error { return reached("userfaultfd", call(unix.SYS_USERFAULTFD, 0)) }},
		{Name: "perf", Try: func(Targets) error {
			attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK}
			attr.Size = uint32(unsafe.Sizeof(attr))
			_, err := unix.PerfEventOpen(&attr, 0, -1, -1, 0)
			return reached("perf", err)
		}},
		{Name: "bpf", Try: func(Targets) error {
			attr := [zeros]byte{0: 2, 4: 4, 8: 4, 12: 1} // an array map of one entry
			return reached("bpf", call(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), 72))
		}},
		{Name: "unshare", Try: func(Targets) error {
			var errs []error
			for _, flag := range []int{unix.CLONE_NEWUSER, unix.CLONE_NEWUTS, unix.CLONE_NEWNET, unix.CLONE_NEWIPC, unix.CLONE_NEWCGROUP} {
				errs = append(errs, unix.Unshare(flag))
			}
			return reached("namespaces", errs...)
		}},
		{Name: "clone into a user namespace", AsUser: true, Try: cloneUser(0)},
		{Name: "clone into user and mount namespaces", AsUser: true, Try: cloneUser(unix.CLONE_NEWNS)},
		{Name: "clone3 with namespaces", AsUser: true, Try: clone3},
		{Name: "setns", Try: func(t Targets) error {
			fd, err := unix.Open("/proc/self/ns/uts", unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return reached("setns", unix.Setns(fd, unix.CLONE_NEWUTS))
		}},
		{Name: "kernel modules", Try: func(Targets) error {
			return reached("modules", call(unix.SYS_FINIT_MODULE, ^uintptr(0), 0, 0), call(unix.SYS_DELETE_MODULE, 0, 0))
		}},
		{Name: "another kernel", Try: func(Targets) error { return reached("kexec", call(unix.SYS_KEXEC_LOAD, 0, 0, 0, 0)) }},
		{Name: "restart the machine", Try: func(Targets) error {
			return reached("reboot", unix.Reboot(unix.LINUX_REBOOT_CMD_CAD_OFF)) // turns Ctrl-Alt-Del off, no more
		}},
		{Name: "set the clock", Try: func(Targets) error {
			t := unix.Timex{Modes: unix.ADJ_TICK, Tick: 10_000} // what it is anyway
			_, err := unix.Adjtimex(&t)
			return reached("adjtimex", err, unix.Settimeofday(nil))
		}},
		{Name: "the host's name", Try: func(Targets) error {
			var u unix.Utsname
			if err := unix.Uname(&u); err != nil {
				return err
			}
			return reached("sethostname", unix.Sethostname([]byte(unix.ByteSliceToString(u.Nodename[:]))))
		}},
		{Name: "the kernel's log", Try: func(Targets) error {
			_, err := unix.Klogctl(unix.SYSLOG_ACTION_SIZE_BUFFER, nil)
			return reached("syslog", err)
		}},
		{Name: "swap and accounting", Try: func(t Targets) error {
			name, err := unix.BytePtrFromString(t.Workspace + "/none")
			if err != nil {
				return err
			}
			err = call(unix.SYS_SWAPON, uintptr(unsafe.Pointer(name)), 0)
			if err == unix.ENOENT {
				return nil // it was looked for
			}
			return reached("swapon", err)
		}},
		{Name: "marks on a whole file system", Try: func(Targets) error {
			_, err := unix.FanotifyInit(unix.FAN_CLASS_CONTENT, unix.O_RDONLY)
			return reached("fanotify", err)
		}},
	}
	if other != nil {
		all = append(all, Attempt{Name: "calls of the 32-bit interface", Try: otherCalls})
	}
	return all
}

// cloneUser starts a process in a user namespace and perhaps others.
func cloneUser(more uintptr) func(Targets) error {
	return func(Targets) error {
		cmd := exec.Command("/proc/self/exe", argRoot)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | more}
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil // it ran
		}
		return unwrapped(err)
	}
}

// unwrapped gives the kernel's word on user namespaces: ENOSYS and EINVAL say that there are none.
func unwrapped(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		if _, statErr := os.Stat("/proc/self/ns/user"); statErr != nil {
			return Absent{"user namespaces"}
		}
	}
	return err
}

// clone3 asks for namespaces where a filter cannot see it.
func clone3(Targets) error {
	if _, err := os.Stat("/proc/self/ns/user"); err != nil {
		return Absent{"user namespaces"}
	}
	args := struct {
		flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls uint64
	}{flags: unix.CLONE_NEWUSER, exitSignal: uint64(unix.SIGCHLD)}
	pid, _, errno := syscall.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	if errno != 0 {
		return fmt.Errorf("clone3: %w", errno)
	}
	if pid == 0 {
		for {
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	unix.Wait4(int(pid), nil, 0, nil)
	return nil
}

// otherCalls asks for a namespace by the 32-bit interface, in a process of its
// own, since a processor without it ends who tries.
func otherCalls(Targets) error {
	err := exec.Command("/proc/self/exe", argOther).Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 2 {
		return reached("32-bit interface", unix.Errno(exit.ExitCode()))
	}
	if errors.As(err, &exit) {
		if exit.ExitCode() == int(unix.EPERM) {
			return unix.EPERM
		}
		return Absent{"32-bit interface"}
	}
	return err
}
