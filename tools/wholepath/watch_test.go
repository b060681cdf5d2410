package wholepath

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"homeagent/agent/event"
)

// watcher keeps what the house publishes, until the test ends or the agent does.
type watcher struct {
	h      *house
	mu     sync.Mutex
	events []event.Event
	lost   bool
}

// watch follows GET /events; it returns when the stream is open.
func (h *house) watch() *watcher {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := h.api.Stream(ctx, http.MethodGet, "events", nil)
	if err != nil {
		cancel()
		h.t.Fatalf("GET events: %v", err)
	}
	if ev, err := s.Next(); err != nil || ev.Name != "hello" {
		cancel()
		h.t.Fatalf("GET events begins with %q: %v", ev.Name, err)
	}
	w, done := &watcher{h: h}, make(chan struct{})
	go func() {
		defer close(done)
		for {
			ev, err := s.Next()
			if err != nil {
				return
			}
			w.mu.Lock()
			if ev.Name == "lost" {
				w.lost = true
			}
			var e event.Event
			if json.Unmarshal(ev.Data, &e) == nil && e.Type != "" {
				w.events = append(w.events, e)
			}
			w.mu.Unlock()
		}
	}()
	h.t.Cleanup(func() {
		cancel()
		s.Close()
		<-done
	})
	return w
}

// all are the events so far; losing one would make the test blind.
func (w *watcher) all() []event.Event {
	w.h.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost {
		w.h.t.Fatal("events were lost")
	}
	return slices.Clone(w.events)
}

// fence waits until everything published so far has been seen.
func (w *watcher) fence() {
	w.h.t.Helper()
	a, err := w.h.trySay("what time is it")
	if err != nil {
		w.h.t.Fatalf("the house does not answer: %v", err)
	}
	eventually(w.h.t, turnWait, "the events have come", func() bool {
		return slices.ContainsFunc(w.all(), func(e event.Event) bool { return e.Type == event.AgentOutput && e.Input == a.ID })
	})
}

// calls are the tool calls of an input, of every input if it is "", as
// `name {"args"} status`; the core's own sending is left out.
func (w *watcher) calls(input string) (out []string) {
	w.h.t.Helper()
	for _, e := range w.all() {
		if e.Type != event.ToolCall || e.Call == nil || input != "" && e.Input != input || e.Call.Name == "output_send" {
			continue
		}
		status := ""
		if e.Result != nil {
			status = string(e.Result.Status)
		}
		out = append(out, strings.Join([]string{e.Call.Name, string(e.Call.Args), status}, " "))
	}
	return out
}

// inputs are the texts that the agent was given, the fences' own left out.
func (w *watcher) inputs(source string) (out []string) {
	w.h.t.Helper()
	for _, e := range w.all() {
		if e.Type == event.RawInput && e.Source == source {
			out = append(out, e.Text)
		}
	}
	return out
}

// same fails the test where two lists differ.
func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}
