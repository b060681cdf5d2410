package sandbox

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"homeagent/firmware/words"
)

// Main is process 1 of a sandbox. The binary that calls Start calls it before
// all else when its first argument is Arg. It does not return.
func Main() {
	// The program may signal this process, which has the same user. A handler
	// that drops what it gets keeps the signal from ending it, and unlike
	// ignoring is not inherited. KILL and STOP do not reach a process 1 from inside.
	signal.Notify(make(chan os.Signal, 1))
	// The program is started by this thread, and what it gives up is given up here.
	runtime.LockOSThread()
	family, err := unix.GetsockoptInt(fdReports, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil || family != unix.AF_UNIX || os.Getpid() != 1 {
		said := words.Text{ZH: "homed sandbox 只由 homed 自己启动；要在沙箱里运行程序，请通过智能体",
			EN: "homed sandbox is started by homed itself only; to run a program in a sandbox, ask the agent"}
		fmt.Fprintln(os.Stderr, said.In(words.FromEnv(os.Getenv)))
		os.Exit(2)
	}
	// Nothing is left to tidy up, and the race detector would wait a second.
	syscall.Exit(first())
}

// first does all of process 1 and returns its exit status.
func first() (status int) {
	defer func() {
		if p := recover(); p != nil {
			sendReport(report{Kind: reportFailed, Said: cannot("panic", fmt.Errorf("%v", p)).Text})
			status = 1
		}
	}()
	o, err := readOrder()
	if err != nil {
		sendReport(report{Kind: reportFailed, Said: cannot("order", err).Text})
		return 1
	}
	r := &room{order: o}
	if err := r.enter(); err != nil {
		sendReport(report{Kind: reportFailed, Said: err.Text})
		return 1
	}
	if err := r.start(); err != nil {
		text := words.Format("程序 %s 不能启动（%v）；请检查程序名、文件夹和权限",
			"%s cannot be started (%v); check its name, the folder and its permissions", o.Spec.Program, err)
		sendReport(report{Kind: reportFailed, Said: text, Program: true})
		return 1
	}
	sendReport(r.reap())
	return 0
}

// room is a sandbox seen from its process 1.
type room struct {
	order
	program int // the program's process
	pidfd   int
	// terminal and its program's side; -1 without one
	master, slave int
	relay         *relay // nil where output is not counted
}

// enter turns the process into the first of a sandbox, step by step.
func (r *room) enter() *words.Error {
	s := &r.Spec
	r.master, r.slave = -1, -1
	steps := []struct {
		name string
		do   func() error
	}{
		// Whatever the supervisor was born with must not reach the program.
		{"descriptors", func() error { return unix.CloseRange(fdReports, 1<<31, unix.CLOSE_RANGE_CLOEXEC) }},
		{"memory priority", func() error {
			return os.WriteFile("/proc/self/oom_score_adj", []byte(strconv.Itoa(s.OOMScore)), 0)
		}},
		// The namespace's root is the group that the process is in now.
		{"cgroup namespace", func() error { return unix.Unshare(unix.CLONE_NEWCGROUP) }},
		{"keys", newKeyring},
		{"root", func() error { return enterRoot(s) }},
		{"host name", func() error { return hostname(s.Hostname) }},
		{"loopback", func() error {
			if s.Network {
				return nil
			}
			return loopbackUp()
		}},
		{"limits", func() error { return setLimits(s) }},
		{"privileges", func() error { return drop(s) }},
		{"terminal", r.openTerminal},
		{"output", r.openRelay},
		{"system calls", func() error {
			program, err := policy(s)
			if err != nil {
				return err
			}
			return confine(program)
		}},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return cannot(step.name, err)
		}
	}
	return nil
}

// newKeyring leaves the supervisor's session keyring behind. A kernel without
// keys has none to leave.
func newKeyring() error {
	if _, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0); err != nil && err != unix.ENOSYS {
		return err
	}
	return nil
}

func hostname(name string) error {
	if name == "" {
		name = "sandbox"
	}
	return unix.Sethostname([]byte(name))
}

// loopbackUp gives programs of a sandbox without a network one among themselves.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == unix.EAFNOSUPPORT {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
		return err
	}
	lo.SetUint16(lo.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// start runs the program and tells the supervisor.
func (r *room) start() error {
	s := &r.Spec
	syscall.Umask(0o022)
	dir := s.Dir
	if dir == "" {
		dir = "/"
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	path, err := lookup(s.Program, s.Env)
	if err != nil {
		return err
	}
	r.pidfd = -1
	attr := &syscall.ProcAttr{Env: s.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true, PidFD: &r.pidfd}}
	switch {
	case r.slave >= 0:
		f := uintptr(r.slave)
		attr.Files = []uintptr{f, f, f}
		attr.Sys.Setctty, attr.Sys.Ctty = true, 0
	case r.relay != nil:
		attr.Files[1], attr.Files[2] = r.relay.out.Fd(), r.relay.err.Fd()
	}
	for i := range r.Extra {
		attr.Files = append(attr.Files, uintptr(fdExtra+i))
	}
	if r.program, err = syscall.ForkExec(path, append([]string{s.Program}, s.Args...), attr); err != nil {
		return &os.PathError{Op: "exec", Path: path, Err: err}
	}
	fds := []int{r.pidfd}
	if r.master >= 0 {
		fds = append(fds, r.master)
	}
	if err := sendReport(report{Kind: reportReady}, fds...); err != nil {
		return err
	}
	for _, fd := range append(fds, r.slave) {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	// A reader of the program's output, a writer of its input must notice when it closes its end.
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := 0; fd < 3 && r.relay == nil; fd++ {
		if err == nil {
			unix.Dup3(null, fd, 0)
		} else {
			unix.Close(fd)
		}
	}
	for i := range r.Extra {
		unix.Close(fdExtra + i)
	}
	return nil
}

// reap waits for the program, ends and collects whatever else is left, and says
// how it went.
func (r *room) reap() report {
	// The supervisor sends nothing: its end falls shut when it is gone.
	go func() {
		var b [1]byte
		for {
			if n, err := unix.Read(fdReports, b[:]); n == 0 || err != nil && err != unix.EINTR && err != unix.EAGAIN {
				os.Exit(1)
			}
		}
	}()
	if r.relay != nil {
		r.relay.run()
	}
	out := report{Kind: reportExit, Code: -1}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			break // nobody is left
		}
		if pid != r.program {
			continue
		}
		if status.Signaled() {
			out.Signal = int(status.Signal())
		} else {
			out.Code = status.ExitStatus()
		}
		unix.Kill(-1, unix.SIGKILL) // all but this process
	}
	if r.relay != nil && r.relay.wait() {
		out.Why = WhyOutput
	}
	return out
}
