package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"homeagent/agent/event"
	"homeagent/agent/host"
	"homeagent/agent/pcm"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory/embed"
)

// Suite is a plugin's entry to the conformance tests.
type Suite struct {
	// New makes the plugin; it is called anew for each test.
	New func(t *testing.T) plugin.Plugin
	// Options may alter the host's options: home, secrets, deadlines.
	Options func(*host.Options)
	// Prepare may register on the host what the plugin needs of others.
	Prepare func(t *testing.T, h *host.Host)
	// Unplug takes the hardware away and Plug gives it back, where a plugin has
	// some that can go; nil for others.
	Unplug, Plug func(t *testing.T, p plugin.Plugin)
	// Skip names tools that are not called even with a context that has ended.
	Skip []string
}

// Conformance runs the suite for a plugin that needs nothing special.
func Conformance(t *testing.T, factory func(t *testing.T) plugin.Plugin) {
	t.Helper()
	Suite{New: factory}.Run(t)
}

// Run runs all tests of the suite.
func (s Suite) Run(t *testing.T) {
	t.Run("new has no effect", s.newHasNoEffect)
	t.Run("start and stop twenty times", s.startAndStop)
	t.Run("stop is harmless", s.stopIsHarmless)
	t.Run("a failed start is undone", s.failedStart)
	t.Run("what it registers is sound", s.registrations)
	t.Run("tools end with their context", s.toolsEnd)
	t.Run("stages take anything", s.stagesTakeAnything)
	if s.Unplug != nil {
		t.Run("unplug", s.unplug)
	}
}

// bench makes a bench for the suite's plugin.
func (s Suite) bench(t *testing.T) *Bench {
	b := New(t, func(o *host.Options) {
		if s.Options != nil {
			s.Options(o)
		}
	})
	if s.Prepare != nil {
		s.Prepare(t, b.Host)
	}
	return b
}

// start starts the plugin; one whose hardware is absent passes by name only.
func (s Suite) start(t *testing.T, b *Bench, p plugin.Plugin) {
	t.Helper()
	if err := b.Start(p); errors.Is(err, plugin.ErrNotHere) {
		t.Skipf("%s is not for this machine: %v", p.Name(), err)
	} else if err != nil {
		t.Fatalf("start: %v", err)
	}
}

// noLeak reports goroutines that were not there before.
func noLeak(t *testing.T, before goleak.Option) {
	t.Helper()
	if err := goleak.Find(before); err != nil {
		t.Errorf("goroutines are left: %v", err)
	}
}

func (s Suite) newHasNoEffect(t *testing.T) {
	before := goleak.IgnoreCurrent()
	p := s.New(t)
	noLeak(t, before)
	if q := s.New(t); p.Name() != q.Name() || p.Version() != q.Version() {
		t.Errorf("two of them differ: %s %s, %s %s", p.Name(), p.Version(), q.Name(), q.Version())
	}
	if p.Name() == "" || strings.TrimSpace(p.Version()) == "" {
		t.Errorf("name %q, version %q", p.Name(), p.Version())
	}
	h := host.New(host.Options{})
	if err := h.Add(p); err != nil {
		t.Error(err)
	}
}

func (s Suite) startAndStop(t *testing.T) {
	b := s.bench(t)
	p := s.New(t)
	s.start(t, b, p)
	first := b.Host.Tools()
	b.Host.Stop(context.Background())
	before := goleak.IgnoreCurrent()
	for i := range 20 {
		if err := b.Host.Restart(context.Background(), p.Name()); err != nil {
			t.Fatalf("start %d: %v", i+2, err)
		}
		if now := b.Host.Tools(); !slices.EqualFunc(first, now, sameDef) {
			t.Fatalf("start %d offers other tools: %v, before %v", i+2, names(now), names(first))
		}
		b.Host.Stop(context.Background())
		if st := status(b, p); st.State != host.Stopped || st.Reason != "" {
			t.Fatalf("stop %d: %+v", i+2, st)
		}
		if left := own(b, p); len(left) > 0 {
			t.Fatalf("tools are left after stop: %v", left)
		}
	}
	noLeak(t, before)
}

