package memory

import (
	"context"
	"time"

	"homeagent/agent/plugin"
	"homeagent/memory/graph"
	"homeagent/memory/tidy"
)

// PairRow is a pair of GET pairs.
type PairRow struct {
	ID     int64           `json:"id"`
	A      string          `json:"a"`
	B      string          `json:"b"`
	State  graph.PairState `json:"state"`
	Reason string          `json:"reason,omitempty"`
}

func (m *Memory) servePairs(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	n, err := limit(req, 50)
	if err != nil {
		return err
	}
	state := graph.PairState(req.Query.Get("state"))
	switch state {
	case "", graph.PairOpen, graph.PairMerged, graph.PairDifferent, graph.PairUndecided:
	default:
		return refuse(req, nil, "state 只能是 open、merged、different 或 undecided。", "state is open, merged, different or undecided.")
	}
	pairs, err := m.graph.Pairs(ctx, state, n)
	if err != nil {
		return err
	}
	list := make([]PairRow, 0, len(pairs))
	for _, p := range pairs {
		list = append(list, PairRow{ID: p.ID, A: p.A.Name, B: p.B.Name, State: p.State, Reason: p.Reason})
	}
	return write(out, map[string]any{"pairs": list})
}

func (m *Memory) serveAnswer(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	var a tidy.Args
	if err := read(req, &a); err != nil {
		return err
	}
	t := m.tidy.Load()
	if t == nil {
		return errNotStarted
	}
	text, err := t.Answer(ctx, a)
	if err != nil {
		return err
	}
	return write(out, map[string]string{"done": text})
}

// MergeRow is a merge of GET merges.
type MergeRow struct {
	ID      int64     `json:"id"`
	Kept    string    `json:"kept"`
	Dropped string    `json:"dropped"`
	Reason  string    `json:"reason,omitempty"`
	Time    time.Time `json:"time"`
}

func (m *Memory) serveMerges(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	n, err := limit(req, 50)
	if err != nil {
		return err
	}
	merges, err := m.graph.Merges(ctx, n)
	if err != nil {
		return err
	}
	list := make([]MergeRow, 0, len(merges))
	for _, x := range merges {
		row := MergeRow{ID: x.ID, Dropped: x.Dropped.Name, Reason: x.Reason, Time: x.Created}
		if e, err := m.graph.Entity(ctx, x.Kept); err == nil {
			row.Kept = e.Name
		}
		list = append(list, row)
	}
	return write(out, map[string]any{"merges": list})
}

func (m *Memory) serveUndo(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	var a struct {
		Merge int64 `json:"merge"`
	}
	if err := read(req, &a); err != nil {
		return err
	}
	t := m.tidy.Load()
	if t == nil {
		return errNotStarted
	}
	if err := t.Undo(ctx, a.Merge); err != nil {
		return err
	}
	return write(out, map[string]int64{"undone": a.Merge})
}
