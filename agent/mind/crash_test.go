package mind

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"homeagent/agent/bus"
	"homeagent/agent/event"
	"homeagent/agent/host"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/queue"
	"homeagent/agent/tool"
	"homeagent/memory/disk"
	"homeagent/memory/disk/disktest"
)

// TestMain lets the test binary be the agent whose process is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("MIND_CHILD"); dir != "" {
		killAt, _ := strconv.Atoi(os.Getenv("MIND_KILL"))
		c := child{dir: dir, killAt: killAt, poison: os.Getenv("MIND_POISON") != "", inject: os.Getenv("MIND_INJECT") != ""}
		if err := c.run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// crashScript thinks for the crash tests: "count" asks for two counts and a
// look, then tells what became of them; anything else is answered at once.
func crashScript(_ context.Context, _ int, req provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
	var asked string
	var states []string
	for _, m := range req.Messages {
		switch m.Role {
		case provider.User:
			asked, states = m.Content, nil
		case provider.Tool:
			if m.Name != "look" {
				states = append(states, string(m.Status))
			}
		}
	}
	if asked != "count" {
		return provider.Response{Text: "answer to " + asked}, nil
	}
	if states == nil {
		return calls(call("first", "count", `{}`), call("look", "look", `{}`), call("second", "count", `{}`)), nil
	}
	return provider.Response{Text: "counted " + strings.Join(states, " ")}, nil
}

// world is what the agent has changed outside, which no crash takes back.
type world struct {
	counts map[string]int      // by call id
	sent   map[string][]string // texts by the input they answer
}

// check holds what a crash may never do: a count that is told as done is 1,
// one that is told as unknown is 0 or 1, none is 2, and every acknowledged
// input has an answer or was set aside with a message.
func (w world) check(fail func(string, ...any), acked map[string]string) {
	for id, n := range w.counts {
		if n > 1 {
			fail("the call %s ran %d times", id, n)
		}
	}
	for id, text := range acked {
		var last string
		for _, s := range w.sent[id] {
			if s != "" {
				last = s
			}
		}
		switch {
		case last == "":
			fail("the acknowledged input %q has no answer", text)
		case strings.Contains(last, "broke down"):
		case text == "count":
			_, states, ok := strings.Cut(last, "counted ")
			f := strings.Fields(states)
			if !ok || len(f) != 2 {
				fail("the answer to %q is %q", text, last)
				continue
			}
			for i, call := range []string{"first", "second"} {
				if n := w.counts[call]; f[i] == "done" && n != 1 || f[i] != "done" && f[i] != "unknown" {
					fail("call %s is told as %s and ran %d times", call, f[i], n)
				}
			}
		case !strings.HasSuffix(last, "answer to "+text):
			fail("the answer to %q is %q", text, last)
		}
	}
}

func (w world) clone() world {
	sent := map[string][]string{}
	for k, v := range w.sent {
		sent[k] = append([]string(nil), v...)
	}
	return world{maps.Clone(w.counts), sent}
}

// moment is what a power cut at one step leaves.
type moment struct {
	step Step
	disk map[disktest.Keep]*disktest.Disk
	w    world
	mem  []Turn // those that memory has kept durably
}

// camera takes a moment at each step, and within the tool.
type camera struct {
	r       *rig
	mu      sync.Mutex
	w       world
	moments []moment
}

func (c *camera) Step(s Step, _ string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := moment{step: s, disk: map[disktest.Keep]*disktest.Disk{}, w: c.w.clone(), mem: c.r.mem.ended()}
	for _, k := range disktest.Keeps {
		m.disk[k] = c.r.disk.Reboot(k)
	}
	c.moments = append(c.moments, m)
}

// tools offers count and look, and records what is sent.
func (c *camera) tools(t *testing.T) {
	c.r.tool("count", tool.Act, func(_ context.Context, call tool.Call) (tool.Result, error) {
		c.Step("tool begins", "")
		c.mu.Lock()
		c.w.counts[call.ID]++
		c.mu.Unlock()
		c.Step("tool ends", "")
		return tool.Result{Text: "counted"}, nil
	})
	c.r.tool("look", tool.Read, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "seen"}, nil })
	if err := c.r.api.Channel("phone", c); err != nil {
		t.Fatal(err)
	}
}

