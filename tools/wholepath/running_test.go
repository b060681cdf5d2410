package wholepath

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"homeagent/drivers/voice"
	"homeagent/drivers/web/client"
	"homeagent/firmware/control"
)

// The waits are long because the machine may be busy with other tests; none is
// a measurement.
const (
	startWait = time.Minute
	turnWait  = time.Minute
	hearWait  = 3 * time.Minute
)

// quiet is the configuration of a house that listens to recordings only.
const quiet = "voice: {microphone: \"off\", speaker: \"off\"}\n"

// house is a running homed.
type house struct {
	t     testing.TB
	dir   string // the data folder
	api   *client.Client
	ctl   control.Client
	log   *logText
	homed *homed
}

// homed is the process.
type homed struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
	err   error         // how; after ended
}

// in is the same house for a subtest.
func (h *house) in(t testing.TB) *house {
	c := *h
	c.t = t
	return &c
}

// logText is what the programs print, safe for concurrent use.
type logText struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// folder makes a data folder with a configuration. Its path is short: sockets lie in it.
func folder(t testing.TB, config string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "house-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	configure(t, dir, config)
	return dir
}

// configure writes config.yaml; the page gets any free port unless it says otherwise.
func configure(t testing.TB, dir, config string) {
	t.Helper()
	if !strings.Contains(config, "daemon:") {
		config = "daemon: {listen_addr: \"127.0.0.1:0\"}\n" + config
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// open starts a house on a folder of its own and waits until it answers.
func open(t testing.TB, config string) *house {
	t.Helper()
	h := start(t, folder(t, config))
	h.ready()
	return h
}

// start starts homed on a data folder; it ends with the test.
func start(t testing.TB, dir string, args ...string) *house {
	t.Helper()
	p := &homed{ended: make(chan struct{})}
	h := &house{t: t, dir: dir, log: &logText{}, homed: p,
		api: client.Unix(filepath.Join(dir, "run", "door.sock"), "en"),
		ctl: control.Client{Path: filepath.Join(dir, "run", "control.sock")}}
	p.cmd = exec.Command(program(t, "homed"), append([]string{"-data", dir}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = h.log, h.log
	// A test run that is killed must not leave houses behind.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		// The kernel sends the death signal when the thread ends that made the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.stop()
		if t.Failed() {
			t.Logf("what the house printed:\n%s", tail(h.log.String(), 60))
		}
	})
	return h
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// stop ends the house, by force if need be.
func (h *house) stop() {
	h.api.Close()
	select {
	case <-h.homed.ended:
		return
	default:
	}
	h.homed.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-h.homed.ended:
	case <-time.After(20 * time.Second):
		h.t.Error("homed did not end; it is killed")
		h.homed.cmd.Process.Kill()
		<-h.homed.ended
	}
}

// eventually waits for a condition.
func eventually(t testing.TB, within time.Duration, what string, holds func() bool) {
	t.Helper()
	if !waited(within, holds) {
		t.Fatalf("not within %v: %s", within, what)
	}
}

// waited reports whether the condition came true in time.
func waited(within time.Duration, holds func() bool) bool {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			return false
		case <-tick.C:
		}
	}
	return true
}

// ready waits until a text is answered.
func (h *house) ready() {
	h.t.Helper()
	eventually(h.t, startWait, "the house answers", func() bool {
		select {
		case <-h.homed.ended:
			h.t.Fatalf("homed ended: %v\n%s", h.homed.err, h.log)
		default:
		}
		_, err := h.trySay("what time is it")
		return err == nil
	})
}

// trySay sends a text over the API and waits for its whole answer.
func (h *house) trySay(text string) (client.Answer, error) {
	ctx, cancel := context.WithTimeout(h.t.Context(), turnWait)
	defer cancel()
	return h.api.Chat(ctx, map[string]string{"text": text})
}

// say is trySay that must work.
func (h *house) say(text string) string {
	h.t.Helper()
	a, err := h.trySay(text)
	if err != nil {
		h.t.Fatalf("say %q: %v", text, err)
	}
	return a.Text
}

// homectl runs homectl and returns what it printed and how it ended.
func (h *house) homectl(within time.Duration, args ...string) (stdout, stderr string, code int) {
	h.t.Helper()
	return h.homectlIn(within, "", args...)
}

// homectlIn is homectl with something on its standard input.
func (h *house) homectlIn(within time.Duration, stdin string, args ...string) (stdout, stderr string, code int) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(h.t, "homectl"), append([]string{"-data", h.dir, "--lang", "en"}, args...)...)
	var out, bad bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &bad
	cmd.Run() // the exit code tells
	return out.String(), bad.String(), cmd.ProcessState.ExitCode()
}

