package embed

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"sync"
	"time"
)

// Change is something of which the text may have changed.
type Change struct {
	ID string
	// Gone means that there is no such thing any more.
	Gone bool
}

// Source is what the keeper follows.
type Source interface {
	// Changed returns about limit changes since a mark, and the mark to go on
	// from; 0 is the beginning. Equal marks mean that nothing is left.
	Changed(ctx context.Context, since int64, limit int) ([]Change, int64, error)
	// Text is what is embedded of an id, "" where nothing is to be.
	Text(ctx context.Context, id string) (string, error)
}

// Store is a source and the file of its vectors.
type Store struct {
	Source Source
	Path   string
}

// KeeperOptions are those of a Keeper; Embedder and one of the stores are needed.
type KeeperOptions struct {
	Embedder Embedder
	// Entities and Passages may each have no Source.
	Entities, Passages Store
	// Batch is how many texts are embedded at once, 32 by default.
	Batch int
	// Interval is when Run looks for changes by itself, 10 minutes by default.
	Interval time.Duration
	// QueryWait bounds what a query waits for the embedder, 2 s by default.
	QueryWait time.Duration
	// Floor is the cosine below which nothing is near, 0.25 by default.
	Floor float64
	// Log may be nil.
	Log *slog.Logger
	// Now is time.Now by default.
	Now func() time.Time
}

const (
	// maxText is how much of a text is embedded, in bytes.
	maxText = 4 << 10
	// The pauses after a failure, doubled from the first to the last.
	firstPause, lastPause = time.Minute, 30 * time.Minute
	// queryPause is how long queries do without an embedder that has failed one.
	queryPause = 30 * time.Second
	// keptQueries are remembered with their vectors: a turn asks more than once.
	keptQueries = 8
)

// ErrResting is returned for a query while the embedder rests after a failure.
var ErrResting = errors.New("the embedder has failed a moment ago")

// Keeper keeps vectors of what is remembered. It is safe for concurrent use; its
// one goroutine is the caller's, in Run.
type Keeper struct {
	o    KeeperOptions
	log  *slog.Logger
	wake chan struct{}

	round sync.Mutex // one at a time

	mu       sync.Mutex
	entities *Index // nil until the embedder has told its length
	passages *Index
	closed   bool
	queries  []asked // the newest last
	rests    time.Time
}

// asked is a query and its vector.
type asked struct {
	text   string
	vector []float32
}

