package memory

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/mind"
	"homeagent/agent/provider"
	"homeagent/memory/document"
	"homeagent/memory/graph"
	"homeagent/memory/knowledge"
)

const (
	// exportVersion is the first line's number; a file of a higher one is refused.
	exportVersion = 1
	// maxExportLine bounds a line that is read: the largest document.
	maxExportLine = 64 << 20
	// turnsAtOnce is how many turns one transaction of an import takes.
	turnsAtOnce = 256
)

var (
	// ErrExport is wrapped where a file is no export, or was cut off.
	ErrExport = errors.New("not an export of memory")
	// ErrExportNewer is wrapped where a newer program has written it.
	ErrExportNewer = errors.New("an export of a newer version")
)

// entry is one line of an export; one of its fields is set.
type entry struct {
	Header    *header            `json:"homeagent_memory,omitempty"`
	Graph     *graph.Record      `json:"graph,omitempty"`
	Document  *document.Document `json:"document,omitempty"`
	Knowledge *taught            `json:"knowledge,omitempty"`
	Turn      *turnEntry         `json:"turn,omitempty"`
	Event     *provider.Message  `json:"event,omitempty"`
	End       *end               `json:"end,omitempty"`
}

type header struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
}

type taught struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

// turnEntry is a turn of the journal. Distilled: its facts are in the graph, or
// were forgotten, and must not be found again.
type turnEntry struct {
	mind.Turn
	Distilled bool `json:"distilled,omitempty"`
}

// end is the last line: without it an export was cut off.
type end struct {
	Lines int `json:"lines"`
}

// Export writes all that is remembered as JSON lines that people can read and
// Import takes back: facts and merges, documents, knowledge, the journal as far
// as it is kept, and the live conversation. What happens meanwhile may be in it
// or not.
func (m *Memory) Export(ctx context.Context, w io.Writer) error {
	if err := m.settleStores(ctx); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	x := &exporter{out: bufio.NewWriter(w), ctx: ctx}
	x.put(entry{Header: &header{Version: exportVersion, Time: m.now().UTC()}})
	err := m.graph.Each(ctx, func(r graph.Record) error { return x.put(entry{Graph: &r}) })
	if err == nil {
		err = m.exportDocuments(x)
	}
	for _, e := range m.knowledge.List() {
		if err != nil || e.Err != nil {
			continue
		}
		var text string
		if text, err = m.knowledge.Read(ctx, e.Name); errors.Is(err, knowledge.ErrNotFound) {
			err = nil
			continue
		}
		if err == nil {
			err = x.put(entry{Knowledge: &taught{e.Name, text}})
		}
	}
	if err == nil {
		err = m.exportTurns(x)
	}
	for _, msg := range m.context.Window() {
		if err == nil {
			err = x.put(entry{Event: &msg})
		}
	}
	if err == nil {
		err = x.put(entry{End: &end{Lines: x.lines}})
	}
	if err == nil {
		err = x.out.Flush()
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// exporter writes lines and counts them.
type exporter struct {
	ctx   context.Context
	out   *bufio.Writer
	lines int
}

func (x *exporter) put(e entry) error {
	if err := x.ctx.Err(); err != nil {
		return err
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	x.lines++
	_, err = x.out.Write(append(b, '\n'))
	return err
}

func (m *Memory) exportDocuments(x *exporter) error {
	var ids []string
	if err := m.documents.List(x.ctx, func(d document.Meta) bool { ids = append(ids, d.ID); return true }); err != nil {
		return err
	}
	for _, id := range ids {
		d, err := m.documents.Peek(x.ctx, id)
		if errors.Is(err, document.ErrNotFound) || errors.Is(err, document.ErrDamaged) {
			continue
		}
		if err == nil {
			err = x.put(entry{Document: &d})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Memory) exportTurns(x *exporter) error {
	at, err := m.worker.Status()
	if err != nil {
		return err
	}
	for seq := uint64(0); ; {
		got, err := m.journal.After(x.ctx, seq, lines)
		if err != nil || len(got) == 0 {
			return err
		}
		for _, l := range got {
			seq = l.Seq
			if err := x.put(entry{Turn: &turnEntry{Turn: l.Turn, Distilled: l.Seq <= at.Seq}}); err != nil {
				return err
			}
		}
	}
}

// Imported tells what an import has brought.
type Imported struct {
	Graph     graph.Imported
	Documents int
	Knowledge int
	// Kept are names of knowledge that have another content here, which stays.
	Kept   []string
	Turns  int
	Events int
}

// Import takes an export in, beside what is there: what is known already is
// not doubled, and doing it twice changes nothing. The whole file is read once
// before anything is taken, so one that is no export, of a newer version or cut
// off changes nothing; these errors wrap ErrExport or ErrExportNewer.
func (m *Memory) Import(ctx context.Context, r io.ReadSeeker) (got Imported, err error) {
	if err := checkExport(ctx, r); err != nil {
		return got, fmt.Errorf("import: %w", err)
	}
	in := &importer{m: m, ctx: ctx, got: &got}
	pull, stop := iter.Pull2(entries(ctx, r))
	defer stop()
	in.next = pull
	if err := in.run(); err != nil {
		return got, fmt.Errorf("import: %w", err)
	}
	return got, m.indexTurns(ctx)
}

// checkExport reads a file through.
func checkExport(ctx context.Context, r io.ReadSeeker) error {
	n, ended := 0, false
	for e, err := range entries(ctx, r) {
		switch {
		case err != nil:
			return err
		case n == 0 && e.Header == nil:
			return fmt.Errorf("%w: its first line", ErrExport)
		case n == 0 && e.Header.Version > exportVersion:
			return fmt.Errorf("%w: %d", ErrExportNewer, e.Header.Version)
		case ended:
			return fmt.Errorf("%w: line %d stands behind its end", ErrExport, n+1)
		case e.End != nil && e.End.Lines != n:
			return fmt.Errorf("%w: %d of %d lines", ErrExport, n, e.End.Lines)
		}
		ended = e.End != nil
		n++
	}
	if !ended {
		return fmt.Errorf("%w: it ends after %d lines", ErrExport, n)
	}
	return nil
}

// entries are the lines of an export, from its beginning.
func entries(ctx context.Context, r io.ReadSeeker) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			yield(entry{}, err)
			return
		}
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 64<<10), maxExportLine)
		for n := 1; lines.Scan(); n++ {
			if err := ctx.Err(); err != nil {
				yield(entry{}, err)
				return
			}
			var e entry
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				yield(entry{}, fmt.Errorf("%w: line %d: %v", ErrExport, n, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			yield(entry{}, fmt.Errorf("%w: a line of more than %d MB", ErrExport, maxExportLine>>20))
		} else if err != nil {
			yield(entry{}, err)
		}
	}
}

// importer takes the lines of an export in.
type importer struct {
	m     *Memory
	ctx   context.Context
	next  func() (entry, error, bool)
	got   *Imported
	turns []turnEntry
	have  map[string]bool // ids of turns that the journal has
	known bool            // all turns so far were distilled where they come from
}

func (in *importer) run() error {
	in.known, in.have = true, map[string]bool{}
	for seq := uint64(0); ; {
		got, err := in.m.journal.After(in.ctx, seq, lines)
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
	var ahead *entry // the line behind the graph's
	var err error
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
			case e.Graph == nil:
				ahead = &e
				return
			case !yield(*e.Graph, nil):
				return
			}
		}
	})
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
	return in.flush()
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
	case e.Event != nil:
		if err := in.flush(); err != nil {
			return err
		}
		return in.event(*e.Event)
	}
	return nil
}

