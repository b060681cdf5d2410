package voice

import (
	"sync"

	"homeagent/agent/plugin"
)

// limboLength bounds answers that came before anyone knew whose they are.
const limboLength = 32

// routes tells whose input a message answers. An answer may be sent before
// InjectInput has returned the input's id; it waits in limbo until then.
type routes struct {
	mu     sync.Mutex
	giving int // InjectInput calls that run
	owner  map[string]*session
	limbo  []plugin.Message
	// lost takes what stays in limbo when no call runs any more.
	lost func(plugin.Message)
}

// begin announces an InjectInput.
func (r *routes) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.giving++
}

// done tells the id that InjectInput returned, "" if it failed, and gives what
// has come for it.
func (r *routes) done(id string, s *session) []plugin.Message {
	r.mu.Lock()
	r.giving--
	var mine, lost []plugin.Message
	if id != "" {
		r.owner[id] = s
		rest := r.limbo[:0]
		for _, m := range r.limbo {
			if m.ReplyTo == id {
				mine = append(mine, m)
			} else {
				rest = append(rest, m)
			}
		}
		r.limbo = rest
	}
	if r.giving == 0 {
		lost, r.limbo = r.limbo, nil
	}
	r.mu.Unlock()
	for _, m := range lost {
		r.lost(m)
	}
	return mine
}

// pick finds the session that a message answers, nil if it answers none of
// ours. kept tells that the message waits in limbo.
func (r *routes) pick(m plugin.Message) (s *session, kept bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.ReplyTo == "" {
		return nil, false
	}
	if s := r.owner[m.ReplyTo]; s != nil {
		return s, false
	}
	if r.giving > 0 && len(r.limbo) < limboLength {
		r.limbo = append(r.limbo, m)
		return nil, true
	}
	return nil, false
}

// forget drops an input that has its final answer.
func (r *routes) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.owner, id)
}

// drop forgets a session that has ended.
func (r *routes) drop(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, o := range r.owner {
		if o == s {
			delete(r.owner, id)
		}
	}
}
