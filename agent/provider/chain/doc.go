// Package chain puts several providers in order behind one Provider: the first
// that can answer does. It holds the waits and the second tries of thinking:
// retry with backoff and jitter, Retry-After, a circuit breaker per provider that
// remembers the failure behind it, the limit on silence, and the sentences that
// tell the user what the wait is about.
//
// The last provider of a chain should be one that always answers
// (agent/provider/offline). A Chain is safe for concurrent use; it starts one
// goroutine per attempt and ends it before it returns.
package chain
