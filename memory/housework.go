package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/memory/distill"
	"homeagent/memory/document"
	"homeagent/memory/embed"
	"homeagent/memory/search"
	"homeagent/memory/tidy"
	"homeagent/memory/token"
)

// endWait is how long Close waits for the distiller and the housework, which
// end at their next step.
const endWait = 10 * time.Second

// tidyStore is the bucket of the housework.
const tidyStore = "memory.tidy"

// House is what memory needs of the agent around it for its housework.
type House interface {
	// Busy reports whether a user's turn runs or waits.
	Busy() bool
	// Model reports whether a language model is configured and can be asked.
	Model() bool
	// InjectInput hands an input in, as the mind does.
	InjectInput(ctx context.Context, in plugin.Input) (id string, err error)
}

// extractor takes the language model that Start was given, from then on.
type extractor struct{ model atomic.Pointer[distill.Model] }

// errNoModel keeps a batch waiting; it is met only where the model leaves
// between the worker's look and its asking.
var errNoModel = errors.New("no language model")

// Extract asks the model.
func (e *extractor) Extract(ctx context.Context, events []distill.Event) ([]distill.Fact, error) {
	if m := e.model.Load(); m != nil {
		return m.Extract(ctx, events)
	}
	return nil, errNoModel
}

// absent reports whether there is no model, so that grammar alone distils.
func (e *extractor) absent() bool { return e.model.Load() == nil }

// lateTagger takes the Tagger that UseTagger was given, from then on.
type lateTagger struct{ t atomic.Pointer[token.Tagger] }

// Tag asks it, and without one leaves words as they are.
func (l *lateTagger) Tag(ctx context.Context, text string) ([]token.Word, error) {
	if t := l.t.Load(); t != nil {
		return (*t).Tag(ctx, text)
	}
	return token.Plain{}.Tag(ctx, text)
}

// UseTagger has facts that grammar finds looked at with the words of a
// dictionary.
func (m *Memory) UseTagger(t token.Tagger) { m.tagger.t.Store(&t) }

// UseEmbedder has entities and passages found by meaning too. It is called once,
// when e is ready to be asked; vectors follow beside the house.
func (m *Memory) UseEmbedder(e embed.Embedder) { m.startVectors(e) }

// Start begins distilling and tidying. p is asked for facts; with nil grammar
// alone finds them. It is called once, when the agent is joined; without it
// memory keeps and finds everything, and tidies nothing.
func (m *Memory) Start(house House, p provider.Provider) error {
	if p != nil {
		m.extractor.model.Store(distill.NewModel(p, nil, m.log))
	}
	t, err := tidy.New(tidy.Options{
		Graph: m.graph, Documents: m.documents, Index: indexer{m}, House: house, Store: m.state.Store(tidyStore), Distiller: distiller{m},
		Interval: m.opts.TidyInterval, ColdAfter: m.opts.ColdAfter, ColdAccess: m.opts.ColdAccess, Now: m.opts.Now, Log: m.log,
	})
	if err != nil {
		return err
	}
	if !m.tidy.CompareAndSwap(nil, t) {
		return errors.New("memory: started twice")
	}
	m.worker.Start()
	t.Start()
	return nil
}

// endHousework ends what Start began.
func (m *Memory) endHousework() error {
	ctx, cancel := context.WithTimeout(context.Background(), endWait)
	defer cancel()
	var err error
	if v := m.vectors.Load(); v != nil {
		err = v.close()
	}
	if t := m.tidy.Load(); t != nil {
		err = errors.Join(err, t.Close(ctx))
	}
	return errors.Join(err, m.worker.Close(ctx))
}

// errNotStarted is returned where there is no housework.
var errNotStarted = errors.New("the housework of memory has not been started")

// Tidy does a round of housework now and tells what it did.
func (m *Memory) Tidy(ctx context.Context) (tidy.Report, error) {
	t := m.tidy.Load()
	if t == nil {
		return tidy.Report{}, errNotStarted
	}
	return t.Run(ctx)
}

// distiller is the distiller as the housework knows it.
type distiller struct{ m *Memory }

