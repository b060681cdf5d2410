package memory

import (
	"context"
	"errors"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/mind"
	"homeagent/agent/provider"
	"homeagent/memory/document"
	"homeagent/memory/graph"
	"homeagent/memory/journal"
	"homeagent/memory/knowledge"
)

// importer takes the lines of an export in.
type importer struct {
	m     *Memory
	ctx   context.Context
	next  func() (entry, error, bool)
	got   *Imported
	turns []turnEntry
	have  map[string]bool // ids of turns that the journal has
	live  map[string]bool // ids of events that are in the conversation here
	talk  []provider.Message
	from  string // the stream of the other conversation
	last  int64  // the highest place in it
}

func (in *importer) run() error {
	m := in.m
	// What was pruned must be where it is looked for, and the index must know
	// how far it has come before places of another house are in it.
	if err := m.settleStores(in.ctx); err != nil {
		return err
	}
	if err := m.indexTurns(in.ctx); err != nil {
		return err
	}
	if err := m.dropDistilled(); err != nil {
		return err
	}
	in.have, in.live = map[string]bool{}, map[string]bool{}
	for seq := uint64(0); ; {
		got, err := m.journal.After(in.ctx, seq, lines)
		if err != nil {
			return err
		}
		if len(got) == 0 {
			break
		}
		for _, l := range got {
			seq, in.have[l.ID] = l.Seq, true
		}
	}
	for _, msg := range m.Window() {
		in.live[msg.ID] = true
	}
	ahead, err := in.graph()
	if err != nil {
		return err
	}
	for ahead != nil {
		if err := in.take(*ahead); err != nil {
			return err
		}
		e, err, ok := in.next()
		if err != nil {
			return err
		}
		if ahead = &e; !ok {
			ahead = nil
		}
	}
	if err := in.flush(); err != nil {
		return err
	}
	return in.conversation()
}

// graph takes the first lines, and returns the one behind the graph's.
func (in *importer) graph() (ahead *entry, err error) {
	in.got.Graph, err = in.m.graph.Import(in.ctx, func(yield func(graph.Record, error) bool) {
		for {
			e, err, ok := in.next()
			switch {
			case !ok:
				return
			case err != nil:
				yield(graph.Record{}, err)
				return
			case e.Header != nil:
				// Two conversations have the same places: theirs are their own.
				in.from = stream + "@" + e.Header.Time.UTC().Format("20060102T150405Z")
			case e.Graph == nil:
				ahead = &e
				return
			case !yield(*e.Graph, nil):
				return
			}
		}
	})
	return ahead, err
}

func (in *importer) take(e entry) error {
	switch {
	case e.Document != nil:
		return in.document(*e.Document)
	case e.Knowledge != nil:
		return in.knowledge(*e.Knowledge)
	case e.Turn != nil:
		if in.have[e.Turn.ID] {
			return nil
		}
		in.have[e.Turn.ID] = true
		in.turns = append(in.turns, *e.Turn)
		if len(in.turns) >= turnsAtOnce {
			return in.flush()
		}
	case e.Event != nil && e.Event.ID != "":
		in.talk = append(in.talk, *e.Event)
	}
	return nil
}

func (in *importer) document(d document.Document) error {
	if d.Origin == document.Graph {
		return nil // made anew from the facts
	}
	if len(d.Events) > 0 && d.Text == "" {
		for i, e := range d.Events {
			if e.Stream == stream {
				d.Events[i].Stream = in.from
				in.last = max(in.last, e.Seq)
			}
		}
		n, err := in.events(d.Events)
		if n > 0 {
			in.got.Documents++
		}
		return err
	}
	if _, err := in.m.documents.Peek(in.ctx, d.ID); err == nil {
		return nil
	}
	if _, err := in.m.documents.Put(in.ctx, d); err != nil {
		return err
	}
	in.got.Documents++
	return in.m.indexDocument(in.ctx, d.ID)
}

