package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"homeagent/agent/plugin"
	"homeagent/memory/graph"
	"homeagent/memory/recall"
	"homeagent/memory/tidy"
)

// HTTP's numbers, which packages without a network have to spell out.
const (
	badRequest = 400
	notFound   = 404
	notAllowed = 405
	conflict   = 409
	failed     = 500
)

// listed is how many rows a list of the endpoint has at most.
const listed = 200

// Serve answers /api/v1/memory for whoever is logged in:
//
//	GET    stats                      how much is remembered, and how the housework does
//	GET    search?q=…&limit=…         what is found, with dates and origins
//	GET    facts?q=…|subject=…&past=1 facts alone, with their numbers
//	POST   forget                     {query|subject|relation|object, hard}
//	POST   restore                    {facts: [number…]}: takes a soft forget back
//	GET    pairs?state=…              look-alikes and what was found out
//	POST   pairs                      {pair, outcome, reason}
//	GET    merges, POST merges/undo   {merge}
//	POST   tidy                       a round of housework now
//	GET    export, POST import        everything, as JSON lines
//	GET    context                    the live conversation
//	GET    tools                      the tools of memory
func (m *Memory) Serve(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	routes := map[string]func(context.Context, *plugin.Request, plugin.Reply) error{
		"GET stats": m.serveStats, "GET search": m.serveSearch, "GET facts": m.serveFacts,
		"POST forget": m.serveForget, "POST restore": m.serveRestore,
		"GET pairs": m.servePairs, "POST pairs": m.serveAnswer,
		"GET merges": m.serveMerges, "POST merges/undo": m.serveUndo,
		"POST tidy": m.serveTidy, "GET export": m.serveExport, "POST import": m.serveImport,
		"GET context": m.serveContext, "GET tools": m.serveTools,
		"GET ": m.serveStats,
	}
	serve, ok := routes[req.Method+" "+req.Path]
	if !ok {
		for _, other := range []string{"GET", "POST"} {
			if routes[other+" "+req.Path] != nil {
				return &plugin.Fault{Status: notAllowed, Title: fmt.Sprintf(both(req.Lang, "这个地址要用 %s。", "This address takes %s."), other)}
			}
		}
		return &plugin.Fault{Status: notFound, Title: both(req.Lang, "记忆没有这个地址。", "Memory has no such address.")}
	}
	err := serve(ctx, req, out)
	var f *plugin.Fault
	if err == nil || errors.As(err, &f) {
		return err
	}
	return m.fault(req, err)
}

// fault words an error for the one who asked.
func (m *Memory) fault(req *plugin.Request, err error) *plugin.Fault {
	f := &plugin.Fault{Status: failed, Title: Explain(err, req.Lang), Err: err}
	switch {
	case errors.Is(err, graph.ErrUnknown), errors.Is(err, tidy.ErrPair):
		f.Status = notFound
	case errors.Is(err, graph.ErrNoCriteria), errors.Is(err, ErrShort), errors.Is(err, ErrExport), errors.Is(err, ErrExportNewer), errors.Is(err, tidy.ErrOutcome):
		f.Status = badRequest
	case errors.Is(err, graph.ErrUndone), errors.Is(err, graph.ErrLaterMerge), errors.Is(err, graph.ErrSame), errors.Is(err, graph.ErrDevices), errors.Is(err, graph.ErrContradiction):
		f.Status = conflict
	}
	return f
}

// read decodes a request's body and refuses what it does not know.
func read(req *plugin.Request, into any) error {
	d := json.NewDecoder(req.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return &plugin.Fault{Status: badRequest, Title: both(req.Lang, "请求的内容不合格式："+err.Error(), "the request does not fit: "+err.Error()), Err: err}
	}
	return nil
}

func write(out plugin.Reply, v any) error { return json.NewEncoder(out).Encode(v) }

// limit is the number of rows asked for.
func limit(req *plugin.Request, usual int) (int, error) {
	text := req.Query.Get("limit")
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > listed {
		return 0, &plugin.Fault{Status: badRequest, Title: fmt.Sprintf(both(req.Lang, "limit 要在 1 到 %d 之间。", "limit is 1 to %d."), listed), Err: err}
	}
	return n, nil
}

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
	ID         int64        `json:"id"`
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
		list = append(list, FactRow{ID: f.ID, Subject: f.Subject, Relation: f.Relation, Object: f.Object, Status: f.Status,
			Confidence: f.Confidence, Heard: f.Heard, Source: f.Source, Turn: f.Turn, Created: f.Created, Updated: f.Updated})
	}
	return list
}

func (m *Memory) serveFacts(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	n, err := limit(req, 50)
	if err != nil {
		return err
	}
	var facts []graph.Fact
	if subject := req.Query.Get("subject"); subject != "" {
		facts, err = m.graph.History(ctx, subject, req.Query.Get("relation"), n)
	} else {
		var r graph.Recalled
		r, err = m.graph.Recall(ctx, graph.Query{Text: req.Query.Get("q"), Depth: 1, Limit: n, Past: req.Query.Get("past") != ""})
		facts = r.Facts
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
	}
	if err := read(req, &a); err != nil {
		return err
	}
	f, err := m.Forget(ctx, graph.Criteria{Query: a.Query, Subject: a.Subject, Relation: a.Relation, Object: a.Object}, a.Hard)
	if err != nil {
		return err
	}
	return write(out, map[string]any{"facts": factRows(f.Facts), "turns": f.Turns, "events": f.Events, "documents": f.Documents})
}