func (c *camera) Send(_ context.Context, m plugin.Message) error {
	c.Step("send begins", "")
	c.mu.Lock()
	c.w.sent[m.ReplyTo] = append(c.w.sent[m.ReplyTo], m.Text)
	c.mu.Unlock()
	c.Step("send ends", "")
	return nil
}

// after continues from a moment, with what of its disk is kept.
func after(t *testing.T, m moment, keep disktest.Keep) *camera {
	mem := &fakeMemory{turns: slices.Clone(m.mem)}
	for _, turn := range mem.turns {
		mem.append(turn.Messages)
	}
	return newCamera(t, m.w.clone(), onDisk(m.disk[keep].Reboot(disktest.All)), withMemory(mem))
}

// checkMemory holds that each acknowledged input is kept once, and that a
// context made of it is one that a provider accepts as it is.
func (c *camera) checkMemory(fail func(string, ...any), acked map[string]string) {
	n := map[string]int{}
	for _, turn := range c.r.mem.ended() {
		n[turn.ID]++
	}
	for id, text := range acked {
		if n[id] != 1 {
			fail("the turn of %q is kept %d times", text, n[id])
		}
	}
	window := c.r.mem.Window()
	checkPairs(fail, window)
	ids := map[string]bool{}
	for _, m := range window {
		if m.ID == "" || ids[m.ID] {
			fail("the context has the message %q twice", m.ID)
		}
		ids[m.ID] = true
	}
}

func newCamera(t *testing.T, w world, opts ...rigOption) *camera {
	c := &camera{w: w}
	c.r = newRig(t, crashScript, append(opts, with(func(o *Options) { o.Steps = c }))...)
	c.tools(t)
	return c
}

// drain runs the agent until every input is dealt with.
func (c *camera) drain(t *testing.T) {
	c.r.start()
	for _, id := range c.ids() {
		c.r.over(id)
	}
	c.r.end()
}