func sameDef(a, b tool.Def) bool {
	return a.Name == b.Name && a.Description == b.Description && string(a.Parameters) == string(b.Parameters) && a.Risk == b.Risk
}

func names(defs []tool.Def) (out []string) {
	for _, d := range defs {
		out = append(out, d.Name)
	}
	return out
}

// own are the plugin's tools.
func own(b *Bench, p plugin.Plugin) (out []tool.Def) {
	for _, d := range b.Host.Tools() {
		if d.Plugin == p.Name() {
			out = append(out, d)
		}
	}
	return out
}

func status(b *Bench, p plugin.Plugin) host.Status {
	for _, st := range b.Host.Plugins() {
		if st.Name == p.Name() {
			return st
		}
	}
	return host.Status{}
}

func (s Suite) stopIsHarmless(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p := s.New(t)
	if err := p.Stop(ctx); err != nil {
		t.Errorf("stop before start: %v", err)
	}
	b := s.bench(t)
	s.start(t, b, p)
	b.Host.Stop(ctx)
	for i := range 2 {
		if err := p.Stop(ctx); err != nil {
			t.Errorf("stop again (%d): %v", i+1, err)
		}
	}
	q := s.New(t)
	s.start(t, s.bench(t), q)
	short, cancel := context.WithCancel(context.Background())
	cancel()
	began := make(chan struct{})
	go func() {
		defer close(began)
		q.Stop(short) // its error is free: the deadline is over
	}()
	select {
	case <-began:
	case <-time.After(patience):
		t.Error("stop with a context that has ended does not return")
	}
}

var errRefused = errors.New("refused by the test")

// refusing is an API whose n-th registration fails.
type refusing struct {
	plugin.API
	n, at int
}

func (r *refusing) next(what string, do func() error) error {
	if r.n++; r.n == r.at {
		return fmt.Errorf("%s: %w", what, errRefused)
	}
	return do()
}

func (r *refusing) RegisterTool(name string, d tool.Def, h tool.Handler) error {
	return r.next("tool "+name, func() error { return r.API.RegisterTool(name, d, h) })
}

func (r *refusing) RegisterStage(s plugin.Stage, h plugin.StageHandler) error {
	return r.next("stage", func() error { return r.API.RegisterStage(s, h) })
}

func (r *refusing) Channel(name string, c plugin.Sender) error {
	return r.next("channel", func() error { return r.API.Channel(name, c) })
}

func (r *refusing) Embedder(name string, e embed.Embedder) error {
	return r.next("embedder", func() error { return r.API.Embedder(name, e) })
}

func (r *refusing) Provider(name string, p provider.Provider) error {
	return r.next("provider", func() error { return r.API.Provider(name, p) })
}

func (r *refusing) AudioDevice(name string, o pcm.Opener) error {
	return r.next("audio device", func() error { return r.API.AudioDevice(name, o) })
}

func (r *refusing) Streams(name string, h plugin.StreamHandler) error {
	return r.next("stream", func() error { return r.API.Streams(name, h) })
}

func (r *refusing) Endpoint(name string, h plugin.EndpointHandler) error {
	return r.next("endpoint", func() error { return r.API.Endpoint(name, h) })
}

// starter gives a plugin another API than the host's.
type starter struct {
	plugin.Plugin
	wrap func(plugin.API) plugin.API
}

func (s *starter) Start(ctx context.Context, api plugin.API) error {
	return s.Plugin.Start(ctx, s.wrap(api))
}

