package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"homeagent/agent/plugin"
	"homeagent/memory/graph"
	"homeagent/memory/recall"
)

// FoundItem is an item of GET search.
type FoundItem struct {
	ID    string      `json:"id"`
	Text  string      `json:"text"`
	Kind  recall.Kind `json:"kind"`
	Time  time.Time   `json:"time,omitzero"`
	Until time.Time   `json:"until,omitzero"`
	From  []string    `json:"from,omitempty"`
	Score float64     `json:"score"`
}

func (m *Memory) serveSearch(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	n, err := limit(req, 20)
	if err != nil {
		return err
	}
	if strings.TrimSpace(req.Query.Get("q")) == "" {
		return refuse(req, nil, "没有说要找什么。请在 q 里给出问题或关键词。",
			"Nothing says what to find. Give a question or key words in q.")
	}
	items, err := m.RecallItems(ctx, req.Query.Get("q"), n)
	if err != nil {
		return err
	}
	list := make([]FoundItem, 0, len(items))
	for _, i := range items {
		list = append(list, FoundItem(i))
	}
	return write(out, map[string]any{"items": list})
}

// FactRow is a fact of GET facts and POST forget.
type FactRow struct {
	ID int64 `json:"id"`
	// Text is the fact as one phrase.
	Text       string       `json:"text"`
	Subject    string       `json:"subject"`
	Relation   string       `json:"relation,omitempty"`
	Object     string       `json:"object"`
	Status     graph.Status `json:"status"`
	Confidence float64      `json:"confidence"`
	Heard      int          `json:"heard"`
	Source     string       `json:"source,omitempty"`
	Turn       string       `json:"turn,omitempty"`
	Created    time.Time    `json:"created"`
	Updated    time.Time    `json:"updated"`
}

func factRows(facts []graph.Fact) []FactRow {
	list := make([]FactRow, 0, len(facts))
	for _, f := range facts {
		list = append(list, FactRow{ID: f.ID, Text: f.Text(), Subject: f.Subject, Relation: f.Relation, Object: f.Object,
			Status: f.Status, Confidence: f.Confidence, Heard: f.Heard, Source: f.Source, Turn: f.Turn, Created: f.Created, Updated: f.Updated})
	}
	return list
}

func (m *Memory) serveFacts(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	n, err := limit(req, 50)
	if err != nil {
		return err
	}
	past, err := flag(req, "past")
	if err != nil {
		return err
	}
	q, subject := strings.TrimSpace(req.Query.Get("q")), strings.TrimSpace(req.Query.Get("subject"))
	var facts []graph.Fact
	switch {
	case q != "" && subject != "":
		return refuse(req, nil, "q 和 subject 只能给一个。", "Give q or subject, not both.")
	case subject != "":
		facts, err = m.graph.History(ctx, subject, req.Query.Get("relation"), n)
		if !past {
			facts = slices.DeleteFunc(facts, func(f graph.Fact) bool { return f.Status == graph.Past })
		}
	case q != "":
		var r graph.Recalled
		r, err = m.graph.Recall(ctx, graph.Query{Text: q, Depth: 1, Limit: n, Past: past})
		facts = r.Facts
	default:
		facts, err = m.graph.Newest(ctx, past, n)
	}
	if err != nil {
		return err
	}
	return write(out, map[string]any{"facts": factRows(facts)})
}

func (m *Memory) serveForget(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	var a struct {
		Query    string `json:"query"`
		Subject  string `json:"subject"`
		Relation string `json:"relation"`
		Object   string `json:"object"`
		Hard     bool   `json:"hard"`
		Dry      bool   `json:"dry"`
	}
	if err := read(req, &a); err != nil {
		return err
	}
	forget := m.Forget
	if a.Dry {
		forget = m.Preview
	}
	f, err := forget(ctx, graph.Criteria{Query: a.Query, Subject: a.Subject, Relation: a.Relation, Object: a.Object}, a.Hard)
	if err != nil {
		return err
	}
	return write(out, ForgetRow{Dry: a.Dry, Hard: a.Hard, Facts: factRows(f.Facts),
		Turns: f.Turns, Events: f.Events, Documents: f.Documents})
}

// ForgetRow is the answer of POST forget: what went, or with Dry what would.
type ForgetRow struct {
	Dry   bool      `json:"dry,omitempty"`
	Hard  bool      `json:"hard,omitempty"`
	Facts []FactRow `json:"facts"`
	// Turns of the journal, Events of the conversation and Documents that hold
	// the words; only of a hard forget by words.
	Turns     int `json:"turns"`
	Events    int `json:"events"`
	Documents int `json:"documents"`
}

func (m *Memory) serveRestore(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	var a struct {
		Facts []int64 `json:"facts"`
	}
	if err := read(req, &a); err != nil {
		return err
	}
	if len(a.Facts) == 0 || len(a.Facts) > listed {
		return refuse(req, nil, fmt.Sprintf("请在 facts 里给出 1 到 %d 个事实的编号。", listed),
			fmt.Sprintf("Give the numbers of 1 to %d facts in facts.", listed))
	}
	facts, err := m.graph.Restore(ctx, a.Facts...)
	if err != nil {
		return err
	}
	return write(out, map[string]any{"facts": factRows(facts)})
}
