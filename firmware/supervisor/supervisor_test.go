package supervisor

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"homeagent/firmware/account"
	"homeagent/firmware/config"
	"homeagent/firmware/control"
)

// The test binary doubles as door and agent: it reads its handover and waits.
func TestMain(m *testing.M) {
	switch os.Getenv("SUPERVISED") {
	case "":
		os.Exit(m.Run())
	case "supervise": // a whole supervisor: data folder, passwd, group
		os.Setenv("SUPERVISED", "yes")
		err := New(Options{
			DataDir: os.Args[1], Output: io.Discard, AgentUser: "agent", DoorUser: "door",
			Accounts: account.Source{Passwd: os.Args[2], Group: os.Args[3]},
			Door:     []string{os.Args[0], "plain"}, Agent: []string{os.Args[0], "plain"},
		}).Run(context.Background())
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case "ask": // from another user's process: the path of a socket, a command
		conn, err := net.Dial("unix", os.Args[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Fprintf(conn, "{\"cmd\":%q}\n", os.Args[2])
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Print(line)
		os.Exit(0)
	}
	h, err := config.ReadHandover()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("started secrets=%d config=%q\n", len(h.Secrets), h.Config)
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	for range term {
		if len(os.Args) < 2 || os.Args[1] != "stubborn" {
			os.Exit(0)
		}
	}
}

type house struct {
	*Supervisor
	t      *testing.T
	cancel context.CancelFunc
	done   chan error
	client *control.Client
	dir    string
	log    *syncBuffer
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func start(t *testing.T, dir string, agent ...string) *house {
	t.Helper()
	t.Setenv("SUPERVISED", "yes")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if len(agent) == 0 {
		agent = []string{self, "plain"}
	} else if agent[0] == "" {
		agent[0] = self
	}
	return startWith(t, Options{DataDir: dir, Agent: agent})
}

// startWith runs a house with further options.
func startWith(t *testing.T, o Options) *house {
	t.Helper()
	t.Setenv("SUPERVISED", "yes")
	ctx, cancel := context.WithCancel(t.Context())
	h := &house{t: t, cancel: cancel, done: make(chan error, 1), dir: o.DataDir, log: &syncBuffer{}}
	self := program(t)
	o.Version, o.Output, o.Door = "test", h.log, []string{self, "plain"}
	if o.Agent == nil {
		o.Agent = []string{self, "plain"}
	}
	h.Supervisor = New(o)
	h.client = &control.Client{Path: filepath.Join(o.DataDir, "run", "control.sock")}
	go func() { h.done <- h.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-h.done })
	return h
}

// program is the test binary where every user can start it.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		return self
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	open(t, filepath.Dir(path))
	return path
}

// runAs runs the test binary in one of its other roles under another user.
func runAs(t *testing.T, program string, uid int, role string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "SUPERVISED="+role)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: testAgent}}
	out, err := cmd.Output()
	if err != nil {
		var ee *exec.ExitError
		if errors.As(err, &ee) {
			t.Fatalf("as user %d: %v: %s", uid, err, ee.Stderr)
		}
		t.Fatalf("as user %d: %v", uid, err)
	}
	return out
}

// status waits until ok holds for the report.
func (h *house) status(what string, ok func(control.StatusReport) bool) control.StatusReport {
	h.t.Helper()
	var rep control.StatusReport
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		select {
		case err := <-h.done:
			h.done <- err
			h.t.Fatalf("waiting for %s: the supervisor ended: %v", what, err)
		case <-time.After(10 * time.Millisecond):
		}
		if h.client.Call(h.t.Context(), control.Request{Cmd: control.Status}, &rep) == nil && ok(rep) {
			return rep
		}
	}
	h.t.Fatalf("waiting for %s: %+v\n%s", what, rep, h.log.String())
	return rep
}

func running(rep control.StatusReport) bool {
	for _, p := range rep.Processes {
		if p.State != "running" {
			return false
		}
	}
	return len(rep.Processes) == 2
}

func TestAKilledProcessComesBackAlone(t *testing.T) {
	h := start(t, t.TempDir())
	before := h.status("both to run", running)
	if err := syscall.Kill(before.Processes[1].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	after := h.status("the agent to come back", func(r control.StatusReport) bool {
		return running(r) && r.Processes[1].PID != before.Processes[1].PID
	})
	if after.Processes[0].PID != before.Processes[0].PID {
		t.Error("the door was started anew too")
	}
	if after.Processes[1].Restarts != 1 || !strings.Contains(after.Processes[1].LastExit, "killed") {
		t.Errorf("agent: %+v", after.Processes[1])
	}
}

func TestACrashIsToldWithItsLastWord(t *testing.T) {
	h := start(t, t.TempDir(), "/bin/sh", "-c", "echo it is broken >&2; exit 7")
	rep := h.status("a crash", func(r control.StatusReport) bool { return len(r.Processes) == 2 && r.Processes[1].Restarts > 0 })
	if got := rep.Processes[1].LastExit; !strings.Contains(got, "exit status 7: it is broken") {
		t.Errorf("last exit %q", got)
	}
}

func TestStopEndsAStubbornProcess(t *testing.T) {
	h := start(t, t.TempDir(), "", "stubborn")
	rep := h.status("both to run", running)
	h.cancel()
	if err := <-h.done; err != nil {
		t.Fatal(err)
	}
	h.done <- nil
	for _, p := range rep.Processes {
		if err := syscall.Kill(p.PID, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s is still there: %v", p.Name, err)
		}
	}
}

func TestTwoOnOneFolder(t *testing.T) {
	h := start(t, t.TempDir())
	h.status("both to run", running)
	err := New(Options{DataDir: h.dir, Output: io.Discard}).Run(t.Context())
	var inUse *InUseError
	if !errors.As(err, &inUse) || !strings.Contains(err.Error(), "-data") || inUse.PID != fmt.Sprint(os.Getpid()) {
		t.Fatalf("got %v", err)
	}
	h.status("the first to be unharmed", running)
}

func TestFolderThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := New(Options{DataDir: filepath.Join(file, "data"), Output: io.Discard}).Run(t.Context()); err == nil {
		t.Error("a file was taken for a folder")
	}
	if err := New(Options{DataDir: "/proc/homeagent", Output: io.Discard}).Run(t.Context()); err == nil {
		t.Error("a folder was made where none can be")
	}
}

