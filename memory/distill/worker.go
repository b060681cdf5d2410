package distill

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"homeagent/memory/journal"
)

// Defaults of Options.
const (
	DefaultInterval = 10 * time.Minute
	DefaultBatch    = 50
	DefaultMaxDelay = 24 * time.Hour
	DefaultTries    = 8
	// DefaultDeadline is beyond the ten minutes that a provider may be silent.
	DefaultDeadline = 15 * time.Minute
)

// Waits between tries at a provider that fails; each is twice the one before.
const (
	firstBackoff = time.Minute
	maxBackoff   = time.Hour
)

// Journal is what the worker needs of one; *journal.Journal is.
type Journal interface {
	After(ctx context.Context, seq uint64, limit int) ([]journal.Line, error)
	DistilledTo(ctx context.Context, seq uint64) ([]string, error)
	Last() (uint64, error)
}

// Options are those of a Worker. Journal, Cursor and Sink must be set.
type Options struct {
	Journal Journal
	Cursor  Cursor
	Sink    Sink
	Reader  Reader
	// Extractor is asked first; nil leaves everything to Offline.
	Extractor Extractor
	// Offline is NewHeuristic() by default.
	Offline Extractor
	// OfflineOnly tells whether the house is configured to do without a
	// provider; Extractor is then not asked. nil is "no".
	OfflineOnly func() bool
	// Interval is the time between two rounds, Batch how many turns are given
	// to an extractor at once.
	Interval time.Duration
	Batch    int
	// Hours are those in which a backlog larger than a batch waits, one batch a
	// round excepted, but not longer than MaxDelay. The zero value never waits.
	Hours    Hours
	MaxDelay time.Duration
	// Tries is how often a batch is given to Extractor before Offline takes it.
	Tries int
	// Deadline is the longest one extraction may take.
	Deadline time.Duration
	Now      func() time.Time
	Log      *slog.Logger
}

// Worker distils the journal. Its methods are safe for concurrent use.
type Worker struct {
	opts Options
	wake chan struct{}
	busy chan struct{} // holds one token while a round or Forget is at work

	ctx  context.Context // ends with Close
	end  context.CancelFunc
	once sync.Once
	done chan struct{} // closed when the loop has ended

	mu         sync.Mutex // guards what follows, never held over I/O
	cancel     context.CancelFunc
	forgetting int // calls of Forget, which nothing new may overtake
	status     Status
}

// Status is what a worker is at.
type Status struct {
	// Seq is the last line distilled, Backlog at most how many wait behind it.
	Seq, Backlog uint64
	// Running is true while a round is at work.
	Running bool
	// LastRun is when the last round ended, LastError why it failed, "" where it
	// did not; an error holds no text of the household.
	LastRun   time.Time
	LastError string
	// Tries counts the failed tries at the present batch, NextTry is when the
	// next one is due.
	Tries   int
	NextTry time.Time
	// Deferred is true while a backlog waits for cheaper hours.
	Deferred bool
	// Offline is true where the provider is not asked, by configuration.
	Offline bool
	// ByModel and ByHeuristic count batches since the start; GaveUp those of the
	// latter that a provider had failed at.
	ByModel, ByHeuristic, GaveUp int
	// Facts counts the facts committed since the start.
	Facts int
}

// New makes a worker that does nothing until Start or Run.
func New(opts Options) (*Worker, error) {
	if opts.Journal == nil || opts.Cursor == nil || opts.Sink == nil {
		return nil, errors.New("distiller: journal, cursor and sink must be given")
	}
	if opts.Offline == nil {
		opts.Offline = NewHeuristic()
	}
	if opts.Interval <= 0 {
		opts.Interval = DefaultInterval
	}
	if opts.Batch <= 0 {
		opts.Batch = DefaultBatch
	}
	if opts.MaxDelay <= 0 {
		opts.MaxDelay = DefaultMaxDelay
	}
	if opts.Tries <= 0 {
		opts.Tries = DefaultTries
	}
	if opts.Deadline <= 0 {
		opts.Deadline = DefaultDeadline
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	w := &Worker{opts: opts, wake: make(chan struct{}, 1), busy: make(chan struct{}, 1), done: make(chan struct{})}
	w.ctx, w.end = context.WithCancel(context.Background())
	return w, nil
}

// Start begins the rounds, one each Interval, the first after one. It must be
// called once at most.
func (w *Worker) Start() {
	w.once.Do(func() { go w.loop() })
}

// Wake says that turns have arrived. A round begins at once where a whole batch
// waits; fewer turns wait for the interval, so that a talk of ten turns costs
// one call and not ten.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *Worker) loop() {
	defer close(w.done)
	ticker := time.NewTicker(w.opts.Interval)
	defer ticker.Stop()
	for {
		woken := false
		select {
		case <-w.ctx.Done():
			return
		case <-w.wake:
			woken = true
		case <-ticker.C:
		}
		if !w.due(woken) {
			continue
		}
		if err := w.round(w.ctx, false); err != nil && !errors.Is(err, context.Canceled) {
			w.opts.Log.Warn("distilling failed and is tried again", "err", err)
		}
	}
}