// ids are the inputs that wait.
func (c *camera) ids() (ids []string) {
	q, err := queue.Open(c.r.disk.Reboot(disktest.All), "/data/queue.log", slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		c.r.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for s := q.Stats(); s.User+s.Internal > 0; s = q.Stats() {
		e, err := q.Next(ctx)
		if err != nil {
			c.r.t.Fatal(err)
		}
		ids = append(ids, e.Input.ID)
	}
	return ids
}

// inject puts the inputs of the scenario in and returns them by id.
func inject(t *testing.T, m *Mind) map[string]string {
	acked := map[string]string{}
	for _, text := range []string{"count", "the weather"} {
		id, err := m.InjectText(context.Background(), "phone", "phone", text)
		if err != nil {
			t.Fatal(err)
		}
		acked[id] = text
	}
	return acked
}

// TestPowerCutAtEveryStep cuts the power at each step of two turns, with what
// was not synced gone, half there and there, and lets the next process finish.
// It cuts the second process at each of its steps as well where that is still
// within bounds of time.
func TestPowerCutAtEveryStep(t *testing.T) {
	first := newCamera(t, world{map[string]int{}, map[string][]string{}})
	acked := inject(t, first.r.m)
	prepared := len(first.moments) // steps before both inputs were acknowledged
	first.drain(t)
	first.w.check(t.Errorf, acked)
	first.checkMemory(t.Errorf, acked)
	if len(first.moments) < 50 {
		t.Fatalf("only %d steps", len(first.moments))
	}
	for i, m := range first.moments[prepared:] {
		for _, keep := range disktest.Keeps {
			name := fmt.Sprintf("cut %d at %s, %v kept", i, m.step, keep)
			fail := func(f string, a ...any) { t.Errorf(name+": "+f, a...) }
			second := after(t, m, keep)
			second.drain(t)
			second.w.check(fail, acked)
			second.checkMemory(fail, acked)
			if (keep != disktest.Synced || i%10 != 0) && m.step != StepSentNoted {
				continue
			}
			for k, again := range second.moments {
				fail := func(f string, a ...any) { t.Errorf(name+fmt.Sprintf(", again %d at %s: ", k, again.step)+f, a...) }
				third := after(t, again, disktest.All)
				third.drain(t)
				third.w.check(fail, acked)
				third.checkMemory(fail, acked)
			}
		}
	}
}

// TestAfterToolcallIsNotForgotten cuts the power between the end of a call and
// what after_toolcall makes of it: the model never sees the raw result.
func TestAfterToolcallIsNotForgotten(t *testing.T) {
	redact := func(r *rig) {
		r.stage(plugin.AfterToolcall, func(_ context.Context, sc *plugin.StageContext) error {
			sc.Result.Text += "!"
			return nil
		})
	}
	first := newCamera(t, world{map[string]int{}, map[string][]string{}})
	redact(first.r)
	inject(t, first.r.m)
	first.drain(t)
	n := 0
	for _, m := range first.moments {
		if m.step != StepRan && m.step != StepEnded && m.step != StepPosted && m.step != StepAfterCall {
			continue
		}
		second := after(t, m, disktest.All)
		redact(second.r)
		second.drain(t)
		for _, res := range second.r.mem.ended()[0].Results {
			if res.Status == tool.Done && res.Text != "counted!" && res.Text != "seen!" {
				t.Errorf("cut at %s: the model sees %q", m.step, res.Text)
			}
			if res.Status == tool.Done {
				n++
			}
		}
	}
	if n == 0 {
		t.Error("no finished call was found again")
	}
}

// child is the agent on a real folder, mostly as a process of its own. It
// kills its process at the step number killAt, with poison within the tool.
type child struct {
	dir            string
	killAt         int
	poison, inject bool
}

// run deals with every input that waits.
func (c child) run() error {
	dir, poison, killAt := c.dir, c.poison, c.killAt
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	note := func(file, line string) error {
		f, err := os.OpenFile(filepath.Join(dir, file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString(line + "\n")
		return err
	}
	k := &killer{at: killAt, note: note}
	q, err := queue.Open(disk.OS{}, filepath.Join(dir, "queue.log"), log)
	if err != nil {
		return err
	}
	b := bus.New(log, nil)
	h := host.New(host.Options{Log: log, Bus: b})
	m, err := New(Options{Log: log, Bus: b, Host: h, Queue: q, Memory: &fakeMemory{}, Provider: &fakeLLM{do: crashScript}, Steps: k})
	if err != nil {
		return err
	}
	api := h.Core("test")
	schema := json.RawMessage(`{"type":"object"}`)
	api.RegisterTool("count", tool.Def{Description: "counts", Risk: tool.Act, Parameters: schema}, func(_ context.Context, c tool.Call) (tool.Result, error) {
		k.Step("tool begins", "")
		err := note("counts", c.ID)
		if poison {
			k.kill()
		}
		k.Step("tool ends", "")
		return tool.Result{Text: "counted"}, err
	})
	api.RegisterTool("look", tool.Def{Description: "looks", Risk: tool.Read, Parameters: schema}, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: "seen"}, nil
	})
	api.Channel("phone", sender(func(m plugin.Message) error {
		k.Step("send begins", "")
		err := note("sent", m.ReplyTo+"\t"+m.Text)
		k.Step("send ends", "")
		return err
	}))
	ended := make(chan struct{}, 10)
	b.Subscribe("child", event.System, func(e event.Event) {
		if e.State == "turn_end" {
			ended <- struct{}{}
		}
	})
	defer b.Close(context.Background())
	defer q.Close()
	if c.inject {
		for _, text := range []string{"count", "the weather"} {
			id, err := m.InjectText(context.Background(), "phone", "phone", text)
			if err != nil {
				return err
			}
			if err := note("acked", id+"\t"+text); err != nil {
				return err
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	waiting := q.Stats().User
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	for range waiting {
		select {
		case <-ended:
		case err := <-done:
			return fmt.Errorf("the agent ends early: %w", err)
		}
	}
	cancel()
	return <-done
}

type sender func(plugin.Message) error

func (s sender) Send(_ context.Context, m plugin.Message) error { return s(m) }

// killer ends the process at a step.
type killer struct {
	at, n int
	note  func(file, line string) error
}

func (k *killer) Step(s Step, _ string) {
	k.n++
	k.note("steps", string(s))
	if k.n == k.at {
		k.kill()
	}
}

func (k *killer) kill() {
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until the signal arrives
}

// runChild runs the agent in dir and reports whether it was killed.
func runChild(t *testing.T, dir string, env ...string) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "MIND_CHILD="+dir), env...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	if e, ok := err.(*exec.ExitError); ok {
		exit = e
	}
	if exit == nil || exit.ExitCode() != -1 {
		t.Fatalf("the agent fails: %v: %s", err, out)
	}
	return true
}

func lines(t *testing.T, dir, file string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(b), "\n"), "\n")
}