// hearing is what `homectl hear` told of a recording.
type hearing struct {
	lines  []voice.Line
	stderr string
	code   int
}

// heardAtOnce bounds recordings over all houses: a dozen engines on two cores
// would only keep each other from listening.
var heardAtOnce = make(chan struct{}, 6)

// hear plays a recording with homectl, in real time, and collects its lines.
func (h *house) hear(file string, args ...string) hearing {
	h.t.Helper()
	heardAtOnce <- struct{}{}
	defer func() { <-heardAtOnce }()
	out, bad, code := h.homectl(hearWait, append([]string{"hear", "--json", file}, args...)...)
	got := hearing{stderr: bad, code: code}
	for text := range strings.Lines(out) {
		var l struct {
			voice.Line
			WAV string `json:"wav"` // its length only; the sound goes to --out
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			h.t.Errorf("homectl hear printed %q: %v", text, err)
			continue
		}
		got.lines = append(got.lines, l.Line)
	}
	return got
}

// all are the lines of one kind.
func (g hearing) all(event string) (out []voice.Line) {
	for _, l := range g.lines {
		if l.Event == event {
			out = append(out, l)
		}
	}
	return out
}

// String is the lines without the states.
func (g hearing) String() string {
	var b strings.Builder
	for _, l := range g.lines {
		if l.Event != "state" && l.Event != "trace" {
			fmt.Fprintf(&b, "%s %q (%s); ", l.Event, l.Text, l.Engine)
		}
	}
	return fmt.Sprintf("%sexit %d %s", b.String(), g.code, g.stderr)
}

// lamps tells which virtual devices are on.
func (h *house) lamps() map[string]bool {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), turnWait)
	defer cancel()
	var got struct {
		Devices []struct {
			Name string
			On   bool
		}
	}
	if err := h.api.Do(ctx, http.MethodGet, "virtual", nil, &got); err != nil {
		h.t.Fatalf("GET virtual: %v", err)
	}
	on := map[string]bool{}
	for _, d := range got.Devices {
		on[d.Name] = d.On
	}
	if len(on) == 0 {
		h.t.Fatal("the house has no virtual devices")
	}
	return on
}

// status asks the supervisor.
func (h *house) status() (control.StatusReport, error) {
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	defer cancel()
	var rep control.StatusReport
	err := h.ctl.Call(ctx, control.Request{Cmd: control.Status}, &rep)
	return rep, err
}

// pids are the process numbers by name: homed, door, agent, and engines where
// they run.
func (h *house) pids() map[string]int {
	h.t.Helper()
	rep, err := h.status()
	if err != nil {
		h.t.Fatalf("status: %v", err)
	}
	pids := map[string]int{"homed": h.homed.cmd.Process.Pid}
	for _, p := range rep.Processes {
		pids[p.Name] = p.PID
	}
	if e := child(pids["agent"], "engines"); e != 0 {
		pids["engines"] = e
	}
	return pids
}

// child is the process that parent started with a word among its arguments, 0 if none.
func child(parent int, word string) int {
	for _, p := range processes() {
		if p.parent == parent && slices.Contains(p.args, word) {
			return p.pid
		}
	}
	return 0
}

// process is one entry of /proc.
type process struct {
	pid, parent int
	args        []string
}

// processes lists what runs, zombies left out.
func processes() (out []process) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		stat, err := os.ReadFile(filepath.Join(d, "stat"))
		if err != nil {
			continue // it has ended
		}
		var p process
		var state string
		// The name in parentheses may hold anything; what follows the last one counts.
		rest := stat[bytes.LastIndexByte(stat, ')')+1:]
		if _, err := fmt.Sscan(string(rest), &state, &p.parent); err != nil || state == "Z" || state == "X" {
			continue
		}
		fmt.Sscan(filepath.Base(d), &p.pid)
		line, err := os.ReadFile(filepath.Join(d, "cmdline"))
		if err != nil {
			continue
		}
		p.args = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		out = append(out, p)
	}
	return out
}

// left are those of the processes that still run.
func left(pids map[string]int) (names []string) {
	running := map[int]bool{}
	for _, p := range processes() {
		running[p.pid] = true
	}
	for _, name := range slices.Sorted(maps.Keys(pids)) {
		if running[pids[name]] {
			names = append(names, name)
		}
	}
	return names
}
