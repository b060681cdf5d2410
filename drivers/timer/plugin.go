package timer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
)

const (
	// driftLimit is how far wall and monotonic clock may part unnoticed.
	driftLimit = 2 * time.Second
	// driftEvery is how often they are compared while a timer runs.
	driftEvery = 30 * time.Second
)

// Plugin is the timer driver. Its methods may be called from any goroutine.
type Plugin struct {
	cfg   Config
	clock Clock

	mu     sync.Mutex // guards everything below; held while the Store writes
	api    plugin.API // nil unless started
	timers []*entry
	lastID int
	// now and wall were read at the same moment, last time they were compared.
	now, wall time.Time

	kick  chan struct{} // tells the loop that the list has changed
	end   context.CancelFunc
	owned sync.WaitGroup // the loop and every ring

	// ringMu guards rings alone, so that a control intent never waits for a disk.
	ringMu sync.Mutex
	rings  map[*entry]context.CancelCauseFunc
}

var _ plugin.Plugin = (*Plugin)(nil)

// New returns the plugin; it does nothing before Start. A nil clock is the
// machine's own.
func New(cfg Config, clock Clock) *Plugin {
	if clock == nil {
		clock = system{}
	}
	return &Plugin{cfg: cfg, clock: clock}
}

// Name implements plugin.Plugin.
func (p *Plugin) Name() string { return "timer" }

// Version implements plugin.Plugin.
func (p *Plugin) Version() string { return "1.0.0" }

// Start takes up the stored timers; what fell due meanwhile is told at once.
func (p *Plugin) Start(_ context.Context, api plugin.API) error {
	if err := p.cfg.Validate(); err != nil {
		return err
	}
	timers, bad, err := load(api.Store())
	if err != nil {
		return err
	}
	for _, key := range bad {
		api.Log().Warn("a stored timer is not readable and was set aside", "key", key)
	}
	now, wall := p.clock.Now(), p.clock.Wall()
	last := 0
	for _, e := range timers {
		e.resume(now, wall)
		last = max(last, number(e.ID))
	}
	for _, t := range p.tools() {
		if err := api.RegisterTool(t.def.Name, t.def, t.handler); err != nil {
			return fmt.Errorf("tool %s: %w", t.def.Name, err)
		}
	}
	api.Subscribe(event.Control, p.control)

	ctx, cancel := context.WithCancel(context.Background())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.api, p.timers, p.lastID, p.now, p.wall = api, timers, last, now, wall
	p.kick, p.end = make(chan struct{}, 1), cancel
	p.ringMu.Lock()
	p.rings = map[*entry]context.CancelCauseFunc{}
	p.ringMu.Unlock()
	p.owned.Go(func() { p.run(ctx, p.kick) })
	return nil
}

// Stop ends the loop and every ring; timers stay in the Store.
func (p *Plugin) Stop(ctx context.Context) error {
	p.mu.Lock()
	if p.api == nil {
		p.mu.Unlock()
		return nil
	}
	p.api = nil
	p.end()
	p.mu.Unlock()
	done := make(chan struct{})
	go func() { p.owned.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("timer: a ring has not ended: %w", ctx.Err())
	}
}

// run starts rings when they are due.
func (p *Plugin) run(ctx context.Context, kick <-chan struct{}) {
	for {
		var due <-chan time.Time
		if wait, any := p.tick(ctx); any {
			due = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-kick:
		case <-due:
		}
	}
}

// tick rings what is due and returns how long to wait for the next look; any
// is false where no timer waits.
func (p *Plugin) tick(ctx context.Context) (wait time.Duration, any bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.api == nil {
		return 0, false
	}
	p.compare()
	wait = driftEvery
	for _, e := range p.timers {
		if e.ringing {
			continue
		}
		left := e.at.Sub(p.now)
		if left <= 0 {
			p.startRing(ctx, e)
			continue
		}
		any = true
		wait = min(wait, left)
	}
	return wait, any
}

// compare reads both clocks. Where the wall clock was set, the due times that
// the Store keeps move along, and timers that were unsure find their true one.
// The caller holds mu.
func (p *Plugin) compare() {
	now, wall := p.clock.Now(), p.clock.Wall()
	drift := wall.Sub(p.wall) - now.Sub(p.now)
	p.now, p.wall = now, wall
	if drift.Abs() <= driftLimit {
		return
	}
	p.api.Log().Info("the wall clock was set", "by", drift)
	for _, e := range p.timers {
		switch {
		case e.ringing:
			continue
		case e.unsure:
			e.unsure = false
			e.resume(now, wall)
			continue
		}
		e.Set, e.Due = e.Set.Add(drift), wall.Add(e.at.Sub(now))
		if err := e.save(p.api.Store()); err != nil {
			p.api.Log().Error("a timer's new due time could not be kept", "timer", e.ID, "err", err)
		}
	}
}

// wake makes the loop look again.
func (p *Plugin) wake() {
	select {
	case p.kick <- struct{}{}:
	default: // a look is already due
	}
}

// drop takes a timer out of the list. The caller holds mu.
func (p *Plugin) drop(e *entry) {
	p.timers = slices.DeleteFunc(p.timers, func(o *entry) bool { return o == e })
}
