package recall_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"homeagent/memory/graph"
	"homeagent/memory/recall"
	"homeagent/memory/search"
)

type passages struct {
	hits []search.Hit
	err  error
}

func (p passages) Search(context.Context, search.Query) ([]search.Hit, error) { return p.hits, p.err }

type facts struct {
	facts []graph.Fact
	err   error
	seeds []int64
}

func (f *facts) Recall(_ context.Context, q graph.Query) (graph.Recalled, error) {
	f.seeds = q.Seeds
	return graph.Recalled{Facts: f.facts}, f.err
}

type vectors struct {
	near []search.Passage
	ids  []int64
	err  error
}

func (v vectors) Near(context.Context, string, int) ([]search.Passage, []int64, error) {
	return v.near, v.ids, v.err
}

func hit(id, text string, score, cover float64) search.Hit {
	return search.Hit{Passage: search.Passage{ID: id, Text: text, Kind: search.Event}, Score: score, Cover: cover}
}

func fact(id int64, subject, relation, object, turn string, score float64) graph.Fact {
	return graph.Fact{ID: id, Subject: subject, Relation: relation, Object: object, Turn: turn, Turns: []string{turn}, Status: graph.Active, Score: score}
}

func TestRecall(t *testing.T) {
	past := fact(2, "Bob", "lives in", "Oslo", "e2", 0.8)
	past.Status, past.Updated = graph.Past, time.Unix(1000, 0)
	knowledge := hit("k", "moving house: a list", 40, 0.2)
	knowledge.Kind = search.Knowledge
	broken := errors.New("broken")
	tests := []struct {
		name    string
		sources recall.Sources
		want    []string
		errs    int
		fails   bool
	}{
		{name: "nothing", sources: recall.Sources{}},
		{name: "a fact and its event are one", sources: recall.Sources{
			Passages: []recall.Passages{passages{hits: []search.Hit{hit("e1", "yesterday I moved to Rome, at last", 9, 1), hit("e3", "Rome is warm", 6, .5)}}},
			Facts:    &facts{facts: []graph.Fact{fact(1, "Bob", "moved to", "Rome", "e1", 0.9)}},
		}, want: []string{"e1", "e3"}},
		{name: "a fact lifts its event", sources: recall.Sources{
			Passages: []recall.Passages{passages{hits: []search.Hit{hit("e1", "alpha", 9, 1), hit("e2", "beta", 8.9, 1)}}},
			Facts:    &facts{facts: []graph.Fact{fact(1, "x", "y", "z", "e2", 1)}},
		}, want: []string{"e2", "e1"}},
		{name: "a fact whose event was not found", sources: recall.Sources{
			Passages: []recall.Passages{passages{hits: []search.Hit{hit("e1", "alpha", 9, 1)}}},
			Facts:    &facts{facts: []graph.Fact{fact(7, "key", "is under", "mat", "e9", .7)}},
		}, want: []string{"e1", "fact:7"}},
		{name: "what is past stays beside its event", sources: recall.Sources{
			Passages: []recall.Passages{passages{hits: []search.Hit{hit("e2", "I live in Oslo", 9, 1)}}},
			Facts:    &facts{facts: []graph.Fact{past}},
		}, want: []string{"e2", "fact:2"}},
		{name: "the same words of two kinds", sources: recall.Sources{
			Passages: []recall.Passages{passages{hits: []search.Hit{hit("e1", "Bob likes green tea", 9, 1)}}},
			Facts:    &facts{facts: []graph.Fact{fact(1, "Bob", "likes", "green tea", "e5", 1)}},
		}, want: []string{"e1"}},
		{name: "stores compare by what they cover", sources: recall.Sources{
			Passages: []recall.Passages{passages{hits: []search.Hit{knowledge}}, passages{hits: []search.Hit{hit("e1", "we are moving to the lake", 3, .9)}}},
		}, want: []string{"e1", "k"}},
		{name: "vectors bring what no word finds", sources: recall.Sources{
			Passages: []recall.Passages{passages{hits: []search.Hit{hit("e1", "alpha", 9, 1)}}},
			Vectors:  vectors{near: []search.Passage{{ID: "v", Text: "omega", Kind: search.Event}}},
		}, want: []string{"e1", "v"}},
		{name: "one source fails", sources: recall.Sources{
			Passages: []recall.Passages{passages{err: broken}},
			Facts:    &facts{facts: []graph.Fact{fact(7, "key", "is under", "mat", "", .7)}},
		}, want: []string{"fact:7"}, errs: 1},
		{name: "all fail", sources: recall.Sources{
			Passages: []recall.Passages{passages{err: broken}}, Facts: &facts{err: broken}, Vectors: vectors{err: broken},
		}, errs: 3, fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items, errs, err := tt.sources.Recall(context.Background(), recall.Query{Text: "anything"})
			if len(errs) != tt.errs || (err != nil) != tt.fails {
				t.Fatalf("%v, %v", errs, err)
			}
			var got []string
			for _, it := range items {
				got = append(got, it.ID)
				if it.ID == "fact:2" && !it.Until.Equal(past.Updated) {
					t.Errorf("until %v", it.Until)
				}
				if it.Kind == recall.Event && len(it.From) == 0 {
					t.Errorf("%s comes from nowhere", it.ID)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Fatalf("recalled %q, want %q", got, tt.want)
			}
		})
	}
}

func TestVectorsSeedTheWalk(t *testing.T) {
	f := &facts{}
	s := recall.Sources{Facts: f, Vectors: vectors{ids: []int64{4, 2}}}
	if _, _, err := s.Recall(context.Background(), recall.Query{Text: "x"}); err != nil || !slices.Equal(f.seeds, []int64{4, 2}) {
		t.Fatal(f.seeds, err)
	}
	if _, _, err := s.Recall(context.Background(), recall.Query{Text: "x", NoVectors: true}); err != nil || f.seeds != nil {
		t.Fatal(f.seeds, err)
	}
}

func TestLimit(t *testing.T) {
	var hits []search.Hit
	for i := range 50 {
		hits = append(hits, hit(string(rune('A'+i)), string(rune(0x4e00+i)), float64(100-i), 1))
	}
	s := recall.Sources{Passages: []recall.Passages{passages{hits: hits}}}
	items, _, err := s.Recall(context.Background(), recall.Query{Text: "x", Limit: 3})
	if err != nil || len(items) != 3 {
		t.Fatal(len(items), err)
	}
}
