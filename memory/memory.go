package memory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/memory/distill"
	"homeagent/memory/document"
	"homeagent/memory/graph"
	"homeagent/memory/journal"
	"homeagent/memory/knowledge"
	"homeagent/memory/relevance"
	"homeagent/memory/search"
	"homeagent/memory/state"
	"homeagent/memory/tidy"
)

// Options are those of a Memory; zero values are the defaults.
type Options struct {
	// Keep is the number of events that a pruned context has, 30 by default;
	// pruning begins at one and a half times as many.
	Keep int
	// Retention is how long a journal file stays after its distillation, 7 days
	// by default.
	Retention time.Duration
	// DistillInterval and Batch are those of the distiller, 10 minutes and 50.
	DistillInterval time.Duration
	Batch           int
	// TidyInterval is the time between two rounds of housework, 30 minutes.
	TidyInterval time.Duration
	// ColdAfter and ColdAccess say when a document is cold: 72 hours, 2 reads.
	ColdAfter  time.Duration
	ColdAccess int
	// Log is slog.Default by default.
	Log *slog.Logger
	// Now is time.Now by default.
	Now func() time.Time
}

// ToolInfo is what memory must know of the tools; agent/host provides it.
type ToolInfo interface {
	// ToolDefCleaner returns what is applied to a tool's output where text is
	// computed on. Nil is identity.
	ToolDefCleaner(name string) func(string) string
	// NoMemoryToolNames are the tools whose output is not computed on.
	NoMemoryToolNames() []string
}

// Memory is all that is remembered. It is safe for concurrent use.
type Memory struct {
	log       *slog.Logger
	now       func() time.Time
	tools     atomic.Pointer[ToolInfo]
	opts      Options
	dir       string // the data folder
	state     *state.DB
	graph     *graph.Graph
	journal   *journal.Journal
	context   *relevance.Context
	index     *search.Index
	documents *document.Store
	knowledge *knowledge.Store
	worker    *distill.Worker
	tidy      atomic.Pointer[tidy.Tidy] // nil until Start
	extractor extractor
	tagger    lateTagger
	vectors   atomic.Pointer[vectors]               // nil without an embedder
	elsewhere []func(holds func(string) bool) error // see AlsoForget

	saving sync.Mutex // one save at a time, until it is durable
	keep   keeper

	ended chan struct{} // a turn has ended
	due   chan struct{} // the journal should not wait for idleness
	stop  chan struct{}
	done  chan struct{}
	close sync.Once
}

var _ mind.Memory = (*Memory)(nil)

// Open opens or creates what is remembered under the data folder dir: state.db
// and the folder memory. Notices tell of files that were damaged and set aside.
// An error wraps state.ErrLocked where another process is at work on the
// folder, state.ErrReadOnly or graph.ErrReadOnly where it may not be written, or
// what the system said; Explain puts it into words.
func Open(dir string, opts Options) (*Memory, []Notice, error) {
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	m := &Memory{log: opts.Log, now: opts.Now, opts: opts, dir: dir,
		ended: make(chan struct{}, 1), due: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	notices, err := m.open(dir, opts)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open memory: %w", err), m.closeStores())
	}
	go m.keepHouse()
	return m, notices, nil
}

func (m *Memory) open(dir string, opts Options) (notices []Notice, err error) {
	raw := filepath.Join(dir, "memory", "raw")
	if err := os.MkdirAll(raw, 0o700); err != nil {
		return nil, err
	}
	var sn *state.Notice
	if m.state, sn, err = state.Open(filepath.Join(dir, "state.db")); err != nil {
		return nil, err
	}
	if sn != nil {
		notices = append(notices, stateNotice(*sn))
	}
	damaged, err := m.loadContext(opts)
	if err != nil {
		return nil, err
	}
	if damaged > 0 {
		notices = append(notices, eventsNotice(damaged))
	}
	var gn *graph.Notice
	if m.graph, gn, err = graph.Open(filepath.Join(dir, "memory", "graph.db"), graph.Options{Now: opts.Now}); err != nil {
		return nil, err
	}
	if gn != nil {
		notices = append(notices, graphNotice(*gn))
		if err := tidy.Reset(m.state.Store(tidyStore)); err != nil {
			return nil, err
		}
	}
	if m.journal, err = journal.Open(m.state, raw, journal.Options{Retention: opts.Retention, Now: opts.Now}); err != nil {
		return nil, err
	}
	more, err := m.openLayers(dir, opts)
	return append(notices, more...), err
}

// loadContext reads the context and moves what cannot be read out of its way.
func (m *Memory) loadContext(opts Options) (damaged int, err error) {
	o := relevance.Options{Cleaner: m.cleaner, NoMemory: m.noMemory}
	if opts.Keep > 0 {
		o.Keep, o.Max = opts.Keep, opts.Keep+(opts.Keep+1)/2
	}
	err = m.state.View(func(tx *bolt.Tx) error {
		m.context, damaged, err = relevance.Load(tx, o)
		return err
	})
	if err == nil && damaged > 0 {
		err = m.state.Update(relevance.SetDamagedAside)
	}
	return damaged, err
}

// UseTools tells memory whom to ask about tools. Until then no tool has a
// Cleaner or NoMemory.
func (m *Memory) UseTools(t ToolInfo) { m.tools.Store(&t) }

func (m *Memory) cleaner(name string) func(string) string {
	if t := m.tools.Load(); t != nil {
		return (*t).ToolDefCleaner(name)
	}
	return nil
}

func (m *Memory) noMemory(name string) bool {
	t := m.tools.Load()
	return t != nil && slices.Contains((*t).NoMemoryToolNames(), name)
}

// Store is the bucket of a plugin.
func (m *Memory) Store(name string) plugin.Store { return m.state.Store(name) }

// Syncs is the number of times that memory has waited for the disk since Open.
func (m *Memory) Syncs() int64 {
	return 2*m.state.Commits() + m.journal.Syncs() + m.graph.Commits() + m.documents.Syncs()
}

// Close writes what waits and closes everything. Closing twice is harmless.
// Calls after it fail.
func (m *Memory) Close() error {
	var err error
	m.close.Do(func() {
		close(m.stop)
		err = m.endHousework()
		<-m.done
		err = errors.Join(err, m.closeStores())
	})
	return err
}

// closeStores closes what is open, in the reverse order of opening.
func (m *Memory) closeStores() error {
	var errs []error
	if m.knowledge != nil {
		errs = append(errs, m.knowledge.Close())
	}
	if m.documents != nil {
		errs = append(errs, m.documents.Close())
	}
	if m.index != nil {
		errs = append(errs, m.index.Close())
	}
	if m.journal != nil {
		errs = append(errs, m.journal.Close())
	}
	if m.graph != nil {
		errs = append(errs, m.graph.Close())
	}
	if m.state != nil {
		errs = append(errs, m.state.Close())
	}
	return errors.Join(errs...)
}

// Commit takes facts in; see graph.Commit. source tells where they come from.
func (m *Memory) Commit(ctx context.Context, triples []plugin.Triple, source string) error {
	_, err := m.graph.Commit(ctx, triples, graph.Origin{Source: source})
	return err
}
