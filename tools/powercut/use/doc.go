// Package use is a person who uses a house from outside, by the same API as its
// page, and notes in a ledger what the house has acknowledged: texts and their
// answers, facts, timers, secrets, settings, tokens, the account. The order of
// what is done comes from a seed.
//
// Model stands in for the language model. It runs here, the house reaches it
// over the network, and it does what the person's words say: each kind of wish
// begins with words of its own, so that no intent of the house's own takes them.
//
// Verify asks the house what it still knows, again by its API alone. The value
// of a secret cannot be asked for; it is seen as the key with which the house
// comes to Model.
//
// A House belongs to one goroutine.
package use
