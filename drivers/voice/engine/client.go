package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"homeagent/drivers/voice/engine/wire"
	"homeagent/drivers/voice/speech"
)

// ErrCrashed is wrapped by the error of a request whose process died, hung or
// talked nonsense. The request may be tried again.
var ErrCrashed = errors.New("the speech engines crashed")

// ErrClosed is returned after Close.
var ErrClosed = errors.New("the speech engines are closed")

// maxPending bounds the requests of one client that run at once; more wait.
const maxPending = 12

// After crashLimit crashes without an answer in between, none starts for cooldown.
const (
	crashLimit = 3
	cooldown   = 10 * time.Second
)

// Options says how the process is run.
type Options struct {
	// Command is the program and its arguments, as {"homed-agent", "engines", …}.
	Command []string
	// Env is the process's environment; nil is this process's.
	Env []string
	// Idle is how long it stays without being needed, default 2 min.
	Idle time.Duration
	// Deadline is how long one request may take, loading included, before the
	// process counts as hung, default 30 s.
	Deadline time.Duration
	// Log may be nil.
	Log *slog.Logger
}

// Client asks the engines process.
type Client struct {
	opt   Options
	log   *slog.Logger
	start func() (child, error)
	slots chan struct{} // one value a running request

	mu      sync.Mutex
	proc    *process
	users   int // requests and open endpointers
	idle    *time.Timer
	leaving *process // told to end, not dead yet
	crashes int      // in a row
	until   time.Time
	closed  bool
	grammar string // the last one used, loaded again by Warm
	noted   map[string]bool
}

var _ speech.Endpointing = (*Client)(nil)

// NewClient starts nothing.
func NewClient(opt Options) *Client {
	c := newClient(opt)
	c.start = func() (child, error) { return startProgram(c.opt, c.log) }
	return c
}

func newClient(opt Options) *Client {
	if opt.Idle <= 0 {
		opt.Idle = 2 * time.Minute
	}
	if opt.Deadline <= 0 {
		opt.Deadline = 30 * time.Second
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Client{opt: opt, log: opt.Log, slots: make(chan struct{}, maxPending), noted: map[string]bool{}}
}

// Warm starts the process and loads all of it, as when a wake word was heard.
// It returns when a request would not wait for loading any more.
func (c *Client) Warm(ctx context.Context) error {
	c.mu.Lock()
	grammar := c.grammar
	c.mu.Unlock()
	_, err := c.ask(ctx, wire.Request{Op: wire.Warm, Grammar: grammar}, nil)
	return err
}

// Running reports whether the process is there, for status.
func (c *Client) Running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proc != nil && !c.proc.dead()
}

// PID is the process's id, 0 where there is none.
func (c *Client) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proc == nil || c.proc.dead() {
		return 0
	}
	return c.proc.child.PID()
}

// Close ends the process and waits until it is gone. Requests that run end
// with ErrCrashed, later ones with ErrClosed.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.retire()
	old := c.leaving
	c.mu.Unlock()
	if old != nil {
		<-old.gone // bounded: it is killed when it does not leave
	}
	return nil
}

// ask runs one request on the process, starting it if need be.
func (c *Client) ask(ctx context.Context, req wire.Request, sound []int16) (wire.Reply, error) {
	p, err := c.acquire(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	defer c.release()
	return c.on(ctx, p, req, sound)
}

// on runs one request on p.
func (c *Client) on(ctx context.Context, p *process, req wire.Request, sound []int16) (wire.Reply, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return wire.Reply{}, ctx.Err()
	}
	rep, err := p.call(ctx, req, sound)
	if err != nil {
		return wire.Reply{}, err
	}
	c.mu.Lock()
	c.crashes = 0
	c.mu.Unlock()
	if rep.Note != "" {
		c.note(rep.Note)
	}
	return rep, faultError(rep.Fault)
}

// note logs once what an answer lacked.
func (c *Client) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noted[text] || len(c.noted) > 100 {
		return
	}
	c.noted[text] = true
	c.log.Warn("speech engines", "note", text)
}

// faultError is the error for people of a fault.
func faultError(f *wire.Fault) error {
	if f == nil {
		return nil
	}
	switch f.Kind {
	case wire.Missing:
		return &missingError{f.Text}
	case wire.Canceled:
		return context.Canceled
	}
	return fmt.Errorf("speech engines: %s", f.Text)
}

// missingError is speech.ErrMissing with the other process's words.
type missingError struct{ text string }

func (e *missingError) Error() string { return e.text }

// Unwrap makes it match speech.ErrMissing.
func (e *missingError) Unwrap() error { return speech.ErrMissing }

// acquire gives a living process and counts a user of it; release must follow.
func (c *Client) acquire(ctx context.Context) (*process, error) {
	for {
		p, wait, err := c.tryAcquire()
		if wait == nil {
			return p, err
		}
		// Two would need the memory of two.
		select {
		case <-wait.gone:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (c *Client) tryAcquire() (p, wait *process, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, ErrClosed
	}
	if c.proc != nil && c.proc.dead() {
		c.bury()
	}
	if c.proc == nil {
		if c.leaving != nil && !c.leaving.isGone() {
			return nil, c.leaving, nil
		}
		if err := c.launch(); err != nil {
			return nil, nil, err
		}
	}
	c.users++
	if c.idle != nil {
		c.idle.Stop()
	}
	return c.proc, nil, nil
}

// bury forgets a process that ended by itself; c.mu is held.
func (c *Client) bury() {
	c.log.Error("speech engines ended", "err", c.proc.cause())
	c.leaving, c.proc = c.proc, nil
	c.crashes++
	if c.crashes >= crashLimit {
		c.until = time.Now().Add(cooldown)
	}
}

// launch starts a process; c.mu is held.
func (c *Client) launch() error {
	if wait := time.Until(c.until); c.crashes >= crashLimit && wait > 0 {
		return fmt.Errorf("%w %d times in a row; the next try is in %d s", ErrCrashed, c.crashes, int(wait.Seconds())+1)
	}
	ch, err := c.start()
	if err != nil {
		return fmt.Errorf("start the speech engines: %w", err)
	}
	c.proc = newProcess(ch, c.opt.Deadline)
	return nil
}

// release gives a user's count back; the last one starts the idle time.
func (c *Client) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users--
	if c.users > 0 || c.closed {
		return
	}
	if c.idle == nil {
		c.idle = time.AfterFunc(c.opt.Idle, c.rest)
	} else {
		c.idle.Reset(c.opt.Idle)
	}
}

// rest ends a process that is not needed.
func (c *Client) rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users == 0 && !c.closed {
		c.retire()
	}
}

// retire tells the process to end; c.mu is held.
func (c *Client) retire() {
	if c.idle != nil {
		c.idle.Stop()
	}
	if c.proc == nil {
		return
	}
	c.leaving, c.proc = c.proc, nil
	c.leaving.leave()
}
