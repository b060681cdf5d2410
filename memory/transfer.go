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
			done := l.Seq <= at.Seq
			if !done {
				if done, err = m.distilledBefore(l.ID); err != nil {
					return err
				}
			}
			if err := x.put(entry{Turn: &turnEntry{Turn: l.Turn, Distilled: done}}); err != nil {
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

// check tells whether an entry can be taken in.
func (e entry) check() error {
	switch {
	case e.Header != nil, e.End != nil, e.Event != nil:
		return nil
	case e.Graph != nil:
		return e.Graph.Check()
	case e.Document != nil:
		return e.Document.Check()
	case e.Knowledge != nil:
		return knowledge.CheckName(e.Knowledge.Name)
	case e.Turn != nil && e.Turn.ID == "":
		return errors.New("a turn without an id")
	case e.Turn != nil:
		return nil
	}
	return errors.New("it holds nothing that is known")
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
		case n > 0 && e.Header != nil:
			return fmt.Errorf("%w: line %d is a second beginning", ErrExport, n+1)
		case ended:
			return fmt.Errorf("%w: line %d stands behind its end", ErrExport, n+1)
		case e.End != nil && e.End.Lines != n:
			return fmt.Errorf("%w: %d of %d lines", ErrExport, n, e.End.Lines)
		}
		if err := e.check(); err != nil {
			return fmt.Errorf("%w: line %d: %w", ErrExport, n+1, err)
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
