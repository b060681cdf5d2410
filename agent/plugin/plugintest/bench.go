package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"homeagent/agent/bus"
	"homeagent/agent/event"
	"homeagent/agent/home"
	"homeagent/agent/host"
	"homeagent/agent/plugin"
	"homeagent/agent/tool"
)

// patience is how long the bench waits for what must come.
const patience = 20 * time.Second

// Bench is an agent without a mind.
type Bench struct {
	Host *host.Host
	Bus  *bus.Bus

	t testing.TB

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when something is recorded
	inputs  []plugin.Input
	events  []event.Event
}

// New makes a bench that is taken down with the test. change may alter the
// host's options: its home, secrets, deadlines.
func New(t testing.TB, change ...func(*host.Options)) *Bench {
	t.Helper()
	log := slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	b := &Bench{t: t, Bus: bus.New(log, nil), changed: make(chan struct{})}
	o := host.Options{Log: log, Bus: b.Bus, Home: &home.Home{}, Stores: NewStores(),
		StageTimeout: 2 * time.Second, ToolTimeout: 10 * time.Second, SendTimeout: 5 * time.Second}
	for _, c := range change {
		c(&o)
	}
	b.Host = host.New(o)
	b.Host.Bind(b)
	b.Bus.Subscribe("plugintest", event.All, func(e event.Event) {
		b.record(func() { b.events = append(b.events, e) })
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		b.Host.Stop(ctx)
		if err := b.Bus.Close(ctx); err != nil {
			t.Errorf("a subscriber does not return: %v", err)
		}
	})
	return b
}

// testWriter sends log lines to the test's log.
type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

func (b *Bench) record(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
	close(b.changed)
	b.changed = make(chan struct{})
}

// Start adds the plugin and starts it. The error is what Start returned.
func (b *Bench) Start(p plugin.Plugin) error {
	if err := b.Host.Add(p); err != nil {
		return err
	}
	return b.Host.Restart(context.Background(), p.Name())
}

// MustStart is Start that ends the test on an error.
func (b *Bench) MustStart(p plugin.Plugin) {
	b.t.Helper()
	if err := b.Start(p); err != nil {
		b.t.Fatalf("start of %s: %v", p.Name(), err)
	}
}

// InjectInput keeps an input; it is part of host.Mind.
func (b *Bench) InjectInput(ctx context.Context, in plugin.Input) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	b.record(func() {
		in.ID = fmt.Sprintf("input-%d", len(b.inputs)+1)
		b.inputs = append(b.inputs, in)
	})
	return in.ID, nil
}

// Tool runs a call the way the mind does, without stages and tracker; it is
// part of host.Mind.
func (b *Bench) Tool(ctx context.Context, call tool.Call, in plugin.Input) (tool.Result, error) {
	if len(call.Args) == 0 {
		call.Args = json.RawMessage(`{}`)
	}
	if _, bad := b.Host.Check(call); bad != nil {
		return *bad, nil
	}
	r := b.Host.RunTool(plugin.WithInput(ctx, in), call)
	b.Bus.Publish(event.Event{Type: event.ToolCall, Input: in.ID, State: string(r.Status), Call: &call, Result: &r})
	return r, nil
}

// Call runs a tool with args marshalled to JSON, as in a turn asked on the
// channel "console".
func (b *Bench) Call(name string, args any) tool.Result {
	b.t.Helper()
	return b.CallFor(plugin.Input{ID: "turn", Source: "console", Channel: "console", Type: plugin.Text}, name, args)
}

// CallFor is Call in the turn of an input.
func (b *Bench) CallFor(in plugin.Input, name string, args any) tool.Result {
	b.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		b.t.Fatalf("arguments of %s: %v", name, err)
	}
	r, err := b.Tool(context.Background(), tool.Call{ID: "call", Name: name, Args: raw}, in)
	if err != nil {
		b.t.Fatalf("tool %s: %v", name, err)
	}
	return r
}

// Stage leads sc through the handlers of its phase and returns what the host took over.
func (b *Bench) Stage(sc plugin.StageContext) plugin.StageContext {
	return b.Host.Stage(plugin.WithInput(context.Background(), sc.Input), sc)
}

// Inputs are those injected so far.
func (b *Bench) Inputs() []plugin.Input {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.inputs)
}

// WaitInput waits for the n-th input, the first being 1.
func (b *Bench) WaitInput(n int) plugin.Input {
	b.t.Helper()
	var in plugin.Input
	b.wait(fmt.Sprintf("input %d", n), func() bool {
		if len(b.inputs) < n {
			return false
		}
		in = b.inputs[n-1]
		return true
	})
	return in
}

