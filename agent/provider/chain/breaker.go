package chain

import (
	"sync"
	"time"

	"homeagent/agent/provider"
)

// breaker keeps a provider that fails again and again out of the way: after
// limit failures in a row it is open for a while that doubles up to a maximum;
// then one attempt may try.
type breaker struct {
	mu    sync.Mutex
	fails int
	until time.Time
	pause time.Duration
	last  *provider.Error // the failure counted last
}

const (
	breakerLimit = 3
	breakerFirst = 15 * time.Second
	breakerMax   = 5 * time.Minute
)

// allow reports whether an attempt may be made now.
func (b *breaker) allow(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Before(b.until) {
		return false
	}
	if b.fails >= breakerLimit { // half open: the next comer waits for this attempt's outcome
		b.until = now.Add(b.pause)
	}
	return true
}

func (b *breaker) good() {
	b.mu.Lock()
	b.fails, b.until, b.pause, b.last = 0, time.Time{}, 0, nil
	b.mu.Unlock()
}

func (b *breaker) bad(now time.Time, why *provider.Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = why
	if b.fails++; b.fails < breakerLimit {
		return
	}
	b.pause = min(max(2*b.pause, breakerFirst), breakerMax)
	b.until = now.Add(b.pause)
}

// open is the error of an attempt that was not allowed: the failure that is
// behind it as its cause, and how long the provider is left alone yet.
func (b *breaker) open(name string, now time.Time) *provider.Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := &provider.Error{Provider: name, Kind: provider.Open, RetryAfter: max(b.until.Sub(now), 0),
		Message: "it failed several times in a row and is left alone for a while"}
	if b.last != nil { // else the interface would hold a nil
		e.Err = b.last
	}
	return e
}
