package relevance

import (
	"sync"

	"homeagent/agent/provider"
)

const (
	// DefaultMax is the number of events at which Prune begins to cut.
	DefaultMax = 45
	// DefaultKeep is the number of events that a cut leaves.
	DefaultKeep = 30
	// remembered is the number of pruned events whose ids are still known, so
	// that a turn taken up again does not add them a second time. A turn has
	// fewer messages.
	remembered = 256
)

// Options are those of a Context; zero values are the defaults.
type Options struct {
	// Max and Keep are numbers of events; Keep is less than Max.
	Max, Keep int
	// Vectorizer is Words by default.
	Vectorizer Vectorizer
	// Cleaner returns the Cleaner of a tool, nil if it has none. May be nil.
	// Neither it nor NoMemory may call the Context.
	Cleaner func(tool string) func(string) string
	// NoMemory tells whether a tool's output is kept out of vectors. May be nil.
	NoMemory func(tool string) bool
}

// event is a message with what the layer knows about it.
type event struct {
	seq     uint64
	msg     provider.Message
	place   Place
	vec     Vector // nil until first needed
	counted bool   // vec has been computed
}

// Context is the live context.
type Context struct {
	opts Options

	mu      sync.Mutex
	events  []*event
	ids     map[string]bool // of the live events and of those in recent
	recent  []string        // ids of the newest pruned events, oldest first
	next    uint64          // seq of the next event
	unsaved map[uint64]bool // live events not in the database
	gone    []*event        // pruned since the last save
	erased  []uint64        // numbers to be deleted by the next save
	moved   uint64          // events ever pruned, saved ones
}

// New is an empty context.
func New(opts Options) *Context {
	if opts.Max <= 0 {
		opts.Max = DefaultMax
	}
	if opts.Keep <= 0 || opts.Keep >= opts.Max {
		opts.Keep = max(1, opts.Max*DefaultKeep/DefaultMax)
	}
	if opts.Vectorizer == nil {
		opts.Vectorizer = Words{}
	}
	return &Context{opts: opts, ids: map[string]bool{}, unsaved: map[uint64]bool{}, next: 1}
}

// Append adds messages at the end. One whose id is in the live context, or was
// among the last events pruned from it, is ignored; one without an id is
// always added.
func (c *Context) Append(msgs ...provider.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range msgs {
		if m.ID != "" {
			if c.ids[m.ID] {
				continue
			}
			c.ids[m.ID] = true
		}
		c.events = append(c.events, &event{seq: c.next, msg: m})
		c.unsaved[c.next] = true
		c.next++
	}
}

// forgetLater keeps the id of a pruned event for a while. The caller holds mu.
func (c *Context) forgetLater(id string) {
	if id == "" {
		return
	}
	c.ids[id] = true
	c.recent = append(c.recent, id)
	if len(c.recent) > remembered {
		delete(c.ids, c.recent[0])
		c.recent = c.recent[1:]
	}
}

// Window returns the live context, oldest first. The slice is the caller's,
// what its messages point to is shared and must not be written.
func (c *Context) Window() []provider.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]provider.Message, len(c.events))
	for i, e := range c.events {
		out[i] = e.msg
	}
	return out
}

// Len is the number of live events.
func (c *Context) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.events)
}

// Moved is the number of events ever pruned, those not yet saved included.
func (c *Context) Moved() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moved + uint64(len(c.gone))
}