// Distil takes facts from what was said.
func (d distiller) Distil(ctx context.Context, commanded bool) (int, error) {
	return d.m.worker.Distil(ctx, commanded)
}

// Absorb takes facts from a document. Its events were distilled from the
// journal, under the same turns; what it says itself is new.
func (d distiller) Absorb(ctx context.Context, id string) (int, error) {
	doc, err := d.m.documents.Peek(ctx, id)
	if err != nil || doc.Text == "" {
		return 0, err
	}
	var events []distill.Event
	for i, p := range document.Passages(document.Document{ID: doc.ID, Text: doc.Text}, nil) {
		events = append(events, distill.Event{Turn: "doc:" + doc.ID, ID: fmt.Sprintf("doc:%s/%d", doc.ID, i), Role: distill.User, Text: p.Text, Time: doc.Created})
	}
	return d.m.worker.Absorb(ctx, events)
}

// indexer is the search index as the housework knows it.
type indexer struct{ m *Memory }

// Sync takes documents in anew and drops those that are gone.
func (x indexer) Sync(ctx context.Context, changed, gone []string) error {
	if len(gone) > 0 {
		if err := x.m.index.RemoveDoc(ctx, gone...); err != nil {
			return err
		}
	}
	for _, id := range changed {
		if err := x.m.indexDocument(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// CatchUp takes in turns and documents that the index lacks.
func (x indexer) CatchUp(ctx context.Context) (int, error) {
	if err := x.m.indexTurns(ctx); err != nil {
		return 0, err
	}
	have, err := x.m.index.Docs(ctx)
	if err != nil {
		return 0, err
	}
	slices.Sort(have)
	var lack []string
	err = x.m.documents.List(ctx, func(d document.Meta) bool {
		if _, ok := slices.BinarySearch(have, d.ID); !ok {
			lack = append(lack, d.ID)
		}
		return ctx.Err() == nil
	})
	if err != nil {
		return 0, err
	}
	n := 0
	for _, id := range lack {
		passages, err := x.m.documentPassages(ctx, id)
		if err != nil {
			return n, err
		}
		if len(passages) == 0 {
			continue // nothing in it is to be found by words
		}
		if err := x.m.index.Put(ctx, passages...); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// indexDocument takes a document in anew, or drops one that is gone.
func (m *Memory) indexDocument(ctx context.Context, id string) error {
	passages, err := m.documentPassages(ctx, id)
	if err != nil {
		return err
	}
	// A text that has become shorter leaves passages behind.
	if err := m.index.RemoveDoc(ctx, id); err != nil || len(passages) == 0 {
		return err
	}
	if err := m.index.Put(ctx, passages...); err != nil {
		return err
	}
	d, err := m.documents.Peek(ctx, id)
	if err != nil {
		return err
	}
	if d.Archived {
		return m.index.Archive(ctx, true, id)
	}
	return nil
}

// documentPassages are the passages of a document, none where it is gone.
func (m *Memory) documentPassages(ctx context.Context, id string) (passages []search.Passage, err error) {
	d, err := m.documents.Peek(ctx, id)
	if errors.Is(err, document.ErrNotFound) || errors.Is(err, document.ErrDamaged) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return m.passages(d), nil
}

// reindexDocuments fills an empty index from the documents.
func (m *Memory) reindexDocuments(ctx context.Context) error {
	var ids []string
	if err := m.documents.List(ctx, func(d document.Meta) bool { ids = append(ids, d.ID); return true }); err != nil {
		return err
	}
	for _, id := range ids {
		if err := m.indexDocument(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// passages are those of a document. An event's comes from its turn too, under
// whose id facts are kept.
func (m *Memory) passages(d document.Document) []search.Passage {
	turns := map[string]string{}
	for _, e := range d.Events {
		turns[e.ID] = e.Turn
	}
	all := document.Passages(d, m.cleaner)
	for i, p := range all {
		if p.Kind != search.Event || len(p.From) != 1 {
			continue
		}
		if turn := turns[p.From[0]]; turn != "" && turn != p.From[0] {
			all[i].From = []string{p.From[0], turn}
		}
	}
	return all
}
