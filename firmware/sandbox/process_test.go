package sandbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/sandbox"
	"homeagent/firmware/words"
)

// generous is a deadline of what takes a moment.
const generous = time.Minute

// start runs a script and does not wait for it. The first line it writes has been read when start returns.
func start(t *testing.T, ctx context.Context, spec sandbox.Spec, script string) (*sandbox.Process, *bufio.Reader) {
	t.Helper()
	spec.Program, spec.Args = "sh", []string{"-c", "echo ready; " + script}
	if spec.View == nil {
		spec.View = system(t)
	}
	spec.UID, spec.GID = asUser, asUser
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	p, err := sandbox.Start(ctx, spec, sandbox.Stdio{Out: w, Err: w})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); p.Wait() })
	r.SetReadDeadline(time.Now().Add(generous))
	out := bufio.NewReader(r)
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return p, out
}

func TestEnds(t *testing.T) {
	tests := []struct {
		name   string
		limits sandbox.Limits
		script string
		do     func(p *sandbox.Process, cancel context.CancelFunc) error
		want   sandbox.Exit
	}{
		{"killed", sandbox.Limits{}, "sleep 1000", func(p *sandbox.Process, _ context.CancelFunc) error { p.Kill(); return nil },
			sandbox.Exit{Code: -1, Signal: syscall.SIGKILL, Why: sandbox.WhyKilled}},
		{"cancelled", sandbox.Limits{}, "sleep 1000", func(_ *sandbox.Process, cancel context.CancelFunc) error { cancel(); return nil },
			sandbox.Exit{Code: -1, Signal: syscall.SIGKILL, Why: sandbox.WhyCancelled}},
		{"time", sandbox.Limits{Time: 300 * time.Millisecond}, "sleep 1000", nil,
			sandbox.Exit{Code: -1, Signal: syscall.SIGKILL, Why: sandbox.WhyTime}},
		{"output", sandbox.Limits{Output: 1000}, "yes", nil, sandbox.Exit{Code: -1, Signal: syscall.SIGKILL, Why: sandbox.WhyOutput}},
		{"a signal", sandbox.Limits{}, "exec sleep 1000",
			func(p *sandbox.Process, _ context.CancelFunc) error { return p.Signal(syscall.SIGTERM) },
			sandbox.Exit{Code: -1, Signal: syscall.SIGTERM}},
		{"a signal that is caught", sandbox.Limits{}, "trap 'exit 9' TERM; while :; do sleep .05; done",
			func(p *sandbox.Process, _ context.CancelFunc) error { return p.Signal(syscall.SIGTERM) }, sandbox.Exit{Code: 9}},
		{"its own signal", sandbox.Limits{}, "kill -HUP $$", nil, sandbox.Exit{Code: -1, Signal: syscall.SIGHUP}},
		{"process 1 killed from outside", sandbox.Limits{}, "sleep 1000",
			func(p *sandbox.Process, _ context.CancelFunc) error { return unix.Kill(p.PID, unix.SIGKILL) },
			sandbox.Exit{Code: -1, Signal: syscall.SIGKILL, Why: sandbox.WhyLost}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			script := tt.script
			if strings.HasPrefix(script, "trap") { // ready only once it is
				script = "trap 'exit 9' TERM; echo set; while :; do sleep .05; done"
			}
			p, out := start(t, ctx, sandbox.Spec{Limits: tt.limits}, script)
			if script != tt.script {
				if line, err := out.ReadString('\n'); line != "set\n" {
					t.Fatalf("%q, %v", line, err)
				}
			}
			if tt.do != nil {
				if err := tt.do(p, cancel); err != nil {
					t.Fatal(err)
				}
			}
			if got := p.Wait(); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			p.Kill()
			if got := p.Wait(); got != tt.want {
				t.Errorf("after a late Kill %+v", got)
			}
			if err := p.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("signal to what has ended: %v", err)
			}
			if err := unix.Kill(p.PID, 0); err != unix.ESRCH {
				t.Errorf("process 1 is still there: %v", err)
			}
			for _, lang := range []string{words.Chinese, words.English} {
				if tt.want.In(lang) == "" {
					t.Errorf("no words in %s", lang)
				}
			}
		})
	}
}

// The output up to the limit arrives, and not a byte more; below it nothing is lost.
func TestOutput(t *testing.T) {
	for _, tt := range []struct {
		limit int64
		why   sandbox.Why
		want  int
	}{{100_000, sandbox.WhyProgram, 70_000}, {70_000, sandbox.WhyProgram, 70_000}, {69_999, sandbox.WhyOutput, 69_999}} {
		spec := sandbox.Spec{Limits: sandbox.Limits{Output: tt.limit}}
		out, exit := shell(t, spec, "head -c 50000 /dev/zero; head -c 20000 /dev/zero >&2; sleep .2")
		if len(out) != tt.want || exit.Why != tt.why {
			t.Errorf("limit %d: %d bytes, %+v", tt.limit, len(out), exit)
		}
	}
}

