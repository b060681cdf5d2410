package memory

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"homeagent/agent/plugin"
	"homeagent/memory/tidy"
)

func (m *Memory) serveTidy(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	r, err := m.Tidy(ctx)
	if err != nil {
		return err
	}
	return write(out, map[string]any{"report": r, "text": r.Text(req.Lang)})
}

func (m *Memory) serveExport(ctx context.Context, _ *plugin.Request, out plugin.Reply) error {
	// Each Write of out travels by itself, so they are large. What fails before
	// the first of them is still told in words.
	w := bufio.NewWriterSize(begin{out}, exportPiece)
	if err := m.Export(ctx, w); err != nil {
		return err
	}
	return w.Flush()
}

// exportPiece is how much of an export goes out at once, in bytes.
const exportPiece = 128 << 10

// begin begins an answer of JSON lines with its first piece.
type begin struct{ plugin.Reply }

func (b begin) Write(p []byte) (int, error) {
	b.Status(200, "application/x-ndjson") // the first one counts
	return b.Reply.Write(p)
}

// serveImport takes an export in. It lies on the disk meanwhile, for it is read
// twice and may be larger than the memory of a small board.
func (m *Memory) serveImport(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	f, err := os.CreateTemp(filepath.Join(m.dir, "memory"), ".import-*")
	if err != nil {
		return err
	}
	defer f.Close()
	// Without a name at once: a power cut leaves nothing of it behind.
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	if _, err := io.Copy(f, req.Body); err != nil {
		return err
	}
	got, err := m.Import(ctx, f)
	if err != nil {
		return err
	}
	return write(out, ImportRow{Entities: got.Graph.Entities, Facts: got.Graph.Facts, Pairs: got.Graph.Pairs, Merges: got.Graph.Merges,
		Known: got.Graph.Known, Skipped: got.Graph.Skipped, Documents: got.Documents, Knowledge: got.Knowledge,
		Kept: got.Kept, Turns: got.Turns, Events: got.Events})
}

// ImportRow is the answer of POST import: what was new. Known facts were here
// before, Skipped ones were of use to nobody, Kept are names of knowledge whose
// text here is another and stays.
type ImportRow struct {
	Entities  int      `json:"entities"`
	Facts     int      `json:"facts"`
	Known     int      `json:"known"`
	Skipped   int      `json:"skipped"`
	Pairs     int      `json:"pairs"`
	Merges    int      `json:"merges"`
	Documents int      `json:"documents"`
	Knowledge int      `json:"knowledge"`
	Kept      []string `json:"kept,omitempty"`
	Turns     int      `json:"turns"`
	Events    int      `json:"events"`
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
		list = append(list, event{ID: x.ID, Role: string(x.Role), User: x.User, Tool: x.Name, Time: x.Time,
			Text: x.Content, NoMemory: x.NoMemory})
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
	Archived      int          `json:"archived"`
	Forgotten     int          `json:"forgotten"`
	Entities      int          `json:"entities"`
	Pairs         int          `json:"pairs_waiting"`
	Merges        int          `json:"merges"`
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
	s = Stats{Facts: g.Active, Past: g.Past, Archived: g.Archived, Forgotten: g.Forgotten, Entities: g.Entities,
		Pairs: g.Pairs, Merges: g.Merges, Context: m.context.Len(), Pruned: m.context.Moved(), Knowledge: len(m.knowledge.List())}
	var errs [4]error
	s.Documents, errs[0] = m.documents.Len(ctx)
	s.Passages, errs[1] = m.index.Len(ctx)
	j, jerr := m.journal.Stats(ctx)
	d, derr := m.worker.Status()
	errs[2], errs[3] = jerr, derr
	s.JournalFiles, s.JournalBytes, s.JournalWaits = j.Files, j.Bytes, j.Waiting
	s.Distilled, s.Backlog, s.DistillError, s.LastDistilled = d.Seq, d.Backlog, d.LastError, d.LastRun
	s.DistillWaits, s.Heuristic = d.Deferred, d.Offline
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