// events brings pruned events in, and returns how many: those that are in the
// conversation or in a document here stay where they are.
func (in *importer) events(all []document.Event) (n int, err error) {
	ids := make([]string, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	known, err := in.m.documents.Has(in.ctx, ids...)
	if err != nil {
		return 0, err
	}
	fresh := slices.DeleteFunc(slices.Clone(all), func(e document.Event) bool { return known[e.ID] != "" || in.live[e.ID] })
	docs, err := in.m.documents.PutEvents(in.ctx, fresh)
	for _, d := range docs {
		n += len(d.Events)
		if p := in.m.passages(d); err == nil && len(p) > 0 {
			err = in.m.index.Put(in.ctx, p...)
		}
	}
	return n, err
}

func (in *importer) knowledge(t taught) error {
	if here, err := in.m.knowledge.Read(in.ctx, t.Name); err == nil && here == t.Content {
		return nil
	}
	err := in.m.knowledge.Create(in.ctx, t.Name, t.Content)
	if errors.Is(err, knowledge.ErrExists) {
		in.got.Kept = append(in.got.Kept, t.Name)
		return nil
	}
	if err == nil {
		in.got.Knowledge++
	}
	return err
}

// flush journals the turns that have come, and notes with them which were
// distilled where they come from.
func (in *importer) flush() error {
	if len(in.turns) == 0 {
		return nil
	}
	m := in.m
	m.saving.Lock()
	defer m.saving.Unlock()
	n := 0
	var done []func()
	err := m.state.Update(func(tx *bolt.Tx) error {
		n, done = 0, done[:0]
		for _, t := range in.turns {
			if t.Distilled {
				// First: the distiller may read the line at once.
				if err := noteDistilled(tx, t.ID); err != nil {
					return err
				}
			}
			added, did, err := m.journal.AddTx(tx, t.Turn)
			if err != nil {
				return err
			}
			if added {
				n, done = n+1, append(done, did)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, d := range done {
		d()
	}
	in.got.Turns += n
	in.turns = in.turns[:0]
	return nil
}

// conversation takes the live events in. A house that has a conversation of its
// own goes on with it: what comes from elsewhere, or was said long ago, is put
// into documents.
func (in *importer) conversation() error {
	m := in.m
	if len(in.live) > 0 {
		events := make([]document.Event, len(in.talk))
		for i, msg := range in.talk {
			turn := msg.ID
			if at := strings.LastIndexByte(msg.ID, '/'); at > 0 {
				turn = msg.ID[:at]
			}
			events[i] = document.FromMessage(msg, turn, in.from, in.last+int64(i)+1)
		}
		n, err := in.events(events)
		in.got.Events += n
		return err
	}
	ids := make([]string, len(in.talk))
	for i, msg := range in.talk {
		ids[i] = msg.ID
	}
	known, err := m.documents.Has(in.ctx, ids...)
	if err != nil {
		return err
	}
	m.saving.Lock()
	defer m.saving.Unlock()
	before := m.context.Len()
	for _, msg := range in.talk {
		if known[msg.ID] == "" {
			m.context.Append(msg)
		}
	}
	if m.context.Len() == before {
		return nil
	}
	var saved func()
	err = m.state.Update(func(tx *bolt.Tx) (err error) {
		saved, err = m.context.SaveTx(tx)
		return err
	})
	if err != nil {
		return err
	}
	saved()
	in.got.Events += m.context.Len() - before
	return nil
}

// importedBucket of state.db has the ids of turns whose facts came with an import.
const importedBucket = "imported_distilled"

func noteDistilled(tx *bolt.Tx, turn string) error {
	b, err := tx.CreateBucketIfNotExists([]byte(importedBucket))
	if err != nil {
		return err
	}
	return b.Put([]byte(turn), []byte{1})
}

// distilledBefore reports whether a turn's facts came with an import.
func (m *Memory) distilledBefore(turn string) (known bool, err error) {
	err = m.state.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(importedBucket))
		known = b != nil && b.Get([]byte(turn)) != nil
		return nil
	})
	return known, err
}

// dropDistilled forgets the ids once the distiller has passed all lines.
func (m *Memory) dropDistilled() error {
	at, err := m.worker.Status()
	if err != nil || at.Backlog > 0 {
		return err
	}
	any := false
	err = m.state.View(func(tx *bolt.Tx) error {
		any = tx.Bucket([]byte(importedBucket)) != nil
		return nil
	})
	if err != nil || !any {
		return err
	}
	return m.state.Update(func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte(importedBucket)) })
}

// undistilled is the journal as the distiller reads it: turns whose facts came
// with an import, or were forgotten where they come from, say nothing.
type undistilled struct {
	*journal.Journal
	m *Memory
}

// After returns the lines behind a number.
func (u undistilled) After(ctx context.Context, seq uint64, limit int) ([]journal.Line, error) {
	got, err := u.Journal.After(ctx, seq, limit)
	for i := 0; err == nil && i < len(got); i++ {
		var known bool
		if known, err = u.m.distilledBefore(got[i].ID); known {
			silent := mind.Turn{ID: got[i].ID, Ended: got[i].Ended}
			silent.Input.NoMemory = true
			got[i].Turn = silent
		}
	}
	return got, err
}
