package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/words"
)

// startWait is how long making a sandbox may take.
const startWait = 30 * time.Second

// Start makes a sandbox and runs the program in it. It returns once the program
// runs. When ctx ends, so does the sandbox. The error is a *ProgramError where
// the program could not be started, and else says why there is no sandbox; in
// both cases nothing is left of it. Errors have words in both languages.
func Start(ctx context.Context, spec Spec, stdio Stdio) (*Process, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	if stdio.Terminal != nil && !spec.has(Dev) {
		return nil, cannot("terminal", errors.New("the view has no /dev"))
	}
	if err := ctx.Err(); err != nil {
		return nil, cannot("start", err)
	}
	p, reports, err := launch(&spec, stdio)
	if err != nil {
		return nil, cannot("start", err)
	}
	if err := p.ready(ctx, reports, stdio.Terminal != nil); err != nil {
		p.first.Kill()
		p.first.Wait()
		reports.close()
		p.group.remove()
		return nil, err
	}
	go p.watch(ctx, reports, &spec)
	return p, nil
}

// launch brings process 1 into being, which is told what to do and has not done anything yet.
func launch(spec *Spec, stdio Stdio) (*Process, *reportsEnd, error) {
	if os.Geteuid() != 0 {
		return nil, nil, errors.New("only root can make one")
	}
	group, err := newGroup(spec)
	if err != nil {
		return nil, nil, err
	}
	p := &Process{group: group, done: make(chan struct{})}
	reports, inside, err := newReports()
	if err != nil {
		return nil, nil, errors.Join(err, group.remove())
	}
	defer inside.Close()
	fail := func(err error) (*Process, *reportsEnd, error) {
		reports.close()
		return nil, nil, errors.Join(err, group.remove())
	}
	order, err := writeOrder(order{Spec: *spec, Extra: len(stdio.Extra), Terminal: stdio.Terminal})
	if err != nil {
		return fail(err)
	}
	defer order.Close()
	files, null, err := stdio.files(inside, order)
	if err != nil {
		return fail(err)
	}
	defer null.Close()
	sys := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		Setsid:     true,
	}
	if !spec.Network {
		sys.Cloneflags |= unix.CLONE_NEWNET
	}
	if group != nil {
		sys.UseCgroupFD, sys.CgroupFD = true, int(group.fd.Fd())
	}
	// The environment is not the supervisor's. One processor is enough to wait
	// on, and what never allocates needs no collector.
	env := []string{"GOMAXPROCS=1", "GOGC=off", "GOTRACEBACK=none"}
	p.first, err = os.StartProcess("/proc/self/exe", []string{"homed", Arg}, &os.ProcAttr{Dir: "/", Env: env, Files: files, Sys: sys})
	if err != nil {
		return fail(err)
	}
	p.PID = p.first.Pid
	return p, reports, nil
}

// ready waits for the first report.
func (p *Process) ready(ctx context.Context, reports *reportsEnd, terminal bool) error {
	stop := context.AfterFunc(ctx, func() { p.first.Kill() })
	defer stop()
	r, fds, err := reports.next(time.Now().Add(startWait))
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return cannot("first report", err)
	}
	want := 1
	if terminal {
		want = 2
	}
	switch {
	case r.Kind == reportFailed && r.Program:
		return &ProgramError{r.Said}
	case r.Kind == reportFailed:
		return &words.Error{Text: r.Said}
	case r.Kind != reportReady || len(fds) != want:
		for _, f := range fds {
			f.Close()
		}
		return cannot("first report", fmt.Errorf("%q with %d descriptors", r.Kind, len(fds)))
	}
	p.program = fds[0]
	if terminal {
		p.terminal = fds[1]
	}
	return nil
}

// reportsEnd is the supervisor's end of the socket to process 1.
type reportsEnd struct{ conn *net.UnixConn }

// newReports makes the socket; inside is for process 1.
func newReports() (r *reportsEnd, inside *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socket: %w", err)
	}
	inside = os.NewFile(uintptr(pair[1]), "reports")
	outside := os.NewFile(uintptr(pair[0]), "reports")
	defer outside.Close()
	c, err := net.FileConn(outside)
	if err != nil {
		inside.Close()
		return nil, nil, fmt.Errorf("socket: %w", err)
	}
	return &reportsEnd{c.(*net.UnixConn)}, inside, nil
}

func (r *reportsEnd) close() { r.conn.Close() }

// next reads a report and the descriptors beside it; the zero deadline is none.
func (r *reportsEnd) next(deadline time.Time) (report, []*os.File, error) {
	r.conn.SetReadDeadline(deadline)
	b := make([]byte, maxReport)
	oob := make([]byte, unix.CmsgSpace(4*8))
	n, oobn, _, _, err := r.conn.ReadMsgUnix(b, oob)
	if err != nil {
		return report{}, nil, err
	}
	var files []*os.File
	if messages, err := unix.ParseSocketControlMessage(oob[:oobn]); err == nil {
		for _, m := range messages {
			fds, err := unix.ParseUnixRights(&m)
			if err != nil {
				continue
			}
			for i, fd := range fds {
				unix.CloseOnExec(fd)
				if i == 1 { // a terminal: waits for it must not hold a thread each
					unix.SetNonblock(fd, true)
				}
				files = append(files, os.NewFile(uintptr(fd), []string{"program", "terminal", "", ""}[min(i, 3)]))
			}
		}
	}
	var out report
	if n == 0 {
		return out, files, errors.New("process 1 ended")
	}
	if err := json.Unmarshal(b[:n], &out); err != nil {
		return out, files, err
	}
	return out, files, nil
}

// pidOf reads the process from what /proc/self/fdinfo says of a pidfd.
func pidOf(info string) int {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, "Pid:"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(v))
			if err == nil {
				return n
			}
		}
	}
	return 0
}