func (s Suite) failedStart(t *testing.T) {
	probe := &refusing{}
	b := s.bench(t)
	p := s.New(t)
	s.start(t, b, &starter{p, func(a plugin.API) plugin.API { probe.API = a; return probe }})
	b.Host.Stop(context.Background())
	before := goleak.IgnoreCurrent()
	for at := 1; at <= probe.n; at++ {
		b := s.bench(t)
		p := s.New(t)
		wrap := &starter{p, func(a plugin.API) plugin.API { return &refusing{API: a, at: at} }}
		err := b.Start(wrap)
		if err == nil {
			t.Errorf("the plugin runs although registration %d of %d was refused", at, probe.n)
		}
		if left := own(b, p); err != nil && len(left) > 0 {
			t.Errorf("tools are left after a failed start: %v", left)
		}
		wrap.wrap = func(a plugin.API) plugin.API { return a }
		if err := b.Host.Restart(context.Background(), p.Name()); err != nil {
			t.Errorf("after a failed start (registration %d) it does not start any more: %v", at, err)
		}
		b.Host.Stop(context.Background())
		if err := b.Bus.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	noLeak(t, before)
}

func (s Suite) registrations(t *testing.T) {
	b := s.bench(t)
	p := s.New(t)
	s.start(t, b, p)
	for _, d := range own(b, p) {
		if len([]rune(d.Description)) > 600 {
			t.Errorf("tool %s: a description of %d characters costs every request", d.Name, len([]rune(d.Description)))
		}
		if !json.Valid(d.Parameters) {
			t.Errorf("tool %s: parameters are no JSON", d.Name)
		}
		for _, args := range []string{`[]`, `"x"`, `7`} {
			if _, bad := b.Host.Check(tool.Call{ID: "c", Name: d.Name, Args: json.RawMessage(args)}); bad == nil {
				t.Errorf("tool %s: its schema lets %s pass", d.Name, args)
			}
		}
	}
}

func (s Suite) toolsEnd(t *testing.T) {
	b := s.bench(t)
	p := s.New(t)
	s.start(t, b, p)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, d := range own(b, p) {
		if slices.Contains(s.Skip, d.Name) {
			continue
		}
		b.Host.RunTool(ctx, tool.Call{ID: "c", Name: d.Name, Args: json.RawMessage(`{}`)})
	}
	if hung := b.Host.Guard().Hung(); len(hung) > 0 {
		t.Errorf("calls do not end with their context: %v", hung)
	}
	for _, e := range b.Events() {
		if e.State == "tool_panic" {
			t.Error(e.Text)
		}
	}
}

func (s Suite) stagesTakeAnything(t *testing.T) {
	b := s.bench(t)
	p := s.New(t)
	s.start(t, b, p)
	for _, stage := range plugin.Stages {
		for _, sc := range []plugin.StageContext{
			{},
			{Input: plugin.Input{ID: "i", Source: "console", Type: plugin.Text}, RawMessage: "你好\u0000\ufffd" + strings.Repeat("x", 1<<16)},
			{Input: plugin.Input{ID: "i", Source: "_probe_", Type: plugin.Media, Media: []provider.Media{{MIME: "image/png", Data: []byte{1, 2}}}},
				ToolCalls: []tool.Call{{Args: json.RawMessage(`"`)}}, ContextMsgs: make([]provider.Message, 3)},
		} {
			sc.Phase = stage
			b.Stage(sc)
		}
	}
	b.Bus.Publish(event.Event{Type: event.System, State: "suite_over"})
	b.WaitEvent("the end of the stages", func(e event.Event) bool { return e.State == "suite_over" })
	for _, e := range b.Events() {
		switch e.State {
		case "stage_panic", "stage_hung", "stage_write_refused":
			t.Error(e.Text)
		}
	}
}

func (s Suite) unplug(t *testing.T) {
	b := s.bench(t)
	p := s.New(t)
	s.start(t, b, p)
	before := b.Host.Tools()
	s.Unplug(t, p)
	if now := b.Host.Tools(); !slices.EqualFunc(before, now, sameDef) {
		t.Errorf("tools change with the hardware: %v, before %v", names(now), names(before))
	}
	if st := status(b, p); st.State != host.Running {
		t.Errorf("the plugin does not bear being unplugged: %+v", st)
	}
	s.Plug(t, p)
	if now := b.Host.Tools(); !slices.EqualFunc(before, now, sameDef) {
		t.Errorf("tools change with the hardware: %v, before %v", names(now), names(before))
	}
	b.Host.Stop(context.Background())
	if st := status(b, p); st.Reason != "" {
		t.Errorf("stop after unplug: %+v", st)
	}
}