func TestProgramPID(t *testing.T) {
	p, _ := start(t, t.Context(), sandbox.Spec{}, "exec sleep 1000")
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.ProgramPID()))
	if err != nil || !strings.Contains(string(status), "\nUid:\t61234\t61234\t61234\t61234\n") {
		t.Errorf("%v\n%s", err, status)
	}
	p.Kill()
	p.Wait()
	if pid := p.ProgramPID(); pid != 0 {
		t.Errorf("%d after the end", pid)
	}
}

// Whoever reads the output learns when the program closes it, and whoever
// writes the input when the program does not read any more.
func TestStreams(t *testing.T) {
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer inW.Close()
	defer outR.Close()
	p, err := sandbox.Start(t.Context(), sandbox.Spec{Program: "/bin/sh", View: system(t), UID: asUser, GID: asUser,
		Args: []string{"-c", "read line; echo \"$line\" back; exec <&- >&- 2>&-; while :; do sleep .05; done"}},
		sandbox.Stdio{In: inR, Out: outW})
	inR.Close()
	outW.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { p.Kill(); p.Wait() }()
	fmt.Fprintln(inW, "hello")
	outR.SetReadDeadline(time.Now().Add(generous))
	if b, err := io.ReadAll(outR); err != nil || string(b) != "hello back\n" {
		t.Errorf("%q, %v", b, err)
	}
	inW.SetWriteDeadline(time.Now().Add(generous))
	for err == nil {
		_, err = inW.Write(make([]byte, 4096))
	}
	if !errors.Is(err, unix.EPIPE) {
		t.Errorf("writing to nobody: %v", err)
	}
}