func TestBrokenConfigKeepsTheLastGood(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	effective := func() (string, control.StatusReport) {
		h := start(t, dir)
		rep := h.status("both to run", running)
		var text string
		if err := h.client.Call(t.Context(), control.Request{Cmd: control.ConfigGet}, &text); err != nil {
			t.Fatal(err)
		}
		h.cancel()
		h.done <- <-h.done
		return text, rep
	}
	write("daemon: {\n")
	if text, rep := effective(); text != "" || len(rep.Notices) != 1 || !strings.Contains(rep.Notices[0], "defaults are used") {
		t.Errorf("broken from the start: %q %q", text, rep.Notices)
	}
	write("agent: {max_tool_rounds: 5}\n")
	if text, rep := effective(); !strings.Contains(text, "5") || len(rep.Notices) != 0 {
		t.Errorf("good: %q %q", text, rep.Notices)
	}
	write("agent: [\n")
	if text, rep := effective(); !strings.Contains(text, "5") || !strings.Contains(rep.Notices[0], "last good") {
		t.Errorf("broken later: %q %q", text, rep.Notices)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "agent: [\n" {
		t.Errorf("the owner's file was touched: %q %v", text, err)
	}
}

func TestSetConfigAndSecret(t *testing.T) {
	h := start(t, t.TempDir())
	first := h.status("both to run", running)
	call := func(req control.Request) error { return h.client.Call(t.Context(), req, nil) }
	if err := call(control.Request{Cmd: control.ConfigSet, Text: "agent: ["}); err == nil {
		t.Error("a broken configuration was taken")
	}
	if err := call(control.Request{Cmd: control.SecretSet, Name: "../x", Text: "v"}); err == nil {
		t.Error("a path was taken for a secret's name")
	}
	if err := call(control.Request{Cmd: control.SecretSet, Name: "deepseek", Text: "sk-1"}); err != nil {
		t.Fatal(err)
	}
	if err := call(control.Request{Cmd: control.ConfigSet, Text: "agent: {max_tool_rounds: 7}\n"}); err != nil {
		t.Fatal(err)
	}
	h.status("the agent to start anew", func(r control.StatusReport) bool {
		return running(r) && r.Processes[1].PID != first.Processes[1].PID && r.Processes[0].PID == first.Processes[0].PID &&
			strings.Contains(h.log.String(), `secrets=1 config="agent: {max_tool_rounds: 7}`)
	})
	info, err := os.Stat(filepath.Join(h.dir, "secrets", "deepseek"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("secret file: %v %v", info, err)
	}
	if strings.Contains(h.log.String(), "sk-1") {
		t.Error("the secret is in the log")
	}
}

// TestRestartReadsHandEdits: who edits config.yaml and restarts a process gets
// what the file says now, and hears of what is wrong with it.
func TestRestartReadsHandEdits(t *testing.T) {
	h := start(t, t.TempDir())
	first := h.status("both to run", running)
	path := filepath.Join(h.dir, "config.yaml")
	restart := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := h.client.Call(t.Context(), control.Request{Cmd: control.Restart, Name: "agent"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	restart("agent: {max_tool_rounds: 4}\n")
	h.status("the agent to start with the edited file", func(r control.StatusReport) bool {
		return running(r) && r.Processes[1].PID != first.Processes[1].PID && strings.Contains(h.log.String(), `config="agent: {max_tool_rounds: 4}`)
	})
	restart("agent: [\n")
	h.status("the broken file to be told", func(r control.StatusReport) bool {
		return len(r.Notices) == 1 && strings.Contains(r.Notices[0], "config.yaml")
	})
}

// TestConfigThatIsNoFile: a pipe or a folder in the file's place is told and
// not waited for.
func TestConfigThatIsNoFile(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := put(filepath.Join(dir, "config.yaml")); err != nil {
				t.Fatal(err)
			}
			h := start(t, dir)
			if rep := h.status("both to run", running); len(rep.Notices) != 1 {
				t.Errorf("notices %q", rep.Notices)
			}
		})
	}
}
