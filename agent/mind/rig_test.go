package mind

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"homeagent/agent/event"
	"homeagent/agent/host"
	"homeagent/agent/plugin"
	"homeagent/agent/plugin/plugintest"
	"homeagent/agent/provider"
	"homeagent/agent/queue"
	"homeagent/agent/tool"
	"homeagent/memory/disk"
	"homeagent/memory/disk/disktest"
)

// fakeMemory keeps the window and the turns.
type fakeMemory struct {
	mu     sync.Mutex
	window []provider.Message
	turns  []Turn
	line   string
	items  []plugin.Item
	asked  []string
	err    error // of every call
	pruned int
}

func (f *fakeMemory) Append(msgs ...provider.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.append(msgs)
}

func (f *fakeMemory) append(msgs []provider.Message) {
	for _, m := range msgs {
		if !slices.ContainsFunc(f.window, func(o provider.Message) bool { return m.ID != "" && o.ID == m.ID }) {
			f.window = append(f.window, m)
		}
	}
}

func (f *fakeMemory) Prune(context.Context, string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pruned++
	return f.err
}

func (f *fakeMemory) Window() []provider.Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.window)
}

func (f *fakeMemory) Recall(_ context.Context, q, lang string) (string, []plugin.Item, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, lang+":"+q)
	return f.line, f.items, f.err
}

func (f *fakeMemory) EndTurn(_ context.Context, t Turn) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return f.err
	}
	if slices.ContainsFunc(f.turns, func(o Turn) bool { return o.ID == t.ID }) {
		return nil
	}
	f.append(t.Messages)
	f.turns = append(f.turns, t)
	return nil
}

func (f *fakeMemory) ended() []Turn {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.turns)
}

// think is what a fake provider does with its n-th request, the first being 0.
type think func(ctx context.Context, n int, req provider.Request, emit func(provider.Chunk) error) (provider.Response, error)

// fakeLLM thinks by a function and keeps the requests.
type fakeLLM struct {
	mu    sync.Mutex
	do    think
	asked []provider.Request
}

func (f *fakeLLM) Name() string { return "fake" }

func (f *fakeLLM) Chat(ctx context.Context, req provider.Request) (provider.Response, error) {
	return f.ChatStream(ctx, req, func(provider.Chunk) error { return nil })
}

func (f *fakeLLM) ChatStream(ctx context.Context, req provider.Request, emit func(provider.Chunk) error) (provider.Response, error) {
	f.mu.Lock()
	n, do := len(f.asked), f.do
	req.Messages = slices.Clone(req.Messages)
	f.asked = append(f.asked, req)
	f.mu.Unlock()
	return do(ctx, n, req, emit)
}

func (f *fakeLLM) requests() []provider.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// says answers every request with the same text.
func says(text string) think {
	return func(context.Context, int, provider.Request, func(provider.Chunk) error) (provider.Response, error) {
		return provider.Response{Text: text}, nil
	}
}

// plays answers the n-th request with the n-th response, and the rest with the last.
func plays(list ...provider.Response) think {
	return func(_ context.Context, n int, _ provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
		return list[min(n, len(list)-1)], nil
	}
}

// calls is a response with calls.
func calls(list ...tool.Call) provider.Response { return provider.Response{Calls: list} }

func call(id, name, args string) tool.Call {
	return tool.Call{ID: id, Name: name, Args: json.RawMessage(args)}
}

// stepList keeps the steps of every input.
type stepList struct {
	mu    sync.Mutex
	steps []Step
}

func (s *stepList) Step(step Step, _ string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, step)
}

func (s *stepList) list() []Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.steps)
}

// rig is a whole agent around the mind.
type rig struct {
	t    *testing.T
	b    *plugintest.Bench
	disk *disktest.Disk
	q    *queue.Queue
	mem  *fakeMemory
	llm  *fakeLLM
	m    *Mind
	con  *plugintest.Listener // channel "console"
	api  plugin.API           // of a plugin called "test"
	done chan error
	stop context.CancelFunc
}

type rigOption func(*rig, *Options, *host.Options)

// onDisk continues with what an earlier rig left.
func onDisk(d *disktest.Disk) rigOption {
	return func(r *rig, _ *Options, _ *host.Options) { r.disk = d }
}

