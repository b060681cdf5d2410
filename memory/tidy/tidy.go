package tidy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Source is the source of the inputs by which pairs are asked about.
const Source = "_consolidation_"

// Defaults of Options.
const (
	DefaultInterval   = 30 * time.Minute
	DefaultColdAfter  = 72 * time.Hour
	DefaultColdAccess = 2
	DefaultTasks      = 3
	DefaultPatience   = 2 * time.Minute
	DefaultOverdue    = 48 * time.Hour
	DefaultStep       = 10 * time.Minute
	DefaultDistil     = 30 * time.Minute
)

// Options are those of a Tidy. Graph, Documents, Index, House and Store must
// be set; without a Distiller nothing is distilled or absorbed.
type Options struct {
	Graph     Graph
	Documents Documents
	Index     Index
	House     House
	Store     Store
	Distiller Distiller
	// Interval is the time between two rounds.
	Interval time.Duration
	// ColdAfter and ColdAccess say when a document is cold: not read for so long
	// and read at most so often.
	ColdAfter  time.Duration
	ColdAccess int
	// Tasks is how many pairs are asked about in a round at most.
	Tasks int
	// Patience is the longest wait for a user's turn between two small steps.
	Patience time.Duration
	// Overdue is after how long an answer is not waited for any more.
	Overdue time.Duration
	// Step is the longest that one kind of work may take, Distil that of distilling.
	Step, Distil time.Duration
	Now          func() time.Time
	Log          *slog.Logger
}

// Tidy does the housework. Its methods are safe for concurrent use.
type Tidy struct {
	o    Options
	busy chan struct{} // holds one token while a round is at work

	ctx  context.Context // ends with Close
	end  context.CancelFunc
	once sync.Once
	done chan struct{} // closed when the loop has ended

	mu     sync.Mutex // guards what follows, never held over I/O
	status Status

	answers sync.Mutex // one answer, or one asking, at a time
	saved   saved      // guarded by answers
	loaded  bool
}

// New makes a Tidy that does nothing until Start or Run.
func New(o Options) (*Tidy, error) {
	if o.Graph == nil || o.Documents == nil || o.Index == nil || o.House == nil || o.Store == nil {
		return nil, errors.New("tidy: graph, documents, index, house and store must be given")
	}
	for _, d := range []struct {
		at *time.Duration
		is time.Duration
	}{{&o.Interval, DefaultInterval}, {&o.ColdAfter, DefaultColdAfter}, {&o.Patience, DefaultPatience},
		{&o.Overdue, DefaultOverdue}, {&o.Step, DefaultStep}, {&o.Distil, DefaultDistil}} {
		if *d.at <= 0 {
			*d.at = d.is
		}
	}
	if o.ColdAccess <= 0 {
		o.ColdAccess = DefaultColdAccess
	}
	if o.Tasks <= 0 {
		o.Tasks = DefaultTasks
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	t := &Tidy{o: o, busy: make(chan struct{}, 1), done: make(chan struct{})}
	t.ctx, t.end = context.WithCancel(context.Background())
	return t, nil
}

// Start begins the rounds, one each Interval, the first after one.
func (t *Tidy) Start() {
	t.once.Do(func() {
		t.setNext(t.o.Now().Add(t.o.Interval))
		go t.loop()
	})
}

func (t *Tidy) loop() {
	defer close(t.done)
	ticker := time.NewTicker(t.o.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-ticker.C:
		}
		t.setNext(t.o.Now().Add(t.o.Interval))
		if _, err := t.round(t.ctx, false); err != nil && t.ctx.Err() == nil {
			t.o.Log.Warn("tidying failed", "err", err)
		}
	}
}

func (t *Tidy) setNext(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status.NextRun = at
}

// Run does one round now and returns what it did. It waits for a round that is
// at work. The error is that of ctx, or of the saved state; what went wrong
// within the round is in the report.
func (t *Tidy) Run(ctx context.Context) (Report, error) { return t.round(ctx, true) }

// Close ends what is running and waits for it until ctx ends.
func (t *Tidy) Close(ctx context.Context) error {
	t.end()
	t.once.Do(func() { close(t.done) }) // never started
	select {
	case <-t.done:
	case <-ctx.Done():
		return fmt.Errorf("close the tidying: %w", ctx.Err())
	}
	select {
	case t.busy <- struct{}{}: // a Run of somebody else's has ended too
		<-t.busy
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the tidying: %w", ctx.Err())
	}
}

// Status tells what is done and when.
func (t *Tidy) Status() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status.clone()
}