// readWorld reads what the agents in dir have done.
func readWorld(t *testing.T, dir string) (world, map[string]string) {
	t.Helper()
	w := world{map[string]int{}, map[string][]string{}}
	for _, id := range lines(t, dir, "counts") {
		w.counts[id]++
	}
	for _, l := range lines(t, dir, "sent") {
		id, text, _ := strings.Cut(l, "\t")
		w.sent[id] = append(w.sent[id], text)
	}
	acked := map[string]string{}
	for _, l := range lines(t, dir, "acked") {
		id, text, _ := strings.Cut(l, "\t")
		acked[id] = text
	}
	return w, acked
}

// TestKillAtEveryStep kills the process itself at each step.
func TestKillAtEveryStep(t *testing.T) {
	whole := t.TempDir()
	if runChild(t, whole, "MIND_INJECT=1") {
		t.Fatal("the agent was killed although nobody asked for it")
	}
	steps := lines(t, whole, "steps")
	steps = steps[:slices.Index(steps, string(StepDone))+1] // of the turn with the tools
	w, acked := readWorld(t, whole)
	w.check(t.Errorf, acked)
	if len(steps) < 45 || len(acked) != 2 {
		t.Fatalf("%d steps, %d inputs", len(steps), len(acked))
	}
	for i, s := range steps {
		t.Run(fmt.Sprintf("%02d %s", i+1, s), func(t *testing.T) {
			dir := t.TempDir()
			if !runChild(t, dir, "MIND_INJECT=1", fmt.Sprintf("MIND_KILL=%d", i+1)) {
				t.Fatal("the agent was not killed")
			}
			if err := (child{dir: dir}).run(); err != nil {
				t.Fatal(err)
			}
			w, acked := readWorld(t, dir)
			w.check(t.Errorf, acked)
		})
	}
}

// TestPoison has an input that ends every process: it is set aside with a
// message in its language, and the one behind it is answered.
func TestPoison(t *testing.T) {
	dir := t.TempDir()
	for i, env := range [][]string{{"MIND_INJECT=1", "MIND_POISON=1"}, {"MIND_POISON=1"}} {
		if !runChild(t, dir, env...) {
			t.Fatalf("process %d lives", i+1)
		}
	}
	if runChild(t, dir, "MIND_POISON=1") {
		t.Fatal("the poison was tried a third time")
	}
	w, acked := readWorld(t, dir)
	w.check(t.Errorf, acked)
	aside := 0
	for id, text := range acked {
		if text == "count" && strings.Contains(strings.Join(w.sent[id], "\n"), `"count"`) {
			aside++
		}
	}
	if aside != 1 || w.counts["first"] != 1 || w.counts["second"] != 1 {
		t.Errorf("counts %v, sent %v", w.counts, w.sent)
	}
}