// NewKeeper opens nothing.
func NewKeeper(o KeeperOptions) *Keeper {
	if o.Batch <= 0 {
		o.Batch = 32
	}
	if o.Interval <= 0 {
		o.Interval = 10 * time.Minute
	}
	if o.QueryWait <= 0 {
		o.QueryWait = 2 * time.Second
	}
	if o.Floor == 0 {
		o.Floor = 0.25
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Keeper{o: o, log: o.Log, wake: make(chan struct{}, 1)}
}

// Wake tells Run that something has changed. It never waits.
func (k *Keeper) Wake() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Run embeds what changes until ctx ends. After a failure it waits longer and
// longer, whatever wakes it.
func (k *Keeper) Run(ctx context.Context) {
	pause := time.Duration(0)
	for {
		wait, wake := k.o.Interval, k.wake
		if err := k.Round(ctx); err != nil && ctx.Err() == nil {
			pause = min(max(2*pause, firstPause), lastPause)
			wait, wake = pause, nil
			k.log.Info("vectors wait", "embedder", k.o.Embedder.Name(), "pause", pause, "err", err)
		} else {
			pause = 0
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-wake:
			t.Stop()
		case <-t.C:
		}
	}
}

// Round embeds all that has changed since the last one.
func (k *Keeper) Round(ctx context.Context) error {
	k.round.Lock()
	defer k.round.Unlock()
	if err := k.open(ctx); err != nil {
		return err
	}
	for _, s := range []struct {
		source Source
		index  *Index
	}{{k.o.Entities.Source, k.entities}, {k.o.Passages.Source, k.passages}} {
		if s.source == nil {
			continue
		}
		if err := k.follow(ctx, s.source, s.index); err != nil {
			return fmt.Errorf("keep vectors: %w", err)
		}
	}
	return nil
}

// open opens the indexes once the length of vectors is known.
func (k *Keeper) open(ctx context.Context) error {
	k.mu.Lock()
	ready, closed := k.entities != nil || k.passages != nil, k.closed
	k.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if ready {
		return nil
	}
	if k.o.Embedder.Dim() == 0 {
		if _, err := k.o.Embedder.Embed(ctx, []string{"home"}); err != nil {
			return fmt.Errorf("ask for the length of vectors: %w", err)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return ErrClosed
	}
	for _, s := range []struct {
		store Store
		index **Index
	}{{k.o.Entities, &k.entities}, {k.o.Passages, &k.passages}} {
		if s.store.Source == nil {
			continue
		}
		x, notice, err := Open(s.store.Path, k.o.Embedder.Dim(), k.o.Embedder.Name())
		if err != nil {
			return err
		}
		if notice != nil {
			k.log.Warn("vectors were damaged and are made anew", "file", s.store.Path, "lost", notice.Lost, "err", notice.Err)
		}
		*s.index = x
	}
	return nil
}

// follow embeds what has changed in one source, batch by batch; the mark follows
// each batch.
func (k *Keeper) follow(ctx context.Context, source Source, x *Index) error {
	for mark := x.Mark(); ; {
		changes, next, err := source.Changed(ctx, mark, k.o.Batch)
		if err != nil || next == mark {
			return err
		}
		if err := k.take(ctx, source, x, changes); err != nil {
			return err
		}
		if err := x.Sync(ctx, next); err != nil {
			return err
		}
		mark = next
	}
}

// take embeds changes whose texts are not in the index yet.
func (k *Keeper) take(ctx context.Context, source Source, x *Index, changes []Change) error {
	var todo []Entry
	var texts []string
	flush := func() error {
		if len(texts) == 0 {
			return nil
		}
		vectors, err := k.o.Embedder.Embed(ctx, texts)
		if err != nil {
			return err
		}
		if len(vectors) != len(texts) {
			return fmt.Errorf("%s gave %d vectors for %d texts", k.o.Embedder.Name(), len(vectors), len(texts))
		}
		for i := range todo {
			todo[i].Vector = vectors[i]
		}
		err = x.Put(ctx, todo...)
		todo, texts = todo[:0], texts[:0]
		return err
	}
	seen := map[string]bool{}
	for _, c := range changes {
		if seen[c.ID] || c.ID == "" || len(c.ID) > MaxID {
			continue // too long an id has no vector and is found by its words
		}
		seen[c.ID] = true
		text := ""
		if !c.Gone {
			var err error
			if text, err = source.Text(ctx, c.ID); err != nil {
				return err
			}
		}
		if text = cut(text); text == "" {
			if err := x.Remove(ctx, c.ID); err != nil {
				return err
			}
			continue
		}
		sum := sumOf(text)
		if old, ok, err := x.Sum(ctx, c.ID); err != nil {
			return err
		} else if ok && old == sum {
			continue
		}
		todo, texts = append(todo, Entry{ID: c.ID, Sum: sum}), append(texts, text)
		if len(texts) == k.o.Batch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// Near returns the ids nearest to a text, best first, at most limit of each
// store. Before the first round, and while the embedder does not answer, it is an
// error, which recall survives.
func (k *Keeper) Near(ctx context.Context, text string, limit int) (entities, passages []Match, err error) {
	k.mu.Lock()
	e, p, closed := k.entities, k.passages, k.closed
	k.mu.Unlock()
	switch text = cut(text); {
	case closed:
		return nil, nil, ErrClosed
	case text == "" || e == nil && p == nil:
		return nil, nil, nil
	}
	v, err := k.vector(ctx, text)
	if err != nil {
		return nil, nil, fmt.Errorf("vector of a query: %w", err)
	}
	for _, s := range []struct {
		index *Index
		out   *[]Match
	}{{e, &entities}, {p, &passages}} {
		if s.index == nil {
			continue
		}
		found, err := s.index.Nearest(ctx, v, limit)
		if err != nil {
			return nil, nil, err
		}
		for _, m := range found {
			if m.Score >= k.o.Floor {
				*s.out = append(*s.out, m)
			}
		}
	}
	return entities, passages, nil
}

// vector embeds a query, or remembers it.
func (k *Keeper) vector(ctx context.Context, text string) ([]float32, error) {
	k.mu.Lock()
	rests := k.o.Now().Before(k.rests)
	for _, q := range k.queries {
		if q.text == text {
			k.mu.Unlock()
			return q.vector, nil
		}
	}
	k.mu.Unlock()
	if rests {
		return nil, ErrResting
	}
	wait, cancel := context.WithTimeout(ctx, k.o.QueryWait)
	defer cancel()
	vectors, err := k.o.Embedder.Embed(wait, []string{text})
	if err == nil && len(vectors) != 1 {
		err = fmt.Errorf("%s gave %d vectors for 1 text", k.o.Embedder.Name(), len(vectors))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			k.rests = k.o.Now().Add(queryPause)
		}
		return nil, err
	}
	if len(k.queries) == keptQueries {
		k.queries = append(k.queries[:0], k.queries[1:]...)
	}
	k.queries = append(k.queries, asked{text, vectors[0]})
	return vectors[0], nil
}

// Forget takes passages out at once, as when a person has asked for it; entities
// follow their source. It is durable when it returns.
func (k *Keeper) Forget(ctx context.Context, passages ...string) error {
	k.mu.Lock()
	x := k.passages
	k.queries = nil
	k.mu.Unlock()
	if x == nil {
		return nil
	}
	if err := x.Remove(ctx, passages...); err != nil {
		return err
	}
	return x.Sync(ctx, x.Mark())
}

// Close closes the files; Run must have ended or fails from now on.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	var errs []error
	for _, x := range []*Index{k.entities, k.passages} {
		if x != nil {
			errs = append(errs, x.Close())
		}
	}
	return errors.Join(errs...)
}

func sumOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return mix(h.Sum64())
}
