// Package offline is the provider that needs no language model: it thinks with
// a set of intents (agent/intent). It is a provider like any other. It answers
// the last user message with tool calls, and once their results stand in the
// conversation, with a sentence in the language of the message. The time and
// the date it answers itself, from the clock it was given.
//
// What it says about an action is what the result says: done, failed, denied,
// not run, unknown. A call whose result is missing counts as unknown. Calls that
// somebody else made after the same message (a model that left in the middle of
// a turn) are not repeated where they are the ones it would make, and are told
// otherwise.
//
// For everything that is no intent it says plainly that no model is there, or
// that the one configured cannot be reached, and what can be done about it.
//
// It keeps no state between requests, does no I/O and starts no goroutine.
package offline
