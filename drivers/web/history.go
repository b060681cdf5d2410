package web

import (
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/tool"
)

// Bounds of the history this plugin keeps itself.
const (
	maxItems     = 200
	maxItemBytes = 512 << 10
	maxDidText   = 1 << 10 // bytes of a tool's output that are kept
	historyKey   = "history"
	// repeatTime is how long after it was last said the same sentence on the
	// same channel is a repetition, as those of a ringing timer are.
	repeatTime = 2 * time.Minute
)

// Role is who an Item is by.
type Role string

const (
	RoleUser  Role = "user"  // said, typed or heard
	RoleAgent Role = "agent" // an output of the agent
	RoleDid   Role = "did"   // a tool call
)

// Item is one line of the history.
type Item struct {
	// ID is unique; items of one input share what stands before its "/".
	ID   string    `json:"id"`
	Time time.Time `json:"time"`
	Role Role      `json:"role"`
	Text string    `json:"text"`
	// Input is the id of the input that the item belongs to.
	Input string `json:"input,omitempty"`
	// Source is where an input came from; Channel where it is answered.
	Source  string   `json:"source,omitempty"`
	Channel string   `json:"channel,omitempty"`
	Files   []string `json:"files,omitempty"`
	// Call and Status belong to RoleDid.
	Call   *tool.Call  `json:"call,omitempty"`
	Status tool.Status `json:"status,omitempty"`

	last time.Time // when the same was said again, see repeats
}

func (it Item) size() int {
	n := len(it.Text) + 200
	if it.Call != nil {
		n += len(it.Call.Args)
	}
	return n
}

// history is the list of what was said and done, for a page that is opened.
type history struct {
	mu    sync.Mutex
	items []Item // oldest first
	size  int
	count uint64
	dirty bool
}

func newHistory() *history { return &history{} }

// event takes over what belongs into the history; internal sources stay out. It
// reports whether the event is news: an output that only repeats the newest
// item of its channel is none.
func (h *history) event(e event.Event) (news bool) {
	it := Item{Time: e.Time, Input: e.Input, Source: e.Source, Channel: e.Channel, Text: e.Text}
	switch {
	case strings.HasPrefix(e.Source, "_") || strings.HasPrefix(e.Channel, "_"):
		return true
	case e.Type == event.RawInput:
		it.Role = RoleUser
	case e.Type == event.AgentOutput && e.Text != "":
		if h.repeats(e) {
			return false
		}
		it.Role = RoleAgent
	case e.Type == event.ToolCall && e.Call != nil && e.Call.Name != "output_send":
		call := *e.Call
		it.Role, it.Call, it.Text = RoleDid, &call, ""
		if e.Result != nil {
			it.Status, it.Files = e.Result.Status, e.Result.Files
			it.Text = strings.ToValidUTF8(e.Result.Text[:min(len(e.Result.Text), maxDidText)], "")
		}
	default:
		return true
	}
	h.add(it)
	return true
}

// repeats reports whether the output says what the newest item of its channel
// says. Each repetition renews the time, so that a long ring stays one item.
func (h *history) repeats(e event.Event) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.items) - 1; i >= 0; i-- {
		it := &h.items[i]
		if it.Channel != e.Channel {
			continue
		}
		last := it.last
		if last.IsZero() {
			last = it.Time
		}
		if it.Role != RoleAgent || it.Text != e.Text || e.Time.Sub(last) > repeatTime {
			return false
		}
		it.last = e.Time
		return true
	}
	return false
}

func (h *history) add(it Item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count++
	if it.ID == "" {
		it.ID = it.Input + "/" + it.Time.UTC().Format("20060102T150405.000") + "-" + itoa(h.count)
	}
	h.items = append(h.items, it)
	h.size += it.size()
	for len(h.items) > 1 && (len(h.items) > maxItems || h.size > maxItemBytes) {
		h.size -= h.items[0].size()
		h.items = append(h.items[:0], h.items[1:]...)
	}
	h.dirty = true
}

// window returns at most limit items before the one with the id, oldest first.
func (h *history) window(limit int, before string) []Item {
	h.mu.Lock()
	defer h.mu.Unlock()
	end := len(h.items)
	if before != "" {
		for end = 0; end < len(h.items) && h.items[end].ID != before; end++ {
		}
		if end == len(h.items) {
			return []Item{} // it has been dropped, and so has what came before
		}
	}
	return append([]Item{}, h.items[max(0, end-limit):end]...)
}

// save keeps the list in the plugin's store, in one transaction. What a power
// cut takes from this list is still in the journal.
func (h *history) save(s plugin.Store, log *slog.Logger) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.dirty {
		return
	}
	j, err := json.Marshal(h.items)
	if err == nil {
		err = s.Put(historyKey, j)
	}
	if err != nil {
		log.Warn("the list of the page's history is not kept", "err", err)
		return
	}
	h.dirty = false
}

// load reads what save kept. A damaged list is dropped and said: it is a copy.
func (h *history) load(s plugin.Store, log *slog.Logger) {
	j, err := s.Get(historyKey)
	if err != nil || j == nil {
		if err != nil {
			log.Warn("the list of the page's history cannot be read", "err", err)
		}
		return
	}
	var items []Item
	if err := json.Unmarshal(j, &items); err != nil {
		log.Warn("the list of the page's history is damaged and dropped", "err", err)
		return
	}
	for _, it := range items {
		h.add(it)
	}
	h.mu.Lock()
	h.dirty = false
	h.mu.Unlock()
}
