package graph_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"homeagent/memory/graph"
)

const day = 24 * time.Hour

func TestArchive(t *testing.T) {
	c := &clock{time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	g := openAt(t, filepath.Join(t.TempDir(), "graph.db"), c)
	ctx := context.Background()
	learn(t, g, "shed/is in/the garden", "Bob/likes/tea", "Bob/likes/tea", "Bob/likes/tea", "grill/stands behind/the shed")
	c.t = c.t.Add(20 * day)
	learn(t, g, "grill/stands behind/the shed")
	c.t = c.t.Add(15 * day)
	archive := func(want int) {
		t.Helper()
		writes := g.Commits()
		n, err := g.Archive(ctx, 30)
		if err != nil || n != want || want == 0 && g.Commits() != writes {
			t.Fatalf("archived %d (%d writes), %v", n, g.Commits()-writes, err)
		}
	}
	archive(1)
	archive(0)
	if got := texts(t, g); !slices.Equal(got, []string{"shed/is in/the garden archived", "Bob/likes/tea", "grill/stands behind/shed"}) {
		t.Fatalf("%q", got)
	}
	got, _ := recall(t, g, graph.Query{Text: "where is the shed", Depth: 1})
	if slices.Contains(got, "shed is in the garden") {
		t.Fatalf("recalled %q", got)
	}
	got, r := recall(t, g, graph.Query{Text: "shed", Depth: 1, Past: true})
	if len(got) != 2 || got[1] != "shed is in the garden" {
		t.Fatalf("with the past %q", got)
	}
	if slices.ContainsFunc(r.Entities, func(e graph.Entity) bool { return e.Name == "the garden" }) {
		t.Fatalf("the line tells of %+v", r.Entities)
	}
	s, err := g.Introspect(ctx, 0)
	if err != nil || s.Archived != 1 || s.Active != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	if c := learn(t, g, "shed/is in/the garden"); c.Confirmed != 1 {
		t.Fatalf("heard again: %+v", c)
	}
	if got, _ = recall(t, g, graph.Query{Text: "where is the shed"}); len(got) == 0 || got[0] != "shed is in the garden" {
		t.Fatalf("woken %q", got)
	}
	// An archived fact is ended like any other.
	c.t = c.t.Add(40 * day)
	archive(2)
	if c := learn(t, g, "shed/is in/the orchard"); c.Ended != 1 {
		t.Fatalf("%+v", c)
	}
}

func TestRestore(t *testing.T) {
	tests := []struct {
		name  string
		told  []string
		purge graph.Criteria
		since []string
		want  []string
	}{
		{"as it was", []string{"Bob/likes/tea"}, graph.Criteria{Subject: "Bob"}, nil, []string{"Bob/likes/tea"}},
		{"history", []string{"Bob/lives in/Rome", "Bob/moved to/Paris"}, graph.Criteria{Object: "Rome"}, nil,
			[]string{"Bob/lives in/Rome past", "Bob/moved to/Paris"}},
		{"contradicted since", []string{"Bob/lives in/Rome"}, graph.Criteria{Subject: "Bob"}, []string{"Bob/lives in/Paris"},
			[]string{"Bob/lives in/Rome past", "Bob/lives in/Paris"}},
		{"denied since", []string{"Bob/likes/tea"}, graph.Criteria{Subject: "Bob"}, []string{"Bob/doesn't like/tea"},
			[]string{"Bob/likes/tea past", "Bob/doesn't like/tea"}},
		{"told again since", []string{"Bob/likes/tea | turn=1"}, graph.Criteria{Subject: "Bob"}, []string{"Bob/likes/tea | turn=2"},
			[]string{"Bob/likes/tea"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &clock{time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
			g := openAt(t, filepath.Join(t.TempDir(), "graph.db"), c)
			ctx := context.Background()
			learn(t, g, tt.told...)
			gone, err := g.Purge(ctx, tt.purge, false)
			if err != nil || len(gone) != 1 {
				t.Fatal(gone, err)
			}
			c.t = c.t.Add(time.Hour)
			learn(t, g, tt.since...)
			back, err := g.Restore(ctx, gone[0].ID)
			if err != nil || len(back) != 1 || !back[0].Created.Equal(gone[0].Created) {
				t.Fatal(back, err)
			}
			if got := texts(t, g); !slices.Equal(got, tt.want) {
				t.Fatalf("%q", got)
			}
			got, _ := recall(t, g, graph.Query{Text: gone[0].Text(), Past: true})
			if !slices.Contains(got, gone[0].Text()) {
				t.Fatalf("recalled %q", got)
			}
			graph.CheckIndex(t, g)
			if again, err := g.Restore(ctx, gone[0].ID, 4711); err != nil || len(again) != 0 {
				t.Fatalf("twice: %+v, %v", again, err)
			}
		})
	}
}

func TestChangedAndEntityFacts(t *testing.T) {
	g := open(t)
	ctx := context.Background()
	var mark int64
	changed := func(names ...string) {
		t.Helper()
		got, next, err := g.Changed(ctx, mark, 100)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, c := range got {
			name := "gone"
			if !c.Gone {
				e, err := g.Entity(ctx, c.ID)
				if err != nil {
					t.Fatal(err)
				}
				name = e.Name
			}
			have = append(have, name)
		}
		if mark = next; !slices.Equal(have, names) {
			t.Fatalf("changed %q, want %q", have, names)
		}
	}
	changed()
	learn(t, g, "Ann/likes/tea", "Ann/lives in/Rome")
	changed("tea", "Ann", "Rome")
	changed()
	learn(t, g, "Ann/moved to/Paris")
	changed("Ann", "Rome", "Paris") // Rome too: nobody lives there any more
	learn(t, g, "Annie/likes/milk")
	changed("Annie", "milk")
	id := mustMerge(t, g, "Ann", "Annie")
	changed("Ann", "gone", "milk")
	if err := g.Undo(ctx, id); err != nil {
		t.Fatal(err)
	}
	changed("Ann", "Annie", "milk")
	if _, err := g.Purge(ctx, graph.Criteria{Subject: "Annie"}, true); err != nil {
		t.Fatal(err)
	}
	changed("gone", "gone")
	learn(t, g, "Ann/likes/tea | turn=1", "Ann/likes/tea | turn=1") // the second changes nothing
	changed("Ann", "tea")

	if err := g.AddAlias(ctx, "Ann", "grandma"); err != nil {
		t.Fatal(err)
	}
	k, err := g.EntityFacts(ctx, entity(t, g, "Ann").ID, 2)
	if err != nil || !slices.Equal(k.Aliases, []string{"grandma"}) || k.More != 1 || len(k.Facts) != 2 {
		t.Fatalf("%+v, %v", k, err)
	}
	if k, err = g.EntityFacts(ctx, k.ID, 10); err != nil || k.More != 0 || len(k.Facts) != 3 || k.Facts[2].Status != graph.Past ||
		k.Facts[0].SubjectID != k.ID {
		t.Fatalf("%+v, %v", k, err)
	}
}

func TestSeedsAndSession(t *testing.T) {
	g := open(t)
	ctx := context.Background()
	if _, err := g.Commit(ctx, facts("Ann/plays/the violin", "Ann/sings/songs"), graph.Origin{Source: "monday"}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Commit(ctx, facts("Bob/plays/the violin", "violin shop/is in/Rome"), graph.Origin{Source: "tuesday"}); err != nil {
		t.Fatal(err)
	}
	ann := entity(t, g, "Ann").ID
	tests := []struct {
		name string
		q    graph.Query
		want []string
		all  bool // nothing else
	}{
		{"no words, a seed", graph.Query{Text: "??", Seeds: []int64{ann}, Depth: 1}, []string{"Ann sings songs",
			"Ann plays the violin"}, true},
		{"unknown words, a seed", graph.Query{Text: "grandmother music",
			Seeds: []int64{ann, 4711}, Depth: 1}, []string{"Ann sings songs", "Ann plays the violin"}, true},
		{"a seed without a walk", graph.Query{Text: "??", Seeds: []int64{ann}}, nil, true},
		{"boost monday", graph.Query{Text: "plays violin", Session: "monday"}, []string{"Ann plays the violin"}, false},
		{"boost tuesday", graph.Query{Text: "plays violin", Session: "tuesday"}, []string{"Bob plays the violin"}, false},
		{"only monday", graph.Query{Text: "plays violin", Session: "monday", SessionOnly: true}, []string{"Ann plays the violin"}, true},
		{"only wednesday", graph.Query{Text: "plays violin", Session: "wednesday", SessionOnly: true}, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := recall(t, g, tt.q)
			if len(got) < len(tt.want) || !slices.Equal(got[:len(tt.want)], tt.want) || tt.all && len(got) != len(tt.want) {
				t.Fatalf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestTwoHops: the second half is told about somebody whom the question does
// not name.
func TestTwoHops(t *testing.T) {
	g := open(t)
	commit(t, g, "1", household...)
	commit(t, g, "2", "Carol/teaches/Alice", "Carol/was born in/Norway", "豆豆/害怕/雷声")
	for _, tt := range []struct{ query, want string }{
		{"what instrument does Bob's daughter play", "Alice plays the violin"},
		{"小明的妈妈哪天出生", "李华生日是三月五日"},
		{"where does the teacher of Alice come from", "Carol was born in Norway"},
	} {
		if got, _ := recall(t, g, graph.Query{Text: tt.query, Depth: 2}); !slices.Contains(got, tt.want) {
			t.Errorf("%s: %q", tt.query, got)
		}
	}
}
