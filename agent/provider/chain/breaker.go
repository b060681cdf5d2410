package chain

import (
	"sync"
	"time"
)

// breaker keeps a provider that fails again and again out of the way: after
// limit failures in a row it is open for a while that doubles up to a maximum;
// then one attempt may try.
type breaker struct {
	mu    sync.Mutex
	fails int
	until time.Time
	pause time.Duration
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
	b.fails, b.until, b.pause = 0, time.Time{}, 0
	b.mu.Unlock()
}

func (b *breaker) bad(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails++; b.fails < breakerLimit {
		return
	}
	b.pause = min(max(2*b.pause, breakerFirst), breakerMax)
	b.until = now.Add(b.pause)
}
