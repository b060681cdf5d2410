package web

import "sync"

// Bounds of what is kept of answers for those who come back.
const (
	maxTurns  = 128
	maxFrames = 4096
	maxBytes  = 1 << 20 // of one turn, drafts included
)

// frame is one event of a chat.
type frame struct {
	name string
	data any
	size int
}

// answer is the data of message and final.
type answer struct {
	Text  string   `json:"text"`
	Files []string `json:"files,omitempty"`
	Lang  string   `json:"lang,omitempty"`
}

// words is the data of draft and notice.
type words struct {
	Text string `json:"text"`
}

// turn is what has come for one input so far. It is made by whoever is first:
// the waiter, or the answer, which may overtake the acknowledgement.
type turn struct {
	channel string // where its answer goes; set when it is made
	mu      sync.Mutex
	frames  []frame
	size    int
	done    bool
	readers int
	changed chan struct{}
}

// add appends a frame. Above the bounds drafts are dropped; what follows them
// holds the whole text anyway.
func (t *turn) add(f frame, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return
	}
	growing := f.name == "draft" || f.name == "notice"
	if growing && (len(t.frames) >= maxFrames || t.size+f.size > maxBytes) {
		return
	}
	t.frames = append(t.frames, f)
	t.size += f.size
	t.done = last
	t.compact()
	close(t.changed)
	t.changed = make(chan struct{})
}

// since returns the frames from i on, whether they are all there will be, and
// what is closed at the next change.
func (t *turn) since(i int) ([]frame, bool, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.frames[min(i, len(t.frames)):], t.done, t.changed
}

// compact drops the drafts of a finished turn that nobody reads.
func (t *turn) compact() {
	if !t.done || t.readers > 0 {
		return
	}
	var rest []frame
	for _, f := range t.frames {
		if f.name == "message" || f.name == "final" || f.name == "error" {
			rest = append(rest, f)
		}
	}
	t.frames = rest
}

// turns finds turns by the id of their input.
type turns struct {
	mu    sync.Mutex
	byID  map[string]*turn
	order []string // oldest first
}

func newTurns() *turns { return &turns{byID: map[string]*turn{}} }

// get finds or makes the turn. For a full table the oldest that nobody reads goes.
func (ts *turns) get(id, channel string) *turn {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.getLocked(id, channel)
}

// waiting is the id of the oldest unfinished turn on a channel for which
// somebody waits, "" if there is none.
func (ts *turns) waiting(channel string) string {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, id := range ts.order {
		t := ts.byID[id]
		t.mu.Lock()
		open := t.channel == channel && !t.done && t.readers > 0
		t.mu.Unlock()
		if open {
			return id
		}
	}
	return ""
}

func (ts *turns) getLocked(id, channel string) *turn {
	if t := ts.byID[id]; t != nil {
		return t
	}
	if len(ts.order) >= maxTurns {
		for i, old := range ts.order {
			t := ts.byID[old]
			t.mu.Lock()
			idle := t.readers == 0
			t.mu.Unlock()
			if idle {
				delete(ts.byID, old)
				ts.order = append(ts.order[:i], ts.order[i+1:]...)
				break
			}
		}
	}
	t := &turn{channel: channel, changed: make(chan struct{})}
	ts.byID[id] = t
	ts.order = append(ts.order, id)
	return t
}

// open is get for a reader. Without a channel the turn has to be there already.
func (ts *turns) open(id, channel string) (*turn, bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if channel == "" && ts.byID[id] == nil {
		return nil, false
	}
	t := ts.getLocked(id, channel)
	t.mu.Lock()
	t.readers++
	t.mu.Unlock()
	return t, true
}

// leave ends what open began.
func (t *turn) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readers--
	t.compact()
}
