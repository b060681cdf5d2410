// Package mind is the event loop: it takes one input after another from the
// queue, leads it through the seven stages, asks the provider, runs the tools
// it wants and sends the answer.
//
// A turn is one input from start to answer; one turn runs at a time. A round is
// one answer of the provider with the calls it asks for. Control intents (stop,
// cancel, mute, ...) never queue: InjectInput decides them at once, whatever the
// running turn waits for.
//
// Each step is written to the queue before it acts. When the process dies
// within a turn, the next one finds what was done: finished calls keep their
// results, a call that had begun and not ended counts as unknown, an answer
// that may not have left is sent once more and says so.
//
// The package has no I/O of its own. Memory, tracker and provider are
// interfaces; tools, stages and channels come from agent/host. Life: New, then
// Run in a goroutine of the caller's; when its context ends, the running turn
// is put back into the queue for the next start.
package mind