func (in *importer) document(d document.Document) error {
	if d.Origin == document.Graph {
		return nil // made anew from the facts
	}
	if len(d.Events) > 0 && d.Text == "" {
		if err := in.events(d.Events); err != nil {
			return err
		}
	} else if _, err := in.m.documents.Peek(in.ctx, d.ID); err == nil {
		return nil
	} else if _, err := in.m.documents.Put(in.ctx, d); err != nil {
		return err
	} else if err := in.m.indexDocument(in.ctx, d.ID); err != nil {
		return err
	}
	in.got.Documents++
	return nil
}

// events brings pruned events in; those that a document here has stay there.
func (in *importer) events(all []document.Event) error {
	docs, err := in.m.documents.PutEvents(in.ctx, all)
	for _, d := range docs {
		if p := in.m.passages(d); err == nil && len(p) > 0 {
			err = in.m.index.Put(in.ctx, p...)
		}
	}
	return err
}

func (in *importer) knowledge(t taught) error {
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

// flush journals the turns that have come.
func (in *importer) flush() error {
	if len(in.turns) == 0 {
		return nil
	}
	m := in.m
	m.saving.Lock()
	defer m.saving.Unlock()
	before, err := m.worker.Status()
	if err != nil {
		return err
	}
	n := 0
	var done []func()
	err = m.state.Update(func(tx *bolt.Tx) error {
		n, done = 0, done[:0]
		for _, t := range in.turns {
			added, did, err := m.journal.AddTx(tx, t.Turn)
			if err != nil {
				return err
			}
			if added {
				n, done = n+1, append(done, did)
			}
			in.known = in.known && t.Distilled
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
	if n == 0 || !in.known || before.Backlog > 0 {
		return nil
	}
	// Their facts came with the graph.
	last, err := m.journal.Last()
	if err != nil {
		return err
	}
	return m.worker.Skip(in.ctx, last)
}

// event adds to the live conversation what is not in it.
func (in *importer) event(msg provider.Message) error {
	m := in.m
	m.saving.Lock()
	defer m.saving.Unlock()
	before := m.context.Len()
	m.context.Append(msg)
	if m.context.Len() == before {
		return nil
	}
	in.got.Events++
	var saved func()
	err := m.state.Update(func(tx *bolt.Tx) (err error) {
		saved, err = m.context.SaveTx(tx)
		return err
	})
	if err != nil {
		return err
	}
	saved()
	return nil
}