// round does all kinds of work one after another.
func (t *Tidy) round(ctx context.Context, commanded bool) (Report, error) {
	select {
	case t.busy <- struct{}{}:
		defer func() { <-t.busy }()
	case <-ctx.Done():
		return Report{}, fmt.Errorf("tidy: %w", ctx.Err())
	case <-t.ctx.Done():
	}
	if err := t.ctx.Err(); err != nil {
		return Report{}, fmt.Errorf("tidy: it is closed: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	if err := t.load(); err != nil {
		return Report{}, fmt.Errorf("tidy: %w", err)
	}
	r := Report{Started: t.o.Now(), Commanded: commanded}
	for _, w := range []struct {
		kind  Kind
		limit time.Duration
		do    func(context.Context, *Step) error
	}{
		{Distil, t.o.Distil, func(ctx context.Context, s *Step) error { return t.distil(ctx, s, commanded) }},
		{Reindex, t.o.Step, t.reindex},
		{Cold, t.o.Distil, t.cold},
		{Alike, t.o.Step, t.alike},
		{Pages, t.o.Step, t.pages},
		{Indexing, t.o.Step, t.index},
		{Ask, t.o.Step, t.ask},
	} {
		if ctx.Err() != nil {
			break
		}
		if t.o.Distiller == nil && (w.kind == Distil || w.kind == Cold) {
			continue
		}
		t.at(w.kind)
		r.Steps = append(r.Steps, t.work(ctx, w.kind, w.limit, w.do))
	}
	r.Ended = t.o.Now()
	t.ended(r)
	if err := ctx.Err(); err != nil {
		return r, fmt.Errorf("tidy: %w", err)
	}
	return r, nil
}

// work does one kind under its deadline.
func (t *Tidy) work(ctx context.Context, kind Kind, limit time.Duration, do func(context.Context, *Step) error) (s Step) {
	s.Kind = kind
	began := t.o.Now()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		if err := t.pause(ctx); err != nil {
			return err
		}
		return do(ctx, &s)
	}()
	s.Took = t.o.Now().Sub(began)
	if err != nil {
		s.Error = err.Error()
		if ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.o.Log.Warn("a part of the tidying failed and is tried again in the next round", "part", kind, "err", err)
		}
	}
	return s
}

// poll is how often a waiting round looks whether the house is quiet.
const poll = 250 * time.Millisecond

// pause waits while a user's turn runs, at most Patience. It ends with ctx.
func (t *Tidy) pause(ctx context.Context) error {
	if err := ctx.Err(); err != nil || !t.o.House.Busy() {
		return err
	}
	limit := time.NewTimer(t.o.Patience)
	defer limit.Stop()
	look := time.NewTicker(poll)
	defer look.Stop()
	for t.o.House.Busy() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-limit.C:
			return nil
		case <-look.C:
		}
	}
	return ctx.Err()
}

func (t *Tidy) distil(ctx context.Context, s *Step, commanded bool) (err error) {
	s.Facts, err = t.o.Distiller.Distil(ctx, commanded)
	return err
}

func (t *Tidy) reindex(ctx context.Context, s *Step) error {
	r, err := t.o.Documents.Reindex(ctx)
	s.Documents = len(r.Changed) + len(r.Gone)
	if s.Documents == 0 {
		return err
	}
	return errors.Join(err, t.o.Index.Sync(ctx, r.Changed, r.Gone))
}

// maxCold bounds the documents absorbed in one round: each may cost a model's answer.
const maxCold = 20

// cold takes the facts of documents that nobody reads into the graph.
func (t *Tidy) cold(ctx context.Context, s *Step) error {
	found, err := t.o.Documents.Cold(ctx, t.o.Now(), t.o.ColdAfter, t.o.ColdAccess)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range found[:min(len(found), maxCold)] {
		if err := t.pause(ctx); err != nil {
			return errors.Join(append(errs, err)...)
		}
		n, err := t.o.Distiller.Absorb(ctx, d.ID)
		s.Facts += n
		if err == nil {
			err = t.o.Documents.Archive(ctx, d.ID)
		}
		if err == nil {
			err = t.o.Index.Sync(ctx, []string{d.ID}, nil)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("cold document %s: %w", d.ID, err))
			continue
		}
		s.Documents++
	}
	return errors.Join(errs...)
}

func (t *Tidy) index(ctx context.Context, s *Step) (err error) {
	s.Documents, err = t.o.Index.CatchUp(ctx)
	return err
}
