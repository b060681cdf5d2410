// Package server is the engines process: Silero, Moonshine, PocketSphinx and a
// dictionary of words (given by Options.Words, never needed by the voice) behind the protocol of package wire, on the process's input and output.
// `homed-agent engines` calls Serve and does nothing else.
//
// Nothing is loaded before it is asked for, and nothing is shared with the
// agent: an engine that ends this process ends only the request it was given.
// The process ends when its input does.
//
// How a request is answered: the reader goroutine starts one goroutine a
// request, at most maxRequests; a "cancel" ends the context of another. Each
// endpointer belongs to the requests of its stream, one at a time.
//
// How a sentence becomes a command: speech is cut out of the sound with
// Silero, 0.4 s before it and 0.3 s after, since Moonshine hears nothing in
// long silence. PocketSphinx finds the sentence of the grammar that fits best,
// Moonshine writes down what it hears without knowing the grammar, side by
// side. A grammar finds a sentence in anything, so the sentence counts only
// where both texts are alike (see Similarity).
package server
