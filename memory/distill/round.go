package distill

import (
	"context"
	"fmt"
	"time"

	"homeagent/memory/journal"
)

// round distils what lies behind the cursor, as far as it may now. all leaves
// the hours out of account.
func (w *Worker) round(ctx context.Context, all bool) (err error) {
	_, err = w.distil(ctx, all)
	return err
}

// distil is round and counts the facts that were committed.
func (w *Worker) distil(ctx context.Context, all bool) (facts int, err error) {
	err = w.alone(ctx, func(ctx context.Context) error {
		begin := w.counted()
		defer func() { facts = w.counted() - begin }()
		return w.rounds(ctx, all)
	})
	return facts, err
}

// counted is the number of facts committed since the start.
func (w *Worker) counted() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status.Facts
}

// alone runs f when nothing else is at work, under a context that ends with the
// caller's, with Close and with Forget.
func (w *Worker) alone(ctx context.Context, f func(context.Context) error) (err error) {
	select {
	case w.busy <- struct{}{}:
		defer func() { <-w.busy }()
	case <-ctx.Done():
		return ctx.Err()
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.ctx, cancel)()
	w.mu.Lock()
	if w.forgetting > 0 {
		w.mu.Unlock()
		return fmt.Errorf("something is being forgotten: %w", context.Canceled)
	}
	w.cancel, w.status.Running = cancel, true
	w.mu.Unlock()
	defer func() {
		w.note(func(s *Status) {
			w.cancel, s.Running, s.LastRun, s.LastError = nil, false, w.opts.Now(), ""
			if err != nil {
				s.LastError = err.Error()
			}
		})
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(ctx)
}

// rounds distils batch after batch.
func (w *Worker) rounds(ctx context.Context, all bool) error {
	p, err := w.opts.Cursor.Get()
	if err != nil {
		return err
	}
	before := p.Seq
	if err := w.commit(ctx, &p); err != nil {
		return err
	}
	deferred := false
	for asked := false; ; {
		lines, err := w.opts.Journal.After(ctx, p.Seq, w.opts.Batch)
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			break
		}
		if asked && !all && w.wait(lines[0]) {
			deferred = true
			break
		}
		used, err := w.batch(ctx, &p, lines)
		if err != nil {
			return err
		}
		asked = asked || used
	}
	w.note(func(s *Status) { s.Deferred = deferred })
	if p.Seq > before {
		_, err = w.opts.Journal.DistilledTo(ctx, p.Seq)
	}
	return err
}

// Absorb takes the facts out of events that are no news to the journal, those
// of a document that grows cold say, and commits them turn by turn. It leaves the
// cursor alone and waits for a round that is at work.
func (w *Worker) Absorb(ctx context.Context, events []Event) (facts int, err error) {
	err = w.alone(ctx, func(ctx context.Context) error {
		for len(events) > 0 {
			n := w.upTo(events)
			found, err := w.extract(ctx, events[:n])
			if err != nil {
				return err
			}
			for _, portion := range byTurn(sound(events[:n], found)) {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := w.opts.Sink.Commit(ctx, portion); err != nil {
					return fmt.Errorf("commit distilled facts: %w", err)
				}
				facts += len(portion)
			}
			events = events[n:]
		}
		return nil
	})
	return facts, err
}

// upTo is the number of events in the first batch of turns.
func (w *Worker) upTo(events []Event) int {
	turns := 0
	for i, e := range events {
		if i == 0 || e.Turn != events[i-1].Turn {
			if turns++; turns > w.opts.Batch {
				return i
			}
		}
	}
	return len(events)
}

// byTurn groups facts by turn, in the order of the turns' first facts.
func byTurn(facts []Fact) (out [][]Fact) {
	at := map[string]int{}
	for _, f := range facts {
		i, ok := at[f.Turn]
		if !ok {
			i = len(out)
			at[f.Turn] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], f)
	}
	return out
}

// wait tells whether a further batch, beginning with line, waits for cheaper hours.
func (w *Worker) wait(line journal.Line) bool {
	now := w.opts.Now()
	return !w.offline() && w.opts.Hours.Full(now) && now.Sub(line.Ended) < w.opts.MaxDelay
}

// batch takes the facts out of lines and commits them. asked is false where
// nothing in them was worth asking about.
func (w *Worker) batch(ctx context.Context, p *Position, lines []journal.Line) (asked bool, err error) {
	var events []Event
	for _, l := range lines {
		events = append(events, w.opts.Reader.Events(l.Turn)...)
	}
	var facts []Fact
	if len(events) > 0 {
		if facts, err = w.extract(ctx, events); err != nil {
			return true, err
		}
	}
	found := map[string][]Fact{}
	for _, portion := range byTurn(sound(events, facts)) {
		found[portion[0].Turn] = portion
	}
	p.Through, p.Pending = lines[len(lines)-1].Seq, nil
	for _, l := range lines {
		if f := found[l.ID]; len(f) > 0 {
			p.Pending = append(p.Pending, Portion{Seq: l.Seq, Facts: f})
		}
	}
	if len(p.Pending) == 0 {
		p.Seq, p.Through = p.Through, 0
		return len(events) > 0, w.opts.Cursor.Set(*p)
	}
	if err := ctx.Err(); err != nil { // Forget may have come: found facts are not kept then
		return true, err
	}
	if err := w.opts.Cursor.Set(*p); err != nil {
		return true, err
	}
	return true, w.commit(ctx, p)
}

// commit hands over the facts that are pending, turn by turn, and moves the
// cursor behind each.
func (w *Worker) commit(ctx context.Context, p *Position) error {
	for len(p.Pending) > 0 {
		next := p.Pending[0]
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(next.Facts) > 0 {
			if err := w.opts.Sink.Commit(ctx, next.Facts); err != nil {
				return fmt.Errorf("commit distilled facts: %w", err)
			}
		}
		q := Position{Seq: next.Seq, Through: p.Through, Pending: p.Pending[1:]}
		if len(q.Pending) == 0 {
			q.Seq, q.Through, q.Pending = max(q.Seq, p.Through), 0, nil
		}
		if err := w.opts.Cursor.Set(q); err != nil {
			return err
		}
		*p = q
		w.note(func(s *Status) { s.Facts += len(next.Facts) })
	}
	return nil
}

// extract asks the extractor that is meant for now.
func (w *Worker) extract(ctx context.Context, events []Event) ([]Fact, error) {
	ctx, cancel := context.WithTimeout(ctx, w.opts.Deadline)
	defer cancel()
	w.mu.Lock()
	gaveUp := w.status.Tries >= w.opts.Tries
	w.mu.Unlock()
	if w.offline() || gaveUp {
		facts, err := w.opts.Offline.Extract(ctx, events)
		if err == nil {
			w.note(func(s *Status) {
				s.ByHeuristic++
				if gaveUp {
					s.GaveUp++
				}
				s.Tries, s.NextTry = 0, time.Time{}
			})
		}
		return facts, err
	}
	facts, err := w.opts.Extractor.Extract(ctx, events)
	switch {
	case err == nil:
		w.note(func(s *Status) {
			s.ByModel++
			s.Tries, s.NextTry = 0, time.Time{}
		})
	case ctx.Err() == context.Canceled: // Close, Forget or the caller: no fault of the provider's
	default:
		w.note(func(s *Status) {
			wait := maxBackoff
			if s.Tries < 6 {
				wait = min(maxBackoff, firstBackoff<<s.Tries)
			}
			s.Tries++
			s.NextTry = w.opts.Now().Add(wait)
		})
	}
	return facts, err
}
