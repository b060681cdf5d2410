package virtual_test

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"homeagent/agent/event"
	"homeagent/agent/home"
	"homeagent/agent/plugin"
	"homeagent/agent/tool"
)

// fakeAPI is as much of a host as this plugin uses. Anything else panics.
type fakeAPI struct {
	plugin.API
	home  *home.Home
	store *store

	mu     sync.Mutex
	tools  map[string]tool.Def
	calls  map[string]tool.Handler
	events []event.Event
	taken  string // a tool name that is refused
}

func newAPI(h *home.Home, s *store) *fakeAPI {
	return &fakeAPI{home: h, store: s, tools: map[string]tool.Def{}, calls: map[string]tool.Handler{}}
}

func (a *fakeAPI) Log() *slog.Logger                             { return slog.New(slog.DiscardHandler) }
func (a *fakeAPI) Home() *home.Home                              { return a.home }
func (a *fakeAPI) Store() plugin.Store                           { return a.store }
func (a *fakeAPI) Endpoint(string, plugin.EndpointHandler) error { return nil }
func (a *fakeAPI) RegisterTool(name string, def tool.Def, h tool.Handler) error {
	if name == a.taken {
		return errors.New("taken")
	}
	a.tools[name], a.calls[name] = def, h
	return nil
}
func (a *fakeAPI) Publish(e event.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
}

// states lists what was published.
func (a *fakeAPI) states() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	for _, e := range a.events {
		if e.Type == event.System {
			out = append(out, e.State)
		}
	}
	return out
}

// store is a Store in memory that can fail.
type store struct {
	mu   sync.Mutex
	m    map[string][]byte
	fail error
	puts int
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
		s.puts++
	}
	return s.fail
}
func (s *store) Delete(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.m, key)
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

// call runs a tool as the host would.
func (a *fakeAPI) call(t *testing.T, lang, name, args string) (string, error) {
	t.Helper()
	h := a.calls[name]
	if h == nil {
		t.Fatalf("tool %s is not registered", name)
	}
	ctx := plugin.WithInput(t.Context(), plugin.Input{Lang: lang})
	res, err := h(ctx, tool.Call{ID: "1", Name: name, Args: []byte(args)})
	return res.Text, err
}
