package audio

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"homeagent/agent/pcm"
)

const (
	// captureRing is how much sound waits for a reader that is late.
	captureRing = 2 * time.Second
	// stallLimit is how long a device may be silent on its callback before it
	// counts as lost. Suspending USB hubs were seen to take more than one second.
	stallLimit = 2 * time.Second
)

// errStalled and errReplugged are the two ways to lose a device.
var (
	errStalled   = errors.New("the device gives no sign of life; it may have been unplugged")
	errReplugged = errors.New("sound devices were plugged or unplugged; open it again")
)

// capture is an open microphone in its own format.
type capture struct {
	name     string // full name
	f        pcm.Format
	q        *ring
	wake     chan struct{}
	beats    atomic.Int64 // callbacks so far
	overruns atomic.Int64 // samples dropped because nobody read
	gone     gone
	stop     func() error
	once     sync.Once
}

// newCapture makes the stream; stop is called once, by the first Close.
func newCapture(name string, f pcm.Format, stop func() error) *capture {
	return &capture{name: name, f: f, q: newRing(f.Samples(captureRing)), wake: make(chan struct{}, 1), gone: newGone(), stop: stop}
}

var _ pcm.Source = (*capture)(nil)

// deliver is the device's callback: it copies and returns.
func (c *capture) deliver(in []int16) {
	if n := c.q.push(in); n < len(in) {
		c.overruns.Add(int64(len(in) - n))
	}
	c.beats.Add(1)
	signal(c.wake)
}

// Format implements pcm.Source.
func (c *capture) Format() pcm.Format { return c.f }

// Read implements pcm.Source.
func (c *capture) Read(ctx context.Context, buf []int16) (int, error) {
	n := 0
	stall := newStall(&c.beats)
	defer stall.stop()
	for {
		if n += c.q.pop(buf[n:]); n == len(buf) {
			return n, nil
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
			return n, ctx.Err()
		case <-c.gone.ch:
			return n, &pcm.DeviceError{Device: c.name, Op: "read", Err: c.gone.err()}
		case <-stall.c():
			if stall.over() {
				return n, &pcm.DeviceError{Device: c.name, Op: "read", Err: errStalled}
			}
		}
	}
}

// Close implements pcm.Source. Closing twice is harmless.
func (c *capture) Close() (err error) {
	c.gone.lose(os.ErrClosed)
	c.once.Do(func() { err = c.stop() })
	return err
}

// signal wakes a waiter, or leaves a note for the next one.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// gone tells everyone once that a stream has ended, and why.
type gone struct {
	ch   chan struct{}
	once *sync.Once
	why  *atomic.Pointer[error]
}

func newGone() gone {
	return gone{ch: make(chan struct{}), once: new(sync.Once), why: new(atomic.Pointer[error])}
}

// lose ends the stream; the first reason counts.
func (g gone) lose(err error) {
	g.once.Do(func() {
		g.why.Store(&err)
		close(g.ch)
	})
}

// err is why; it is called after ch was closed.
func (g gone) err() error { return *g.why.Load() }

// stall watches whether callbacks still come.
type stall struct {
	beats *atomic.Int64
	last  int64
	t     *time.Timer
}

func newStall(beats *atomic.Int64) *stall { return &stall{beats: beats, last: beats.Load()} }

// c fires stallLimit after the first call, and after each later over.
func (s *stall) c() <-chan time.Time {
	if s.t == nil {
		s.t = time.NewTimer(stallLimit)
	}
	return s.t.C
}

// over reports, once c has fired, whether no callback has come since.
func (s *stall) over() bool {
	now := s.beats.Load()
	if now == s.last {
		return true
	}
	s.last = now
	s.t.Reset(stallLimit)
	return false
}

func (s *stall) stop() {
	if s.t != nil {
		s.t.Stop()
	}
}
