package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/memory"
	"homeagent/memory/graph"
	"homeagent/memory/recall"
	"homeagent/memory/search"
)

// house is one conversation's memory.
type house struct {
	index *search.Index
	graph *graph.Graph
}

// remember lets a memory in dir live through documents, each of them a turn,
// and opens what it has kept.
func remember(ctx context.Context, dir string, docs []doc) (h *house, err error) {
	m, notices, err := memory.Open(dir, memory.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return nil, err
	}
	if len(notices) > 0 {
		return nil, errors.Join(fmt.Errorf("a new memory has %v", notices), m.Close())
	}
	for i, d := range docs {
		if err := live(ctx, m, d, i); err != nil {
			return nil, errors.Join(fmt.Errorf("turn %s: %w", d.ID, err), m.Close())
		}
	}
	if err := errors.Join(m.Settle(ctx), m.Close()); err != nil {
		return nil, err
	}
	h = &house{}
	if h.index, _, err = search.Open(filepath.Join(dir, "memory", "index.db"), search.Options{}); err != nil {
		return nil, err
	}
	if h.graph, _, err = graph.Open(filepath.Join(dir, "memory", "graph.db"), graph.Options{}); err != nil {
		return nil, errors.Join(err, h.index.Close())
	}
	return h, nil
}

// live is one turn: what the mind calls for a message that needs no answer.
func live(ctx context.Context, m *memory.Memory, d doc, place int) error {
	at := d.when(place)
	msg := provider.Message{ID: d.ID, Time: at, Role: provider.User, Content: d.Text, Source: "console"}
	m.Append(msg)
	if err := m.Prune(ctx, d.Text); err != nil {
		return err
	}
	return m.EndTurn(ctx, mind.Turn{
		ID: d.ID, Outcome: mind.Answered, Started: at, Ended: at, Messages: []provider.Message{msg},
		Input: plugin.Input{ID: d.ID, Time: at, Source: "console", Type: plugin.Text, Payload: d.Text},
	})
}

// ask is the recall of a query.
func (h *house) ask(ctx context.Context, text string, w without) ([]recall.Item, error) {
	s := recall.Sources{Passages: []recall.Passages{h.index}, Facts: h.graph}
	items, errs, err := s.Recall(ctx, recall.Query{Text: text, Limit: deepest, NoGraph: w.graph, Without: w.search})
	return items, errors.Join(append(errs, err)...)
}

func (h *house) close() error { return errors.Join(h.index.Close(), h.graph.Close()) }
