package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"homeagent/memory/graph"
	"homeagent/memory/search"
	"homeagent/memory/token"
)

const (
	// defaultLimit and maxLimit are numbers of items.
	defaultLimit, maxLimit = 10, 100
	// depth is how far the graph walks.
	depth = 2
	// factWorth is what a fact that has all of the query is worth beside the
	// best passage, and factLift what the passage gains that it comes from.
	factWorth, factLift = 0.4, 0.1
	// nearWorth is what the nearest vector adds, after reciprocal rank fusion
	// (Cormack et al., 2009) with the constant rankDelay.
	nearWorth, rankDelay = 0.6, 10
	// sameShare is the Jaccard share of terms from which two items say the same.
	sameShare = 0.5
)

// Passages finds texts by their words; *search.Index is one.
type Passages interface {
	Search(ctx context.Context, q search.Query) ([]search.Hit, error)
}

// Facts finds relations; *graph.Graph is one.
type Facts interface {
	Recall(ctx context.Context, q graph.Query) (graph.Recalled, error)
}

// Vectors finds by meaning what is near a text.
type Vectors interface {
	// Near returns the passages and the ids of entities nearest to text, best
	// first, at most limit of each.
	Near(ctx context.Context, text string, limit int) (passages []search.Passage, entities []int64, err error)
}

// Sources are what is asked. Passages of several stores, as memory's and
// knowledge's, are asked each; Facts and Vectors may be nil.
type Sources struct {
	Passages []Passages
	Facts    Facts
	Vectors  Vectors
}

// Query is what is asked.
type Query struct {
	Text string
	// Limit is the number of items, 10 if 0, at most 100.
	Limit int
	// Now is when it is asked, for "last week".
	Now time.Time
	// Speaker is the stable id of who asks, "" if nobody is known.
	Speaker string
	// Archived is search.Query's.
	Archived float64
	// NoGraph and NoVectors leave a source out, Without parts of the search.
	NoGraph, NoVectors bool
	Without            search.Parts
}

// Recall asks the sources and fuses what they find, best first. A failing
// source is an error only where no other found anything; else errs tells it.
func (s Sources) Recall(ctx context.Context, q Query) (items []Item, errs []error, err error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	q.Limit = min(q.Limit, maxLimit)
	f := fusion{from: map[string]float64{}}
	for _, p := range s.Passages {
		hits, err := p.Search(ctx, search.Query{Text: q.Text, Limit: 2*q.Limit + 10, Now: q.Now, Archived: q.Archived, Without: q.Without})
		if err != nil {
			errs = append(errs, err)
		}
		f.passages(hits)
	}
	var seeds []int64
	if s.Vectors != nil && !q.NoVectors {
		near, entities, err := s.Vectors.Near(ctx, q.Text, 2*q.Limit)
		if err != nil {
			errs = append(errs, fmt.Errorf("recall by vectors: %w", err))
		}
		f.near(near)
		seeds = entities
	}
	if s.Facts != nil && !q.NoGraph {
		r, err := s.Facts.Recall(ctx, graph.Query{Text: q.Text, Depth: depth, Limit: 2 * q.Limit, Seeds: seeds, Speaker: q.Speaker})
		if err != nil {
			errs = append(errs, err)
		}
		f.facts(r.Facts)
	}
	items = f.best(q.Limit)
	if len(items) == 0 && len(errs) > 0 {
		return nil, errs, errs[0]
	}
	return items, errs, nil
}

// fusion gathers candidates on one scale: 1 is the best passage.
type fusion struct {
	items []Item
	byID  map[string]int
	cover float64            // the best cover of the passages' sources
	from  map[string]float64 // the lift of an event by facts
}

// passages adds the hits of one store. Scores of two stores do not compare;
// how much of the query their best passages have does.
func (f *fusion) passages(hits []search.Hit) {
	if len(hits) == 0 {
		return
	}
	var top, cover float64
	for _, h := range hits {
		top, cover = max(top, h.Score), max(cover, h.Cover)
	}
	if top <= 0 {
		return
	}
	share := 1.0
	switch {
	case f.cover == 0:
		f.cover = cover
	case cover < f.cover:
		share = cover / f.cover
	case cover > f.cover:
		for i := range f.items {
			f.items[i].Score *= f.cover / cover
		}
		f.cover = cover
	}
	for _, h := range hits {
		f.add(item(h.Passage, h.Score/top*share))
	}
}

// near adds what vectors found, by rank.
func (f *fusion) near(near []search.Passage) {
	for i, p := range near {
		f.add(item(p, nearWorth*rankDelay/float64(rankDelay+i)))
	}
}

// add takes an item in; one that is there gains the score.
func (f *fusion) add(it Item) {
	if f.byID == nil {
		f.byID = map[string]int{}
	}
	if i, ok := f.byID[it.ID]; ok {
		f.items[i].Score += it.Score
		return
	}
	f.byID[it.ID] = len(f.items)
	f.items = append(f.items, it)
}

// facts adds facts and notes which events they speak for.
func (f *fusion) facts(facts []graph.Fact) {
	for _, fact := range facts {
		it := Item{ID: fmt.Sprintf("fact:%d", fact.ID), Text: fact.Text(), Kind: Fact, Time: fact.Created, Score: factWorth * fact.Score}
		if fact.Status == graph.Past {
			it.Until = fact.Updated
		}
		it.From = slices.Clone(fact.Turns)
		if len(it.From) == 0 && fact.Turn != "" {
			it.From = []string{fact.Turn}
		}
		for _, id := range it.From {
			f.from[id] = max(f.from[id], fact.Score)
		}
		f.add(it)
	}
}

// best ranks the candidates and drops those that say what a better one says.
func (f *fusion) best(limit int) []Item {
	for i, it := range f.items {
		if it.Kind == Fact {
			continue
		}
		var lift float64
		for _, id := range it.From {
			lift = max(lift, f.from[id])
		}
		f.items[i].Score += factLift * lift
	}
	slices.SortStableFunc(f.items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.Time.Compare(a.Time))
	})
	var out []Item
	var said []terms
	told := map[string]bool{}
	for _, it := range f.items {
		if len(out) == limit {
			break
		}
		// What a past fact says is that it is past; the event does not say so.
		if it.Until.IsZero() && len(it.From) > 0 && !slices.ContainsFunc(it.From, func(id string) bool { return !told[id] }) {
			continue
		}
		t := termsOf(it.Text)
		if it.Until.IsZero() && slices.ContainsFunc(said, t.same) {
			continue
		}
		out, said = append(out, it), append(said, t)
		if it.Until.IsZero() {
			for _, id := range it.From {
				told[id] = true
			}
		}
	}
	return out
}

// item is a passage as an item.
func item(p search.Passage, score float64) Item {
	it := Item{ID: p.ID, Text: p.Text, Time: p.Time, From: p.From, Score: score}
	if len(it.From) == 0 {
		it.From = []string{p.ID}
	}
	switch {
	case p.Kind == search.Knowledge:
		it.Kind = Knowledge
	case p.Kind == search.Document:
		it.Kind = Document
	default:
		it.Kind = Event
	}
	return it
}

// terms is what an item says, for comparing.
type terms map[string]bool

func termsOf(text string) terms {
	t := terms{}
	for _, w := range token.Set(text[:min(len(text), 4<<10)], 256) {
		t[w] = true
	}
	return t
}

func (a terms) same(b terms) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	return float64(both) >= sameShare*float64(len(a)+len(b)-both)
}