// due tells whether a round is worth it now.
func (w *Worker) due(woken bool) bool {
	w.mu.Lock()
	s := w.status
	w.mu.Unlock()
	if w.opts.Now().Before(s.NextTry) {
		return false
	}
	if !woken {
		return true
	}
	if s.Deferred {
		return false // the interval allows one batch; each further turn does not
	}
	last, err := w.opts.Journal.Last()
	return err == nil && last >= w.seq()+uint64(w.opts.Batch)
}

// seq is the last line distilled, as the cursor has it.
func (w *Worker) seq() uint64 {
	p, err := w.opts.Cursor.Get()
	if err != nil {
		return 0
	}
	return p.Seq
}

// Run does one round now and returns when it has ended. It waits for a round
// that is at work. What the hours and the waits after a failure put off is done.
func (w *Worker) Run(ctx context.Context) error { return w.round(ctx, true) }

// Distil does one round now and returns how many facts it committed. commanded
// is as in Run; else the hours count as they do for a round of the worker's own.
func (w *Worker) Distil(ctx context.Context, commanded bool) (facts int, err error) {
	return w.distil(ctx, commanded)
}

// Close ends what is running and waits for it until ctx ends. What was not
// committed comes again after the next start.
func (w *Worker) Close(ctx context.Context) error {
	w.end()
	w.once.Do(func() { close(w.done) }) // never started
	select {
	case <-w.done:
	case <-ctx.Done():
		return fmt.Errorf("close the distiller: %w", ctx.Err())
	}
	select {
	case w.busy <- struct{}{}: // a Run of somebody else's has ended too
		<-w.busy
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the distiller: %w", ctx.Err())
	}
}

// Forget drops facts for which keep is false from those found and not yet
// committed, and interrupts the extraction that runs, which is done again later.
// To forget for good: first redact the journal, then call this, then purge the
// graph.
func (w *Worker) Forget(ctx context.Context, keep func(Fact) bool) error {
	w.mu.Lock()
	w.forgetting++
	if w.cancel != nil {
		w.cancel()
	}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.forgetting--
	}()
	select {
	case w.busy <- struct{}{}:
		defer func() { <-w.busy }()
	case <-ctx.Done():
		return fmt.Errorf("forget pending facts: %w", ctx.Err())
	}
	p, err := w.opts.Cursor.Get()
	if err != nil {
		return fmt.Errorf("forget pending facts: %w", err)
	}
	changed := false
	for i, portion := range p.Pending {
		var kept []Fact
		for _, f := range portion.Facts {
			if keep(f) {
				kept = append(kept, f)
			}
		}
		changed = changed || len(kept) < len(portion.Facts)
		p.Pending[i].Facts = kept
	}
	if !changed {
		return nil
	}
	return w.opts.Cursor.Set(p)
}

// Status tells what the worker is at.
func (w *Worker) Status() (Status, error) {
	p, err := w.opts.Cursor.Get()
	if err != nil {
		return Status{}, err
	}
	last, err := w.opts.Journal.Last()
	if err != nil {
		return Status{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.status
	s.Seq, s.Offline = p.Seq, w.offline()
	if last > p.Seq {
		s.Backlog = last - p.Seq
	}
	return s, nil
}

func (w *Worker) offline() bool {
	return w.opts.Extractor == nil || w.opts.OfflineOnly != nil && w.opts.OfflineOnly()
}

// note changes the status.
func (w *Worker) note(change func(*Status)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.status)
}
