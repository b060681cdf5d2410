// Package host holds the plugins: it starts and stops them, keeps what they
// have registered, and stands between their code and the agent, so that a
// plugin that fails, panics or hangs takes nothing else down.
//
// The registry is a value filled by plain calls: Add in the order of starting,
// Core for what the agent itself offers under a plugin's name. Start goes
// through the plugins in order, Stop in reverse. A start has three outcomes,
// each with a reason for the status page: running, not here (the hardware is
// not on this board), failed. When a plugin stops, or its start fails, all it
// had registered is taken back first, so that nothing calls into it any more.
//
// Every call into a plugin runs in its own goroutine under a deadline, with
// panics caught. A call that does not return even after its context has ended
// is abandoned: its goroutine is counted and shown until it does return, and
// the same stage handler is skipped meanwhile. Default deadlines: 5 s for a
// stage handler, 60 s for a tool, 10 s for a channel, 30 s for a start or stop.
//
// The host enforces the rights of the stage table: a handler works on a copy,
// and only what its stage may write is taken over; anything else that changed
// is reported as an event.System.
//
// The host is safe for concurrent use. It does not run turns; agent/mind does.
package host
