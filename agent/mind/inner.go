package mind

import (
	"fmt"

	"homeagent/agent/queue"
	"homeagent/agent/tool"
)

// The agent's own turns (queue.Inner: "_consolidation_", "_probe_") are about
// its memory and concern nobody outside. They see no conversation and leave
// none, reach no channel and no device, and give way to every user.

// inner reports whether the turn is the agent's own.
func (t *turn) inner() bool { return queue.Inner(t.in.Source) }

// ownPlugin is whose tools a turn of the agent's own may use.
const ownPlugin = "memory"

// own reports whether a tool stays within the agent.
func own(d tool.Def) bool { return d.Plugin == ownPlugin }

// innerText tells the model why a call is denied in a turn of the agent's own.
func innerText(source, name string) string {
	why := "it may use the tools of memory only"
	if name == "output_send" {
		why = "nothing is sent from it to anybody"
	}
	return fmt.Sprintf("%s is not available: this turn (%s) is the agent's own housework and %s. Answer in text or by a memory tool",
		name, source, why)
}

// tools are those that the turn may use.
func (t *turn) tools() []tool.Def {
	all := t.m.o.Host.Tools()
	if !t.inner() {
		return all
	}
	var kept []tool.Def
	for _, d := range all {
		if own(d) {
			kept = append(kept, d)
		}
	}
	return kept
}

// yield puts a turn of the agent's own back into the queue for a user's input.
func (m *Mind) yield() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running != nil && m.running.inner() {
		m.running.cancel(errYield)
	}
}

// Busy reports whether a turn that somebody waits for runs or is queued.
// Work in the background asks it and waits. It is quick.
func (m *Mind) Busy() bool {
	m.mu.Lock()
	busy := m.running != nil && !m.running.inner()
	m.mu.Unlock()
	return busy || m.o.Queue.Stats().User > 0
}