func withMemory(m *fakeMemory) rigOption {
	return func(r *rig, _ *Options, _ *host.Options) { r.mem = m }
}

func with(f func(*Options)) rigOption { return func(_ *rig, o *Options, _ *host.Options) { f(o) } }

// newRig makes an agent; start lets it run.
func newRig(t *testing.T, do think, opts ...rigOption) *rig {
	t.Helper()
	r := &rig{t: t, disk: disktest.New(), mem: &fakeMemory{}, llm: &fakeLLM{do: do}}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	o := Options{Log: log, Memory: r.mem, Provider: r.llm}
	r.b = plugintest.New(t, func(h *host.Options) {
		for _, f := range opts {
			f(r, &o, h)
		}
	})
	o.Memory = r.mem
	q, err := queue.Open(disk.FS(r.disk), "/data/queue.log", log)
	if err != nil {
		t.Fatal(err)
	}
	r.q = q
	o.Bus, o.Host, o.Queue = r.b.Bus, r.b.Host, q
	if r.m, err = New(o); err != nil {
		t.Fatal(err)
	}
	r.con = r.b.Listen("console")
	r.api = r.b.Host.Core("test")
	return r
}

// start runs the loop; it ends with the test.
func (r *rig) start() *rig {
	ctx, cancel := context.WithCancel(context.Background())
	r.stop, r.done = cancel, make(chan error, 1)
	go func() { r.done <- r.m.Run(ctx) }()
	r.t.Cleanup(r.end)
	return r
}

// end stops the loop and waits for it; twice is harmless.
func (r *rig) end() {
	r.t.Helper()
	r.stop()
	if err, ok := <-r.done; ok {
		close(r.done)
		if err != nil {
			r.t.Errorf("Run: %v", err)
		}
	}
}

// say injects a text asked on the console.
func (r *rig) say(text string) string {
	r.t.Helper()
	return r.inject(plugin.Input{Source: "console", Channel: "console", Payload: text})
}

func (r *rig) inject(in plugin.Input) string {
	r.t.Helper()
	id, err := r.m.InjectInput(context.Background(), in)
	if err != nil {
		r.t.Fatalf("InjectInput: %v", err)
	}
	return id
}

// turn says text and waits until its turn is over.
func (r *rig) turn(text string) string {
	r.t.Helper()
	return r.over(r.say(text))
}

// over waits for the end of a turn.
func (r *rig) over(id string) string {
	r.t.Helper()
	r.b.WaitEvent("the end of turn "+id, func(e event.Event) bool { return e.State == "turn_end" && e.Input == id })
	return id
}

// answers are the texts sent to the console, silence as "".
func (r *rig) answers() (out []string) {
	for _, m := range r.con.Sent() {
		out = append(out, m.Text)
	}
	return out
}

func (r *rig) tool(name string, risk tool.Risk, h func(ctx context.Context, c tool.Call) (tool.Result, error)) {
	r.t.Helper()
	err := r.api.RegisterTool(name, tool.Def{Description: "a tool of the test", Risk: risk,
		Parameters: json.RawMessage(`{"type":"object","properties":{"state":{"enum":["on","off"]}},"additionalProperties":false}`)}, h)
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) stage(s plugin.Stage, h plugin.StageHandler) {
	r.t.Helper()
	if err := r.api.RegisterStage(s, h); err != nil {
		r.t.Fatal(err)
	}
}

// states are the states of the system events so far.
func (r *rig) states() (out []string) {
	for _, e := range r.b.Events() {
		if e.Type == event.System {
			out = append(out, e.State)
		}
	}
	return out
}

// settled waits until every event published so far has reached the bench.
func (r *rig) settled() {
	r.t.Helper()
	mark := queue.NewID(r.m.o.Now())
	r.b.Bus.Publish(event.Event{Type: event.System, State: "mark", Text: mark})
	r.b.WaitEvent("the mark", func(e event.Event) bool { return e.State == "mark" && e.Text == mark })
}

// last is the last message of the n-th request with the role.
func lastOf(req provider.Request, role provider.Role) provider.Message {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if req.Messages[i].Role == role {
			return req.Messages[i]
		}
	}
	return provider.Message{}
}

var errTest = errors.New("made up by the test")

func contains(list []string, what string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, what) })
}
