package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// PanicError is a panic of guarded code.
type PanicError struct {
	Who   string
	Value any
	Stack string
}

func (e *PanicError) Error() string { return fmt.Sprintf("%s panicked: %v", e.Who, e.Value) }

// HungError is guarded code that did not return after its context had ended.
type HungError struct {
	Who string
	// Busy tells that it was not called at all, because earlier calls still hang.
	Busy bool
	// Cause is why the context ended.
	Cause error
}

func (e *HungError) Error() string {
	if e.Busy {
		return e.Who + " is skipped: an earlier call has not returned yet"
	}
	return fmt.Sprintf("%s did not return (%v) and was given up", e.Who, e.Cause)
}

// Unwrap returns the cause.
func (e *HungError) Unwrap() error { return e.Cause }

// grace is how long code may take to return after its context has ended.
const grace = 80 * time.Millisecond

// Guard runs code of others. It counts the calls that were given up.
type Guard struct {
	log *slog.Logger

	mu   sync.Mutex
	hung map[string]int
}

// NewGuard makes a guard that logs what it catches.
func NewGuard(log *slog.Logger) *Guard { return &Guard{log: log, hung: map[string]int{}} }

// Hung returns the number of abandoned calls that have not returned yet, by name.
func (g *Guard) Hung() map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make(map[string]int, len(g.hung))
	for who, n := range g.hung {
		out[who] = n
	}
	return out
}

func (g *Guard) change(who string, by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hung[who] += by; g.hung[who] <= 0 {
		delete(g.hung, who)
	}
}

func (g *Guard) busy(who string, most int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hung[who] >= most
}

// Do calls f in a goroutine of its own and waits for it, at most until ctx or
// limit (0 is none) ends and a short grace has passed. who names it in errors
// and counts; most is how many calls of that name may hang before further ones
// are refused. A panic becomes a *PanicError, a call given up a *HungError.
func Do[T any](ctx context.Context, g *Guard, who string, limit time.Duration, most int, f func(context.Context) (T, error)) (T, error) {
	var zero T
	if g.busy(who, most) {
		return zero, &HungError{Who: who, Busy: true}
	}
	var cancel context.CancelFunc
	if limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, limit)
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	defer cancel()

	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	var over atomic.Bool // set by whoever is first: the call by returning, the waiter by giving up
	go func() {
		out := outcome{err: &PanicError{Who: who, Value: "the goroutine was ended from inside"}}
		defer func() {
			if p := recover(); p != nil {
				out = outcome{err: &PanicError{Who: who, Value: p, Stack: string(debug.Stack())}}
			}
			if over.CompareAndSwap(false, true) {
				done <- out
			} else {
				g.change(who, -1)
				g.log.Info("a call that had been given up has returned", "who", who)
			}
		}()
		v, err := f(ctx)
		out = outcome{value: v, err: err}
	}()

	var out outcome
	select {
	case out = <-done:
	case <-ctx.Done():
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case out = <-done:
		case <-timer.C:
			if over.CompareAndSwap(false, true) {
				g.change(who, 1)
				err := &HungError{Who: who, Cause: context.Cause(ctx)}
				g.log.Error("a call does not return and is given up", "who", who, "cause", err.Cause)
				return zero, err
			}
			out = <-done
		}
	}
	var p *PanicError
	if errors.As(out.err, &p) && p.Stack != "" {
		g.log.Error("a call panicked", "who", who, "panic", p.Value, "stack", p.Stack)
	}
	return out.value, out.err
}

// Run is Do for a function without a value.
func Run(ctx context.Context, g *Guard, who string, limit time.Duration, most int, f func(context.Context) error) error {
	_, err := Do(ctx, g, who, limit, most, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}
