package memory

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/mind"
	"homeagent/memory/document"
	"homeagent/memory/journal"
	"homeagent/memory/relevance"
	"homeagent/memory/search"
)

const (
	// idle is how long after the last turn what waits is put in its place.
	idle = 30 * time.Second
	// keepWait bounds one round of the keeper.
	keepWait = 5 * time.Minute
	// lines is how many turns are indexed at once, moves how many events go
	// into documents at once.
	lines, moves = 64, 512
	// manyPruned is how many pruned events are moved without waiting for idleness.
	manyPruned = 256
	// perTurn is the distance between the places of two turns in the stream.
	perTurn = 1000
	// stream is the one conversation of the one agent.
	stream = "talk"
)

// keeper is the state of what goes on behind the turns: turns are indexed as
// soon as they have ended; the journal's lines move to their files, and pruned
// events into documents, when the house is idle.
type keeper struct {
	mu      sync.Mutex // one round at a time; guards what follows
	loaded  bool       // indexed is known
	indexed uint64     // the last line of the journal that is in the index
	rebuild bool       // the index was made anew

	moved atomic.Uint64 // events ever pruned, when pruned ones were last moved
}

// manyWait reports whether more was pruned than should wait for idleness.
func (m *Memory) manyWait() bool { return m.context.Moved()-m.keep.moved.Load() >= manyPruned }

// keepHouse works until the memory closes.
func (m *Memory) keepHouse() {
	defer close(m.done)
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		due := false
		select {
		case <-m.stop:
			return
		case <-m.ended:
			timer.Reset(idle)
			m.worker.Wake()
			if v := m.vectors.Load(); v != nil {
				v.keeper.Wake()
			}
		case <-m.due:
			due = true
		case <-timer.C:
			due = true
		}
		ctx, cancel := m.lifetime(keepWait)
		m.round(ctx, due)
		cancel()
	}
}

// lifetime is a context that ends with the memory.
func (m *Memory) lifetime(limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	stop := make(chan struct{})
	go func() {
		select {
		case <-m.stop:
			cancel()
		case <-stop:
		}
	}()
	return ctx, sync.OnceFunc(func() { close(stop); cancel() })
}

// round does what is due. What fails is tried again in the next round: nothing
// is taken from where it was before it is durable where it goes.
func (m *Memory) round(ctx context.Context, all bool) {
	if err := m.indexTurns(ctx); err != nil && ctx.Err() == nil {
		m.log.Error("what was said could not be indexed", "err", err)
	}
	if !all {
		return
	}
	if err := m.settleStores(ctx); err != nil && ctx.Err() == nil {
		m.log.Error("what waits in state.db could not be moved", "err", err, "journal", m.journal.Waiting())
	}
}

// settleStores moves the journal's lines and the pruned events to their files.
func (m *Memory) settleStores(ctx context.Context) error {
	// Nothing is lost by an error: what waits stays in state.db.
	err := m.journal.Flush()
	_, serr := m.journal.Sweep()
	return errors.Join(err, serr, m.movePruned(ctx), m.documents.Flush(ctx))
}

// indexTurns puts the turns that the index lacks into it.
func (m *Memory) indexTurns(ctx context.Context) error {
	m.keep.mu.Lock()
	defer m.keep.mu.Unlock()
	if err := m.catchUp(ctx); err != nil {
		return err
	}
	for {
		got, err := m.journal.After(ctx, m.keep.indexed, lines)
		if err != nil || len(got) == 0 {
			return err
		}
		var d document.Document
		for _, l := range got {
			d.Events = append(d.Events, m.events(l)...)
		}
		for _, e := range d.Events {
			m.context.Locate(e.ID, relevance.Place{Turn: e.Turn, Stream: e.Stream, Seq: e.Seq})
		}
		p := m.passages(d)
		if err := m.inDocuments(ctx, p); err != nil {
			return err
		}
		if len(p) > 0 {
			if err := m.index.Put(ctx, p...); err != nil {
				return err
			}
		}
		m.keep.indexed = got[len(got)-1].Seq
	}
}

// inDocuments names the documents of passages whose events are in one already,
// as after an import or in an index that is made anew.
func (m *Memory) inDocuments(ctx context.Context, passages []search.Passage) error {
	var ids []string
	for _, p := range passages {
		ids = append(ids, p.From[0])
	}
	if len(ids) == 0 {
		return nil
	}
	in, err := m.documents.Has(ctx, ids...)
	for i, p := range passages {
		passages[i].Doc = in[p.From[0]]
	}
	return err
}