func TestExtra(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := sandbox.Start(t.Context(), sandbox.Spec{Program: "/bin/sh", View: system(t), UID: asUser, GID: asUser,
		Args: []string{"-c", "ls -l /proc/self/fd | wc -l >&3; echo hello >&4"}}, sandbox.Stdio{Extra: []*os.File{w, w}})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	p.Wait()
	// total, 0 to 4, and the folder that is read
	if b, err := io.ReadAll(r); err != nil || string(b) != "7\nhello\n" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestTerminal(t *testing.T) {
	p, err := sandbox.Start(t.Context(), sandbox.Spec{Program: "/bin/sh", View: system(t), UID: asUser, GID: asUser,
		Args: []string{"-c", "tty; stty size; trap 'stty size; exit 3' WINCH; echo set; while :; do sleep .05; done"}},
		sandbox.Stdio{Terminal: &sandbox.Size{Rows: 11, Cols: 33}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { p.Kill(); p.Wait(); p.Terminal().Close() }()
	p.Terminal().SetReadDeadline(time.Now().Add(generous))
	lines := bufio.NewScanner(p.Terminal())
	next := func() string {
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		return lines.Text()
	}
	if a, b, c := next(), next(), next(); a != "/dev/pts/0" || b != "11 33" || c != "set" {
		t.Fatalf("%q, %q, %q", a, b, c)
	}
	if err := p.Resize(sandbox.Size{Rows: 12, Cols: 34}); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "12 34" {
		t.Errorf("%q", got)
	}
	if exit := p.Wait(); exit.Code != 3 {
		t.Errorf("%+v", exit)
	}
}

// Ctrl-C on a terminal reaches the program.
func TestTerminalInterrupt(t *testing.T) {
	p, err := sandbox.Start(t.Context(), sandbox.Spec{Program: "/bin/sh", View: system(t), UID: asUser, GID: asUser,
		Args: []string{"-c", "echo set; exec sleep 1000"}}, sandbox.Stdio{Terminal: &sandbox.Size{Rows: 24, Cols: 80}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { p.Kill(); p.Wait(); p.Terminal().Close() }()
	p.Terminal().SetDeadline(time.Now().Add(generous))
	if line, err := bufio.NewReader(p.Terminal()).ReadString('\n'); err != nil || strings.TrimSpace(line) != "set" {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := p.Terminal().Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	if exit := p.Wait(); exit != (sandbox.Exit{Code: -1, Signal: syscall.SIGINT}) {
		t.Errorf("%+v", exit)
	}
}

// A folder among the descriptors would be a way out.
func TestNoFolders(t *testing.T) {
	view := system(t)
	dir, err := os.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for name, stdio := range map[string]sandbox.Stdio{"in": {In: dir}, "extra": {Extra: []*os.File{dir}}, "nothing": {Extra: []*os.File{nil}}} {
		p, err := sandbox.Start(t.Context(), sandbox.Spec{Program: "/bin/true", View: view, UID: asUser, GID: asUser}, stdio)
		if err == nil {
			p.Kill()
			t.Errorf("%s: it ran", name)
		}
	}
}

// argSupervisor makes the test binary a supervisor that starts a sandbox and waits.
const argSupervisor = "test-supervisor"

func supervise() {
	view, err := sandbox.System()
	if err == nil {
		var p *sandbox.Process
		spec := sandbox.Spec{Program: "sleep", Args: []string{"1000"}, View: view, UID: asUser, GID: asUser}
		if p, err = sandbox.Start(context.Background(), spec, sandbox.Stdio{}); err == nil {
			fmt.Println(p.PID)
			p.Wait()
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// A supervisor that dies takes its sandboxes along.
func TestSupervisorDies(t *testing.T) {
	system(t)
	cmd := exec.Command("/proc/self/exe", argSupervisor)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	first, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(first)
	cmd.Process.Kill()
	cmd.Wait()
	deadline := time.Now().Add(generous)
	n, err := 0, error(unix.EINTR)
	for err == unix.EINTR {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(first), Events: unix.POLLIN}}, int(time.Until(deadline).Milliseconds()))
	}
	if err != nil || n != 1 {
		t.Errorf("the sandbox goes on: %d, %v", n, err)
		unix.Kill(pid, unix.SIGKILL)
	}
}

// What cannot be made is an error with words, and nothing has run.
func TestCannot(t *testing.T) {
	view := system(t)
	dir := t.TempDir()
	if err := os.Symlink("/etc", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	bound := sandbox.Mount{Source: dir, Target: "/x", Writable: true}
	with := func(m ...sandbox.Mount) []sandbox.Mount { return append(append([]sandbox.Mount{}, view...), m...) }
	tests := []struct {
		name    string
		spec    sandbox.Spec
		want    string
		program bool
	}{
		{"no program", sandbox.Spec{Program: "/bin/none"}, "/bin/none cannot be started", true},
		{"no such name", sandbox.Spec{Program: "none"}, "none cannot be started", true},
		{"a folder as the program", sandbox.Spec{Program: "/usr"}, "/usr cannot be started", true},
		{"no folder", sandbox.Spec{Program: "/bin/true", Dir: "/none"}, "/none", true},
		{"no source", sandbox.Spec{Program: "/bin/true", View: with(sandbox.Mount{Source: dir + "/none", Target: "/x"})}, "/none", false},
		{"a link in the source", sandbox.Spec{Program: "/bin/true",
			View: with(sandbox.Mount{Source: dir + "/link/ssl", Target: "/x"})}, "/link/ssl", false},
		{"a link as the source", sandbox.Spec{Program: "/bin/true", View: with(sandbox.Mount{Source: dir + "/link", Target: "/x"})}, "/link", false},
		{"a target that is not there in a bind", sandbox.Spec{Program: "/bin/true",
			View: with(bound, sandbox.Mount{Kind: sandbox.Tmpfs, Size: 4096, Target: "/x/y"})}, "/x/y", false},
		{"a link in a target", sandbox.Spec{Program: "/bin/true",
			View: with(bound, sandbox.Mount{Kind: sandbox.Tmpfs, Size: 4096, Target: "/x/link"})}, "/x/link", false},
		{"no device", sandbox.Spec{Program: "/bin/true", Devices: []string{"/dev/none"}}, "/dev/none", false},
		{"no control group", sandbox.Spec{Program: "/bin/true", Cgroup: dir}, "no cgroup version 2", false},
		{"a host name that is too long", sandbox.Spec{Program: "/bin/true", Hostname: strings.Repeat("x", 65)}, "host name", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.spec.View == nil {
				tt.spec.View = view
			}
			tt.spec.UID, tt.spec.GID = asUser, asUser
			p, err := sandbox.Start(t.Context(), tt.spec, sandbox.Stdio{})
			if err == nil {
				p.Wait()
				t.Fatal("it ran")
			}
			var program *sandbox.ProgramError
			if zh := words.In(err, words.Chinese); zh == err.Error() || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v / %s", err, zh)
			}
			if errors.As(err, &program) != tt.program {
				t.Errorf("%T", err)
			}
			if left, _ := filepath.Glob(dir + "/*"); len(left) != 1 {
				t.Errorf("it made %v", left)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	spec := sandbox.Spec{Program: "/bin/true", View: view, UID: asUser, GID: asUser}
	if _, err := sandbox.Start(ctx, spec, sandbox.Stdio{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}
