package memory

import (
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/mind"
	"homeagent/agent/provider"
	"homeagent/memory/document"
	"homeagent/memory/graph"
	"homeagent/memory/relevance"
	"homeagent/memory/token"
)

// Preview tells what Forget would take, and takes nothing. What is said or moved
// meanwhile may be counted or not. It reads the whole journal and every document
// where hard words are given: it is for a person who is about to decide.
func (m *Memory) Preview(ctx context.Context, c graph.Criteria, hard bool) (f Forgotten, err error) {
	if hard && c.Query != "" {
		if err := checkWords(c.Query); err != nil {
			return f, err
		}
		if f, err = m.countWords(ctx, holding(token.Fold(c.Query))); err != nil {
			return f, fmt.Errorf("count what is to be forgotten: %w", err)
		}
	}
	f.Facts, err = m.graph.Meant(ctx, c, hard)
	return f, err
}

// countWords counts what forgetWords takes.
func (m *Memory) countWords(ctx context.Context, holds func(string) bool) (f Forgotten, err error) {
	// Nothing may move between the layers meanwhile: it would count twice.
	m.keep.mu.Lock()
	defer m.keep.mu.Unlock()
	for seq := uint64(0); ; {
		got, err := m.journal.After(ctx, seq, lines)
		if err != nil {
			return f, err
		}
		if len(got) == 0 {
			break
		}
		for _, l := range got {
			seq = l.Seq
			if turnHolds(l.Turn, holds) {
				f.Turns++
			}
		}
	}
	for _, msg := range m.context.Window() {
		if message(msg, holds) {
			f.Events++
		}
	}
	err = m.state.View(func(tx *bolt.Tx) error {
		return relevance.Pruned(tx, func(msg provider.Message) bool {
			if message(msg, holds) {
				f.Events++
			}
			return ctx.Err() == nil
		})
	})
	if err != nil {
		return f, err
	}
	f.Documents, err = m.countDocuments(ctx, holds)
	return f, err
}

// countDocuments counts the documents that forgetDocuments changes or deletes.
func (m *Memory) countDocuments(ctx context.Context, holds func(string) bool) (n int, err error) {
	var ids []string
	if err := m.documents.List(ctx, func(d document.Meta) bool { ids = append(ids, d.ID); return true }); err != nil {
		return 0, err
	}
	for _, id := range ids {
		d, gone, err := m.peek(ctx, id)
		if err != nil {
			return n, err
		}
		if !gone && documentHolds(d, holds) {
			n++
		}
	}
	return n, nil
}

// turnHolds reports whether a turn of the journal holds the words.
func turnHolds(t mind.Turn, holds func(string) bool) bool {
	return holds(t.Input.Payload) || holds(t.Final) || anyMessage(t.Messages, holds)
}

// documentHolds reports whether a document holds the words: in its events, and,
// where it is not made of them alone, in itself.
func documentHolds(d document.Document, holds func(string) bool) bool {
	for _, e := range d.Events {
		if eventHolds(e, holds) {
			return true
		}
	}
	return d.Origin != document.Context && (holds(d.Text) || holds(d.Title))
}

func eventHolds(e document.Event, holds func(string) bool) bool {
	return holds(e.Text) || holds(e.Reasoning)
}
