package tidy

import (
	"context"
	"iter"
	"time"

	"homeagent/agent/plugin"
	"homeagent/memory/document"
	"homeagent/memory/graph"
	"homeagent/memory/state"
)

// Graph is what tidying needs of the facts; *graph.Graph is one.
type Graph interface {
	Changed(ctx context.Context, since int64, limit int) ([]graph.Change, int64, error)
	// Find returns the entities that bear a name.
	Find(ctx context.Context, name string, limit int) ([]graph.Entity, error)
	EntityFacts(ctx context.Context, id int64, limit int) (graph.Known, error)
	// Export hands on the entities first; the rest is not read.
	Export(ctx context.Context) iter.Seq2[graph.Record, error]
	Pairs
}

// Pairs is the part of a Graph that keeps pairs of look-alikes.
type Pairs interface {
	Nominate(ctx context.Context, a, b int64, reason string) (fresh bool, err error)
	Pairs(ctx context.Context, state graph.PairState, limit int) ([]graph.Pair, error)
	Due(ctx context.Context, limit int) ([]graph.Pair, error)
	Decide(ctx context.Context, a, b int64, state graph.PairState, reason string) error
	Merge(ctx context.Context, keep, drop int64, reason string) (id int64, err error)
	Merges(ctx context.Context, limit int) ([]graph.Merge, error)
	Undo(ctx context.Context, mergeID int64) error
}

var (
	_ Graph     = (*graph.Graph)(nil)
	_ Documents = (*document.Store)(nil)
	_ Store     = (*state.Store)(nil)
)

// Documents is what tidying needs of the documents; *document.Store is one.
type Documents interface {
	ForEntities(ctx context.Context, pages []document.Page) (changed []string, err error)
	Delete(ctx context.Context, id string) error
	Cold(ctx context.Context, now time.Time, after time.Duration, access int) ([]document.Meta, error)
	Archive(ctx context.Context, id string) error
	Reindex(ctx context.Context) (document.Report, error)
}

// Index is where documents are found by their words. Both calls may be
// repeated, and do nothing the second time.
type Index interface {
	// Sync takes documents in anew, by their ids, and drops those that are gone.
	Sync(ctx context.Context, changed, gone []string) error
	// CatchUp takes in what is not there though it should be, and returns how much.
	CatchUp(ctx context.Context) (int, error)
}

// Distiller makes facts of what was said.
type Distiller interface {
	// Distil does what is due; all of it at once, dear hours or not, where the
	// tidying was commanded. It returns how many facts were taken in.
	Distil(ctx context.Context, commanded bool) (facts int, err error)
	// Absorb takes the facts of a document into the graph. It may be repeated
	// for one document: the same facts from the same turns count once.
	Absorb(ctx context.Context, document string) (facts int, err error)
}

// House is what goes on meanwhile.
type House interface {
	// Busy reports whether a user's turn runs or waits.
	Busy() bool
	// Model reports whether a language model can be asked now. It must be quick
	// and must not ask one.
	Model() bool
	// InjectInput hands an input in, as the mind does.
	InjectInput(ctx context.Context, in plugin.Input) (id string, err error)
}

// Store keeps a few values durably; *state.Store is one. Get returns nil for
// a key that is not there.
type Store interface {
	Get(key string) ([]byte, error)
	Put(key string, value []byte) error
}
