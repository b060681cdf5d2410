// Package engine is the agent's side of the engines process: it starts the
// process on need, asks it, ends it when it has not been needed for a while,
// and outlives its crashes. It is pure Go and loads no model; the other side
// is engine/server, what they say to each other engine/wire.
//
// A Client is an Endpointing (Silero) and gives two recognizers: English, which
// takes a sentence of the hint's grammar where there is one and it was said
// (else free text), and Free, which never looks at the grammar.
//
// It also cuts text by the process's dictionary (Tag, Keywords), which is too
// big and too easily ended for the agent.
//
// Life: NewClient starts nothing. The first request, or Warm, starts the
// process; Idle after the last request and the last open endpointer it is
// ended, by end of file on its input, then by force. Close ends it at once.
// Each process has three goroutines (writer, reader, waiter) that end with it.
// All methods may be called by several goroutines; an endpointer's by one.
//
// A process that dies, hangs past Options.Deadline or says what is not the
// protocol is killed, and every request it had ends with ErrCrashed. The
// recognizers and endpointers try such a request once more on a new process,
// an endpointer going on where it was; ErrCrashed reaches their caller only
// when that failed too. After three crashes in a row without an answer in between
// no process is started for a while.
package engine
