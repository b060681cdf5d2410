package web

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/tool"
)

// store is a plugin's store in memory.
type store struct {
	values map[string][]byte
	err    error
}

func (s *store) Get(key string) ([]byte, error) { return s.values[key], s.err }
func (s *store) Put(key string, value []byte) error {
	if s.err == nil {
		s.values[key] = value
	}
	return s.err
}
func (s *store) Delete(key string) error                      { delete(s.values, key); return s.err }
func (s *store) List(string, func(string, []byte) bool) error { return s.err }

// TestHistoryKeepsNothingPrivate: what a turn without memory says is shown and
// never saved, and what is forgotten is neither.
func TestHistoryKeepsNothingPrivate(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	h, s := newHistory(), &store{values: map[string][]byte{}}
	say := func(id, text string, private bool) {
		h.event(event.Event{Type: event.RawInput, Input: id, Source: "web", Channel: "web:1", Text: text, Time: time.Unix(1, 0), NoMemory: private})
	}
	say("a", "the ladder is in the shed", false)
	say("b", "a quokkanaut", true)
	h.event(event.Event{Type: event.ToolCall, Input: "b", Source: "web", Channel: "web:1", NoMemory: true,
		Call: &tool.Call{ID: "1", Name: "memory_recall", Args: []byte(`{"query":"quokkanaut"}`)}, Result: &tool.Result{Text: "quokkanaut"}})
	say("c", "the walrusbox drawer", false)
	if err := h.save(s, log); err != nil {
		t.Fatal(err)
	}
	if n := len(h.all()); n != 4 {
		t.Errorf("%d items are shown", n)
	}
	if kept := string(s.values[historyKey]); strings.Contains(kept, "quokkanaut") || !strings.Contains(kept, "walrusbox") {
		t.Errorf("kept: %s", kept)
	}

	h.forget(func(it Item) bool { return !strings.Contains(it.Text, "walrusbox") })
	if err := h.save(s, log); err != nil {
		t.Fatal(err)
	}
	if kept := string(s.values[historyKey]); strings.Contains(kept, "walrusbox") || !strings.Contains(kept, "ladder") {
		t.Errorf("kept: %s", kept)
	}
	again := newHistory()
	again.load(s, log)
	if all := again.all(); len(all) != 1 || all[0].Input != "a" {
		t.Errorf("loaded %+v", all)
	}

	s.err = errors.New("no room")
	h.forget(func(Item) bool { return false })
	if err := h.save(s, log); !errors.Is(err, s.err) {
		t.Errorf("a save that failed says %v", err)
	}
}
