package sandboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"homeagent/firmware/sandbox"
)

func processAttempts() []Attempt {
	return []Attempt{
		{Name: "see the machine's processes", AsUser: true, Try: func(t Targets) error {
			if len(withMarker(t.Marker)) > 0 {
				return nil
			}
			return errors.New("the victim is not in /proc")
		}},
		{Name: "signal the supervisor's processes", AsUser: true, Try: func(t Targets) error { return unix.Kill(t.Victim, 0) }},
		{Name: "end process 1", AsUser: true, Death: true, Try: endFirst},
		{Name: "read the memory of process 1", AsUser: true, Try: func(t Targets) error {
			dir := fmt.Sprintf("/proc/%d/", t.First)
			return openAny(unix.O_RDONLY, dir+"mem", dir+"environ", dir+"maps", dir+"fd", dir+"root", dir+"cwd")
		}},
		{Name: "ptrace", AsUser: true, Try: withChild(func(pid int) error {
			const seize = 0x4206 // PTRACE_SEIZE
			return call(unix.SYS_PTRACE, seize, uintptr(pid))
		})},
		{Name: "ptrace process 1", AsUser: true, Try: func(t Targets) error { return call(unix.SYS_PTRACE, 0x4206, uintptr(t.First)) }},
		{Name: "read another process's memory", AsUser: true, Try: withChild(func(pid int) error {
			var b [1]byte
			iov := []unix.Iovec{{Base: &b[0], Len: 1}}
			_, err := unix.ProcessVMReadv(pid, iov, []unix.RemoteIovec{{Base: 1, Len: 1}}, 0)
			return reached("process_vm_readv", err)
		})},
		{Name: "take another process's descriptor", AsUser: true, Try: withChild(func(pid int) error {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			_, err = unix.PidfdGetfd(fd, 0, 0)
			return err
		})},
		{Name: "fork bomb", AsUser: true, Try: bomb, Spec: func(_ *House, s *sandbox.Spec) { s.Limits.PIDs = 64 }},
		{Name: "outlive the program", AsUser: true, Try: outlive, Check: func(h *House) bool {
			left := withMarker("outliving-" + h.marker)
			for _, pid := range left {
				unix.Kill(pid, unix.SIGKILL)
			}
			return len(left) > 0
		}},
		{Name: "real-time priority", Try: func(Targets) error {
			param := struct{ priority int32 }{1}
			err := call(unix.SYS_SCHED_SETSCHEDULER, 0, 1 /* SCHED_FIFO */, uintptr(unsafe.Pointer(&param)))
			return reached("sched_setscheduler", err, unix.Setpriority(unix.PRIO_PROCESS, 0, -5))
		}},
		{Name: "type into another's terminal", Try: typeInto(unix.TIOCSTI)},
		{Name: "type into a terminal, the request disguised", Try: typeInto(unix.TIOCSTI | 1<<32)},
		{Name: "type into the console", Try: typeInto(0x541C)}, // TIOCLINUX
	}
}

// withMarker finds processes that have the marker among their arguments.
func withMarker(marker string) []int {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var pids []int
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(b, []byte(argPause+"\x00"+marker+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// endFirst sends everything that ends or stops a process. The control's is a
// child that stands for it; inside, it is process 1, and the sandbox breaks if it works.
func endFirst(t Targets) error {
	if !t.Inside {
		return withChild(func(pid int) error { return unix.Kill(pid, unix.SIGKILL) })(t)
	}
	for sig := unix.Signal(1); sig < 65; sig++ {
		unix.Kill(1, sig)
	}
	return errors.New("it is alive")
}

// withChild makes an attempt on a child of its own.
func withChild(do func(pid int) error) func(Targets) error {
	return func(Targets) error {
		cmd := exec.Command("/proc/self/exe", argPause)
		if err := cmd.Start(); err != nil {
			return err
		}
		defer func() {
			cmd.Process.Kill()
			cmd.Wait()
		}()
		return do(cmd.Process.Pid)
	}
}

// bomb forks until it has so many children or no more.
func bomb(t Targets) error {
	var pids []int
	defer func() {
		for _, pid := range pids {
			unix.Kill(pid, unix.SIGKILL)
			unix.Wait4(pid, nil, 0, nil)
		}
	}()
	for len(pids) < t.Bomb {
		pid, err := fork()
		if err != nil {
			return fmt.Errorf("after %d: %w", len(pids), err)
		}
		pids = append(pids, pid)
	}
	return nil
}

// fork makes a copy of the process that does nothing, not even run the copied
// runtime.
func fork() (int, error) {
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	if pid == 0 {
		for {
			// On every architecture, unlike pause.
			syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
		}
	}
	return int(pid), nil
}

// outlive leaves a process behind that nobody waits for.
func outlive(t Targets) error {
	cmd := exec.Command("/proc/self/exe", argPause, "outliving-"+t.Marker)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// typeInto injects a character into a terminal by an ioctl.
func typeInto(request uint64) func(Targets) error {
	return func(Targets) error {
		master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(master)
		if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
		if errno != 0 {
			return errno
		}
		defer unix.Close(int(slave))
		c := byte('x')
		return reached("", call(unix.SYS_IOCTL, slave, uintptr(request), uintptr(unsafe.Pointer(&c))))
	}
}