// catchUp finds out, once, how far the index has come, and fills one that was
// made anew from the documents. The caller holds keep.mu.
func (m *Memory) catchUp(ctx context.Context) error {
	if m.keep.rebuild {
		if err := m.reindexDocuments(ctx); err != nil {
			return err
		}
		m.keep.rebuild = false
		m.keep.indexed, m.keep.loaded = 0, true
	}
	if m.keep.loaded {
		return nil
	}
	last, ok, err := m.index.Last(ctx, stream)
	if err != nil {
		return err
	}
	if ok {
		end, err := m.journal.Last()
		if err != nil {
			return err
		}
		// The last turn may have been indexed in part. Where state.db was lost
		// the index knows turns whose numbers are given again.
		m.keep.indexed = uint64(max(min(last/perTurn, int64(end))-1, 0))
	}
	m.keep.loaded = true
	return nil
}

// events are the messages of a turn as documents keep them. Turns of the
// agent's own business are none of what was said.
func (m *Memory) events(l journal.Line) []document.Event {
	if l.Input.NoMemory || strings.HasPrefix(l.Input.Source, "_") || l.Outcome == mind.Controlled {
		return nil
	}
	var out []document.Event
	for i, msg := range l.Messages {
		e := document.FromMessage(msg, l.ID, stream, int64(l.Seq)*perTurn+int64(i%perTurn))
		if e.Tool != "" && m.noMemory(e.Tool) {
			e.NoMemory = true
		}
		out = append(out, e)
	}
	return out
}

// movePruned moves pruned events into documents: written and synced there,
// indexed, then removed here.
func (m *Memory) movePruned(ctx context.Context) error {
	m.keep.mu.Lock()
	defer m.keep.mu.Unlock()
	m.keep.moved.Store(m.context.Moved())
	for {
		var gone []relevance.Gone
		var damaged int
		err := m.state.View(func(tx *bolt.Tx) (err error) {
			gone, damaged, err = relevance.TakePruned(tx, moves)
			return err
		})
		if err == nil && damaged > 0 {
			m.log.Error("pruned events that do not parse were moved aside", "events", damaged)
			err = m.state.Update(relevance.SetDamagedAside)
		}
		if err != nil || len(gone) == 0 {
			return err
		}
		events := make([]document.Event, 0, len(gone))
		for _, g := range gone {
			e := document.FromMessage(g.Message, g.Turn, stream, g.Seq)
			// The agent's own business is kept and not computed on.
			e.NoMemory = e.NoMemory || e.Tool != "" && m.noMemory(e.Tool) || strings.HasPrefix(g.Stream, "_")
			events = append(events, e)
		}
		docs, perr := m.documents.PutEvents(ctx, events)
		if perr != nil {
			// What could be kept is; the rest stays and is tried again.
			if gone, err = m.kept(ctx, gone); err != nil || len(gone) == 0 {
				return errors.Join(perr, err)
			}
		}
		for _, d := range docs {
			if p := m.passages(d); len(p) > 0 {
				if err := m.index.Put(ctx, p...); err != nil {
					return err
				}
			}
		}
		err = m.state.Update(func(tx *bolt.Tx) error { return relevance.DropPruned(tx, gone) })
		if err = errors.Join(perr, err); err != nil {
			return err
		}
	}
}

// kept are those of pruned events that are in a document.
func (m *Memory) kept(ctx context.Context, gone []relevance.Gone) ([]relevance.Gone, error) {
	ids := make([]string, len(gone))
	for i, g := range gone {
		ids[i] = g.Message.ID
	}
	have, err := m.documents.Has(ctx, ids...)
	return slices.DeleteFunc(gone, func(g relevance.Gone) bool { return have[g.Message.ID] == "" }), err
}

// Settle waits until all that has ended is where it belongs: indexed, moved,
// and distilled into facts. A turn never waits for that.
func (m *Memory) Settle(ctx context.Context) error {
	if err := m.indexTurns(ctx); err != nil {
		return err
	}
	if err := m.settleStores(ctx); err != nil {
		return err
	}
	return m.worker.Run(ctx)
}
