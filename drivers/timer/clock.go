package timer

import "time"

// Clock tells the time in both senses. The waits themselves use package time.
type Clock interface {
	// Now carries a monotonic reading; only differences of it are used.
	Now() time.Time
	// Wall is the wall clock, which may be set at any moment.
	Wall() time.Time
}

// system is the machine's clock.
type system struct{}

// Now implements Clock.
func (system) Now() time.Time { return time.Now() }

// Wall implements Clock; Round strips the monotonic reading.
func (system) Wall() time.Time { return time.Now().Round(0) }