func (m *Memory) serveRestore(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	var a struct {
		Facts []int64 `json:"facts"`
	}
	if err := read(req, &a); err != nil {
		return err
	}
	facts, err := m.graph.Restore(ctx, a.Facts...)
	if err != nil {
		return err
	}
	return write(out, map[string]any{"facts": factRows(facts)})
}

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
		return &plugin.Fault{Status: badRequest, Title: both(req.Lang, "state 只能是 open、merged、different 或 undecided。", "state is open, merged, different or undecided.")}
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

func (m *Memory) serveTidy(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	r, err := m.Tidy(ctx)
	if err != nil {
		return err
	}
	return write(out, map[string]any{"report": r, "text": r.Text(req.Lang)})
}

func (m *Memory) serveExport(ctx context.Context, _ *plugin.Request, out plugin.Reply) error {
	out.Status(200, "application/jsonl")
	return m.Export(ctx, out)
}

// serveImport takes an export in. It lies on the disk meanwhile, for it is read
// twice and may be larger than the memory of a small board.
func (m *Memory) serveImport(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	f, err := os.CreateTemp(filepath.Join(m.dir, "memory"), ".import-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := io.Copy(f, req.Body); err != nil {
		return err
	}
	got, err := m.Import(ctx, f)
	if err != nil {
		return err
	}
	return write(out, map[string]any{"entities": got.Graph.Entities, "facts": got.Graph.Facts, "pairs": got.Graph.Pairs, "merges": got.Graph.Merges,
		"known": got.Graph.Known, "skipped": got.Graph.Skipped, "documents": got.Documents, "knowledge": got.Knowledge,
		"kept": got.Kept, "turns": got.Turns, "events": got.Events})
}

func (m *Memory) serveContext(_ context.Context, _ *plugin.Request, out plugin.Reply) error {
	type event struct {
		ID       string    `json:"id"`
		Role     string    `json:"role"`
		User     string    `json:"user,omitempty"`
		Tool     string    `json:"tool,omitempty"`
		Time     time.Time `json:"time,omitzero"`
		Text     string    `json:"text"`
		NoMemory bool      `json:"no_memory,omitempty"`
	}
	list := []event{}
	for _, x := range m.context.Window() {
		list = append(list, event{ID: x.ID, Role: string(x.Role), User: x.User, Tool: x.Name, Time: x.Time, Text: x.Content, NoMemory: x.NoMemory})
	}
	return write(out, map[string]any{"events": list, "pruned": m.context.Moved()})
}

func (m *Memory) serveTools(_ context.Context, _ *plugin.Request, out plugin.Reply) error {
	type shown struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Risk        string          `json:"risk"`
		NoMemory    bool            `json:"no_memory,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	list := []shown{}
	for _, t := range m.Tools() {
		var p bytes.Buffer
		if err := json.Compact(&p, t.Def.Parameters); err != nil {
			return err
		}
		list = append(list, shown{t.Def.Name, t.Def.Description, string(t.Def.Risk), t.Def.NoMemory, p.Bytes()})
	}
	return write(out, map[string]any{"tools": list})
}

// Stats is what GET stats tells.
type Stats struct {
	Facts         int          `json:"facts"`
	Past          int          `json:"past"`
	Forgotten     int          `json:"forgotten"`
	Entities      int          `json:"entities"`
	Context       int          `json:"context"`
	Pruned        uint64       `json:"pruned"`
	Documents     int          `json:"documents"`
	Knowledge     int          `json:"knowledge"`
	Passages      int          `json:"passages"`
	JournalFiles  int          `json:"journal_files"`
	JournalBytes  int64        `json:"journal_bytes"`
	JournalWaits  int          `json:"journal_waiting"`
	Distilled     uint64       `json:"distilled"`
	Backlog       uint64       `json:"backlog"`
	DistillError  string       `json:"distill_error,omitempty"`
	DistillWaits  bool         `json:"distill_deferred,omitempty"`
	Heuristic     bool         `json:"distill_by_grammar"`
	LastDistilled time.Time    `json:"last_distilled,omitzero"`
	Tidy          *tidy.Status `json:"tidy,omitempty"`
}

// Stats counts what is remembered. It is not for the path of a turn.
func (m *Memory) Stats(ctx context.Context) (s Stats, err error) {
	g, err := m.graph.Introspect(ctx, 1)
	if err != nil {
		return s, err
	}
	s = Stats{Facts: g.Active, Past: g.Past, Forgotten: g.Forgotten, Entities: g.Entities, Context: m.context.Len(), Pruned: m.context.Moved(),
		Knowledge: len(m.knowledge.List())}
	var errs [4]error
	s.Documents, errs[0] = m.documents.Len(ctx)
	s.Passages, errs[1] = m.index.Len(ctx)
	j, jerr := m.journal.Stats(ctx)
	d, derr := m.worker.Status()
	errs[2], errs[3] = jerr, derr
	s.JournalFiles, s.JournalBytes, s.JournalWaits = j.Files, j.Bytes, j.Waiting
	s.Distilled, s.Backlog, s.DistillError, s.DistillWaits, s.Heuristic, s.LastDistilled = d.Seq, d.Backlog, d.LastError, d.Deferred, d.Offline, d.LastRun
	if t := m.tidy.Load(); t != nil {
		st := t.Status()
		s.Tidy = &st
	}
	return s, errors.Join(errs[:]...)
}

func (m *Memory) serveStats(ctx context.Context, _ *plugin.Request, out plugin.Reply) error {
	s, err := m.Stats(ctx)
	if err != nil {
		return err
	}
	return write(out, s)
}
