package timer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/tool"
)

// fakeAPI is as much of a host as this plugin uses. Anything else panics.
type fakeAPI struct {
	plugin.API
	store *store
	begin time.Time
	tools map[string]tool.Def
	calls map[string]tool.Handler

	mu      sync.Mutex
	control func(event.Event)
	absent  map[string]bool // channels that refuse
	hang    bool            // output_send waits for its context
	log     []string        // "<seconds since begin> <channel>: <text>" and "<seconds> event <state>"
	sent    []plugin.Input
}

func newAPI(s *store) *fakeAPI {
	return &fakeAPI{store: s, begin: time.Now(), tools: map[string]tool.Def{}, calls: map[string]tool.Handler{}, absent: map[string]bool{}}
}

func (a *fakeAPI) Log() *slog.Logger   { return slog.New(slog.DiscardHandler) }
func (a *fakeAPI) Store() plugin.Store { return a.store }
func (a *fakeAPI) RegisterTool(name string, def tool.Def, h tool.Handler) error {
	a.tools[name], a.calls[name] = def, h
	return nil
}
func (a *fakeAPI) Subscribe(t event.Type, h func(event.Event)) func() {
	if t == event.Control {
		a.control = h
	}
	return func() {}
}

func (a *fakeAPI) note(format string, args ...any) {
	a.log = append(a.log, fmt.Sprintf("%d ", int(time.Since(a.begin)/time.Second))+fmt.Sprintf(format, args...))
}
func (a *fakeAPI) Publish(e event.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.note("event %s", e.State)
}
func (a *fakeAPI) Tool(ctx context.Context, c tool.Call, in plugin.Input) (tool.Result, error) {
	var args struct{ Channel, Text string }
	if err := json.Unmarshal(c.Args, &args); err != nil || c.Name != "output_send" || c.ID == "" {
		return tool.Result{}, errors.New("not a call of output_send")
	}
	a.mu.Lock()
	hang, absent := a.hang, a.absent[args.Channel]
	a.mu.Unlock()
	if hang {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	if absent {
		return tool.Result{Status: tool.Failed, Text: "no such channel"}, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.note("%s: %s", args.Channel, args.Text)
	a.sent = append(a.sent, in)
	return tool.Result{Status: tool.Done}, nil
}

// heard returns what happened since the last call.
func (a *fakeAPI) heard() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.log
	a.log = nil
	return out
}

func (a *fakeAPI) setAbsent(absent bool, channels ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range channels {
		a.absent[c] = absent
	}
}

func (a *fakeAPI) setHang(hang bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hang = hang
}

// call runs a tool as the mind would for an input of the channel.
func (a *fakeAPI) call(t *testing.T, channel, lang, name, args string) (string, error) {
	t.Helper()
	h := a.calls[name]
	if h == nil {
		t.Fatalf("tool %s is not registered", name)
	}
	ctx := plugin.WithInput(t.Context(), plugin.Input{Channel: channel, UserID: "anna", Lang: lang})
	res, err := h(ctx, tool.Call{ID: "1", Name: name, Args: []byte(args)})
	return res.Text, err
}

// must is call for a call that has to succeed.
func (a *fakeAPI) must(t *testing.T, channel, lang, name, args string) string {
	t.Helper()
	text, err := a.call(t, channel, lang, name, args)
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return text
}

// store is a Store in memory that can fail.
type store struct {
	mu   sync.Mutex
	m    map[string][]byte
	fail error
}

func newStore() *store { return &store{m: map[string][]byte{}} }

func (s *store) Get(key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[key], s.fail
}
func (s *store) Put(key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		s.m[key] = slices.Clone(value)
	}
	return s.fail
}
func (s *store) Delete(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		delete(s.m, key)
	}
	return s.fail
}
func (s *store) List(prefix string, f func(string, []byte) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(s.m)) {
		if strings.HasPrefix(k, prefix) && !f(k, s.m[k]) {
			break
		}
	}
	return s.fail
}

// keys lists what is stored.
func (s *store) keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.m))
}

// clock is a wall clock that can be set; the monotonic one is that of the bubble.
type clock struct {
	mu  sync.Mutex
	off time.Duration
}

func (c *clock) Now() time.Time { return time.Now() }
func (c *clock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Round(0).Add(c.off)
}
func (c *clock) set(off time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = off
}
