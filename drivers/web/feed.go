package web

import (
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
)

const (
	feedKept  = 256 // events kept for a page that comes back
	feedQueue = 256 // events a slow page may be behind
)

// feedItem is one event of GET /events. Channel restricts it to the pages of
// that channel; "" is for all.
type feedItem struct {
	id      string
	channel string
	name    string
	data    json.RawMessage
}

// feed hands events to the open pages and keeps the last ones.
type feed struct {
	mu   sync.Mutex
	boot string // tells the numbers of this start from those of another
	seq  uint64
	kept []feedItem
	subs map[*feedSub]bool
}

// feedSub is one open page. A page that falls behind is told so by lost and
// asks for the history.
type feedSub struct {
	base string
	ch   chan feedItem
	mu   sync.Mutex
	lost bool
}

func newFeed() *feed {
	return &feed{boot: rand.Text()[:6], subs: map[*feedSub]bool{}}
}

// publish never waits.
func (f *feed) publish(channel, name string, data any) {
	j, err := json.Marshal(data)
	if err != nil {
		return // an event of ours that does not marshal has nothing to show
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	it := feedItem{id: f.boot + "-" + strconv.FormatUint(f.seq, 10), channel: channel, name: name, data: j}
	if len(f.kept) >= feedKept {
		f.kept = append(f.kept[:0], f.kept[1:]...)
	}
	f.kept = append(f.kept, it)
	for s := range f.subs {
		if !s.wants(it) {
			continue
		}
		select {
		case s.ch <- it:
		default:
			s.mu.Lock()
			s.lost = true
			s.mu.Unlock()
		}
	}
}

func (s *feedSub) wants(it feedItem) bool {
	return it.channel == "" || it.channel == s.base || strings.HasPrefix(it.channel, s.base+":")
}

// takeLost reports and forgets that events were lost.
func (s *feedSub) takeLost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.lost
	s.lost = false
	return was
}

// open adds a page whose channel is base. With the id of the last event it has
// seen, missed are those after it; gap tells that they are not all kept.
func (f *feed) open(base, lastID string) (s *feedSub, missed []feedItem, gap bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s = &feedSub{base: base, ch: make(chan feedItem, feedQueue)}
	f.subs[s] = true
	if lastID == "" {
		return s, nil, false
	}
	boot, num, _ := strings.Cut(lastID, "-")
	last, err := strconv.ParseUint(num, 10, 64)
	if err != nil || boot != f.boot || last > f.seq {
		return s, nil, true
	}
	first := f.seq - uint64(len(f.kept)) // the number before the oldest kept
	if last < first {
		gap, last = true, first
	}
	for _, it := range f.kept[last-first:] {
		if s.wants(it) {
			missed = append(missed, it)
		}
	}
	return s, missed, gap
}

func (f *feed) close(s *feedSub) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.subs, s)
}
