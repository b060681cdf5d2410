// Package fakellm is a chat-completions server, and one of embeddings (Embedder),
// for tests and benchmarks: as strict about what it is sent as the real ones are,
// and able to misbehave in the ways that servers of this kind have been seen to.
//
// A Server answers each request by a Script: a function of the request that
// returns a Reply. Violations of the protocol (a tool message without its call,
// a call without its result, missing reasoning, a missing key, thinking left on)
// are answered with status 400 as the real server does, and kept for the test to read.
package fakellm
