package web

import (
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
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

// history is the list of what was said and done, for a page that is opened.
type history struct {
	mu    sync.Mutex
	items []Item // oldest first
	size  int
	count uint64
	dirty bool
}

func newHistory() *history { return &history{} }

// event takes over what belongs into the history. It reports whether the event
// is news: an output that only repeats the newest item of its channel is none.
func (h *history) event(e event.Event) (news bool) {
	it, ok := ItemOf(e)
	if !ok {
		return true
	}
	if it.Role == RoleAgent && h.repeats(e) {
		return false
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
	if it.ID == "" || index(h.items, it.ID) >= 0 { // an answer is sent again after a crash
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
		if end = index(h.items, before); end < 0 {
			return []Item{} // it has been dropped, and so has what came before
		}
	}
	return append([]Item{}, h.items[max(0, end-limit):end]...)
}

// all is a copy of the list, oldest first.
func (h *history) all() []Item {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.items)
}

// save keeps the list in the plugin's store, in one transaction. What a crash
// takes from this list comes from memory, see agent.window.
func (h *history) save(s plugin.Store, log *slog.Logger) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.dirty {
		return nil
	}
	kept := slices.DeleteFunc(slices.Clone(h.items), func(it Item) bool { return it.noMemory })
	j, err := json.Marshal(kept)
	if err == nil {
		err = s.Put(historyKey, j)
	}
	if err != nil {
		log.Warn("the list of the page's history is not kept", "err", err)
		return err
	}
	h.dirty = false
	return nil
}

// forget drops the items for which keep is false.
func (h *history) forget(keep func(Item) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.items = slices.DeleteFunc(slices.Clone(h.items), func(it Item) bool { return !keep(it) })
	h.size = 0
	for _, it := range h.items {
		h.size += it.size()
	}
	h.dirty = true
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