// Events are those published so far.
func (b *Bench) Events() []event.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.events)
}

// WaitEvent waits for an event that fits, those already published included.
func (b *Bench) WaitEvent(what string, fits func(event.Event) bool) event.Event {
	b.t.Helper()
	var found event.Event
	b.wait(what, func() bool {
		i := slices.IndexFunc(b.events, fits)
		if i >= 0 {
			found = b.events[i]
		}
		return i >= 0
	})
	return found
}

// wait calls ready under mu until it is true.
func (b *Bench) wait(what string, ready func() bool) {
	b.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		b.mu.Lock()
		ok, changed := ready(), b.changed
		b.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			b.t.Fatalf("%s has not come", what)
		}
	}
}

// Listener records what is sent to a channel.
type Listener struct {
	b      *Bench
	mu     sync.Mutex
	sent   []plugin.Message
	drafts []plugin.Draft
	err    error
}

// Listen offers the channel name as somebody else and records what comes.
func (b *Bench) Listen(name string) *Listener {
	b.t.Helper()
	l := &Listener{b: b}
	if err := b.Host.Core("listener").Channel(name, l); err != nil {
		b.t.Fatal(err)
	}
	return l
}

// Send records a message; it is part of plugin.Sender.
func (l *Listener) Send(_ context.Context, m plugin.Message) error {
	l.mu.Lock()
	err := l.err
	if err == nil {
		l.sent = append(l.sent, m)
	}
	l.mu.Unlock()
	l.b.record(func() {})
	return err
}

// Draft records a draft; it is part of plugin.Drafter.
func (l *Listener) Draft(_ context.Context, d plugin.Draft) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drafts = append(l.drafts, d)
}

// Fail lets later sends fail with err; nil ends that.
func (l *Listener) Fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

// Sent are the messages so far.
func (l *Listener) Sent() []plugin.Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.sent)
}

// Drafts are the drafts so far.
func (l *Listener) Drafts() []plugin.Draft {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.drafts)
}

// Wait waits for the n-th message, the first being 1.
func (l *Listener) Wait(n int) plugin.Message {
	l.b.t.Helper()
	var m plugin.Message
	l.b.wait(fmt.Sprintf("message %d", n), func() bool {
		sent := l.Sent()
		if len(sent) < n {
			return false
		}
		m = sent[n-1]
		return true
	})
	return m
}

// Answer is what an endpoint gave.
type Answer struct {
	Code int
	Type string
	Body []byte
	Err  error
}

// Status notes code and type; it is part of plugin.Reply.
func (a *Answer) Status(code int, contentType string) { a.Code, a.Type = code, contentType }

// Write appends to the body; it is part of plugin.Reply.
func (a *Answer) Write(p []byte) (int, error) {
	if a.Code == 0 {
		a.Code, a.Type = 200, "application/json"
	}
	a.Body = append(a.Body, p...)
	return len(p), nil
}

// Request asks the endpoint name. body may be nil.
func (b *Bench) Request(name, method, path string, body []byte) *Answer {
	b.t.Helper()
	h, ok := b.Host.Endpoint(name)
	if !ok {
		b.t.Fatalf("there is no endpoint %s; there are %v", name, b.Host.Endpoints())
	}
	a := &Answer{}
	a.Err = h(context.Background(), &plugin.Request{Method: method, Path: path, Body: bytes.NewReader(body),
		ContentType: "application/json", Session: "local:0", Lang: "en"}, a)
	return a
}

// Stores keeps buckets in memory; it is host.Stores. A plugin that is started
// again finds what it has put.
type Stores struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

// NewStores is empty.
func NewStores() *Stores { return &Stores{buckets: map[string]*bucket{}} }

// Store returns a plugin's bucket.
func (s *Stores) Store(name string) plugin.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buckets[name] == nil {
		s.buckets[name] = &bucket{values: map[string][]byte{}}
	}
	return s.buckets[name]
}

type bucket struct {
	mu     sync.Mutex
	values map[string][]byte
}

func (b *bucket) Get(key string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.values[key]), nil
}

func (b *bucket) Put(key string, value []byte) error {
	if len(value) > 1<<20 {
		return fmt.Errorf("value of %s is %d bytes, the limit is 1 MiB", key, len(value))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.values[key] = append([]byte{}, value...)
	return nil
}

func (b *bucket) Delete(key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.values, key)
	return nil
}

func (b *bucket) List(prefix string, f func(string, []byte) bool) error {
	b.mu.Lock()
	all := maps.Clone(b.values)
	b.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(k, prefix) && !f(k, bytes.Clone(all[k])) {
			break
		}
	}
	return nil
}
