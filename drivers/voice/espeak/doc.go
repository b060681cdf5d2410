// Package espeak speaks with espeak-ng, run as a program: one process for each
// run of one script in each sentence, text on its standard input, WAV on its
// standard output. Nothing of a text becomes an argument. Chinese is read by
// the voice cmn, everything else by en-us, so that a mixed sentence is read by
// both in turn.
//
// Sound comes while the program still works, and the next part is started when
// the one before has been read, so that a text of any length costs the memory
// of a sentence and stops with its Source. A process that gives nothing for a
// while is killed; so is one whose Source is closed. Speaker is safe for
// concurrent use; a Source belongs to one goroutine, except for Close.
//
// espeak-ng needs no network. It sounds like a machine; drivers/voice/openai
// sounds better where a service is configured.
package espeak
