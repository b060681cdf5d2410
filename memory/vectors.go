package memory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"homeagent/memory/embed"
	"homeagent/memory/graph"
	"homeagent/memory/recall"
	"homeagent/memory/search"
)

// entityFacts is how many facts tell what an entity is, for its vector.
const entityFacts = 8

// vectors are those of entities and passages, where an embedder is configured.
// They follow what changes, beside the house; no turn waits for them.
type vectors struct {
	m      *Memory
	keeper *embed.Keeper
	end    context.CancelFunc
	done   sync.WaitGroup
}

// vectorFiles are the files of vectors: caches, all of them.
func vectorFiles(dir string) (entities, passages string) {
	return filepath.Join(dir, "memory", "entities.vec"), filepath.Join(dir, "memory", "passages.vec")
}

// startVectors begins to keep vectors by an embedder.
func (m *Memory) startVectors(e embed.Embedder) {
	entities, passages := vectorFiles(m.dir)
	v := &vectors{m: m}
	v.keeper = embed.NewKeeper(embed.KeeperOptions{
		Embedder: e, Entities: embed.Store{Source: entitySource{m.graph}, Path: entities},
		Passages: embed.Store{Source: passageSource{m.index}, Path: passages}, Log: m.log, Now: m.opts.Now,
	})
	ctx, end := context.WithCancel(context.Background())
	v.end = end
	v.done.Go(func() { v.keeper.Run(ctx) })
	m.vectors.Store(v)
}

// close ends the keeper and waits for it.
func (v *vectors) close() error {
	v.end()
	v.done.Wait()
	return v.keeper.Close()
}

// forgetVectors takes the vectors of passages away. Where no keeper runs the
// files go as a whole: they would keep what nobody else does.
func (m *Memory) forgetVectors(ctx context.Context, ids []string) error {
	if v := m.vectors.Load(); v != nil {
		return v.keeper.Forget(ctx, ids...)
	}
	return m.dropVectors()
}

// dropVectors deletes the files of vectors, which only an embedder needs.
func (m *Memory) dropVectors() error {
	var errs []error
	entities, passages := vectorFiles(m.dir)
	for _, path := range []string{entities, passages} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Near implements recall.Vectors.
func (v *vectors) Near(ctx context.Context, text string, limit int) ([]search.Passage, []int64, error) {
	entities, near, err := v.keeper.Near(ctx, text, limit)
	if err != nil {
		return nil, nil, err
	}
	var seeds []int64
	for _, e := range entities {
		if id, err := strconv.ParseInt(e.ID, 10, 64); err == nil {
			seeds = append(seeds, id)
		}
	}
	ids := make([]string, len(near))
	for i, p := range near {
		ids[i] = p.ID
	}
	if len(ids) == 0 {
		return nil, seeds, nil
	}
	found, err := v.m.index.Get(ctx, ids...)
	if err != nil {
		return nil, seeds, err
	}
	byID := map[string]search.Passage{}
	for _, p := range found {
		byID[p.ID] = p
	}
	var passages []search.Passage
	var gone []string
	for _, id := range ids {
		if p, ok := byID[id]; ok {
			passages = append(passages, p)
		} else {
			gone = append(gone, id)
		}
	}
	if len(gone) > 0 {
		err = v.keeper.Forget(ctx, gone...)
	}
	return passages, seeds, err
}

var _ recall.Vectors = (*vectors)(nil)

// entitySource are the graph's entities as the keeper follows them.
type entitySource struct{ graph *graph.Graph }

// Changed implements embed.Source.
func (s entitySource) Changed(ctx context.Context, since int64, limit int) ([]embed.Change, int64, error) {
	changes, mark, err := s.graph.Changed(ctx, since, limit)
	out := make([]embed.Change, len(changes))
	for i, c := range changes {
		out[i] = embed.Change{ID: strconv.FormatInt(c.ID, 10), Gone: c.Gone}
	}
	return out, mark, err
}

// Text implements embed.Source: the names of an entity and what is told of it.
func (s entitySource) Text(ctx context.Context, id string) (string, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return "", err
	}
	k, err := s.graph.EntityFacts(ctx, n, entityFacts)
	if errors.Is(err, graph.ErrUnknown) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	lines := append([]string{k.Name}, k.Aliases...)
	for _, f := range k.Facts {
		lines = append(lines, f.Text())
	}
	return strings.Join(lines, "\n"), nil
}

// passageSource are the index's passages as the keeper follows them.
type passageSource struct{ index *search.Index }

// Changed implements embed.Source.
func (s passageSource) Changed(ctx context.Context, since int64, limit int) ([]embed.Change, int64, error) {
	passages, mark, err := s.index.After(ctx, since, limit)
	out := make([]embed.Change, len(passages))
	for i, p := range passages {
		out[i] = embed.Change{ID: p.ID}
	}
	return out, mark, err
}

// Text implements embed.Source.
func (s passageSource) Text(ctx context.Context, id string) (string, error) {
	p, err := s.index.Get(ctx, id)
	if err != nil || len(p) == 0 {
		return "", err
	}
	if p[0].Clean != "" {
		return p[0].Clean, nil
	}
	return p[0].Text, nil
}
