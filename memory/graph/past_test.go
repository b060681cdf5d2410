package graph_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"homeagent/memory/graph"
)

func TestAsksPast(t *testing.T) {
	for text, want := range map[string]bool{
		"where did I live before": true, "Where did Ann use to live?": true, "what was her previous address": true,
		"where were we last time": true, "我以前住哪": true, "钥匙之前放哪了": true, "他原来在哪上班": true, "上次去的餐厅": true,
		"我曾经养过什么": true, "过去的密码": true,
		"where do I live": false, "beforehand": false, "I want to go": false, "我住哪": false, "last night": false, "": false,
		"formerlyx": false,
	} {
		if got := graph.AsksPast(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestWhatWasBefore: the past comes first where it is asked for, and last
// where it is not.
func TestWhatWasBefore(t *testing.T) {
	c := &clock{time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	g := openAt(t, filepath.Join(t.TempDir(), "graph.db"), c)
	for _, line := range []string{"我/住在/上海", "Ann/lives in/Paris", "钥匙/在/门垫下面", "Ann/likes/the sea"} {
		commit(t, g, "1", line)
	}
	c.t = c.t.Add(24 * time.Hour)
	for _, line := range []string{"我/搬到/北京", "Ann/moved to/Rome", "钥匙/放在/抽屉里", "我/喜欢/北京"} {
		commit(t, g, "2", line)
	}
	tests := []struct {
		query, first string
		past         bool
	}{
		{"我以前住哪", "我住在上海", false},
		{"我住哪", "我搬到北京", false},
		{"我住哪", "我搬到北京", true},
		{"where did Ann live before", "Ann lives in Paris", false},
		{"where did Ann use to live?", "Ann lives in Paris", false},
		{"where does Ann live", "Ann moved to Rome", false},
		{"where does Ann live", "Ann moved to Rome", true},
		{"钥匙之前在哪", "钥匙在门垫下面", false},
		{"钥匙在哪", "钥匙放在抽屉里", true},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			for depth := range 3 {
				got, r := recall(t, g, graph.Query{Text: tt.query, Past: tt.past, Depth: depth + 1})
				if len(got) == 0 || got[0] != tt.first {
					t.Fatalf("depth %d: %q", depth+1, got)
				}
				if graph.AsksPast(tt.query) && (r.Facts[0].Status != graph.Past || !r.Facts[0].Updated.Equal(c.t)) {
					t.Fatalf("%+v", r.Facts[0])
				}
			}
		})
	}
	h, err := g.History(context.Background(), "ann", "home", 10)
	if err != nil || len(h) != 0 {
		t.Errorf("a relation nobody told: %+v, %v", h, err)
	}
	if h, err = g.History(context.Background(), "ann", "address",
		10); err != nil || len(h) != 2 || h[0].Object != "Rome" || h[1].Object != "Paris" {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestRetraction(t *testing.T) {
	tests := []struct {
		name       string
		told       []string
		want       []string
		ended      int
		retraction bool
	}{
		{"no longer", []string{"Ann/lives in/Paris", "Ann/no longer lives in/Paris"}, []string{"Ann/lives in/Paris past"}, 1, true},
		{"doesn't any more", []string{"Ann/likes/tea", "Ann/doesn't like/tea any more"}, []string{"Ann/likes/tea past"}, 1, true},
		{"not anymore in the relation", []string{"lamp/is/broken", "lamp/is not anymore/broken"}, []string{"lamp/is/broken past"}, 1, true},
		{"不再", []string{"小明/喜欢/茶", "小明/不再喜欢/茶"}, []string{"小明/喜欢/茶 past"}, 1, true},
		{"不再 in front of a sentence", []string{"小明/喝/咖啡", "小明/不再/喝咖啡"}, []string{"小明/喝/咖啡 past"}, 1, true},
		{"已经不", []string{"小明/住在/上海", "小明/已经不住在/上海了"}, []string{"小明/住在/上海 past"}, 1, true},
		{"nobody had told", []string{"Ann/no longer works at/the bank"}, []string{"Ann/works at/the bank past"}, 0, true},
		{"twice", []string{"Ann/no longer works at/the bank",
			"Ann/no longer works at/the bank"}, []string{"Ann/works at/the bank past"}, 0, true},
		{"of another", []string{"Ann/lives in/Rome", "Ann/no longer lives in/Paris"}, []string{"Ann/lives in/Rome",
			"Ann/lives in/Paris past"}, 0, true},
		{"any more without a negation", []string{"Ann/wants/any more"}, []string{"Ann/wants/any more"}, 0, false},
		{"nothing is said", []string{"Ann/knows/no longer"}, []string{"Ann/knows/no longer"}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := open(t)
			c := learn(t, g, tt.told...)
			if got := texts(t, g); !slices.Equal(got, tt.want) || c.Ended != tt.ended {
				t.Fatalf("%q, %+v", got, c)
			}
		})
	}
	t.Run("marked", func(t *testing.T) {
		g := open(t)
		learn(t, g, "Ann/plays/the violin")
		s := statement("Ann/plays/the violin")
		s.Retracted = true
		if c, err := g.Learn(context.Background(), []graph.Statement{s}); err != nil || c.Ended != 1 {
			t.Fatalf("%+v, %v", c, err)
		}
		// Told again it is a new fact, and the old stays history.
		if c := learn(t, g, "Ann/plays/the violin"); c.Added != 1 {
			t.Fatalf("%+v", c)
		}
	})
}

// TestAnOldTurnTakenUpAgain: neither the past nor what was forgotten comes back.
func TestAnOldTurnTakenUpAgain(t *testing.T) {
	g := open(t)
	learn(t, g, "Ann/lives in/Paris | turn=1", "Ann/likes/tea | turn=1", "Ann/moved to/Rome | turn=2")
	if _, err := g.Purge(context.Background(), graph.Criteria{Object: "tea"}, false); err != nil {
		t.Fatal(err)
	}
	before := texts(t, g)
	c := learn(t, g, "Ann/lives in/Paris | turn=1", "Ann/likes/tea | turn=1", "Ann/moved to/Rome | turn=2")
	if got := texts(t, g); !slices.Equal(got, before) || c.Added+c.Ended != 0 {
		t.Fatalf("%+v: %q", c, got)
	}
}

// TestALateReport: what was said before the standing fact is history at once.
func TestALateReport(t *testing.T) {
	now := time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)
	g := openAt(t, filepath.Join(t.TempDir(), "graph.db"), &clock{now})
	learn(t, g, "Ann/moved to/Rome")
	s := statement("Ann/lives in/Paris")
	s.Heard = now.Add(-100 * 24 * time.Hour)
	if _, err := g.Learn(context.Background(), []graph.Statement{s}); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, g); !slices.Equal(got, []string{"Ann/moved to/Rome", "Ann/lives in/Paris past"}) {
		t.Fatalf("%q", got)
	}
	_, r := recall(t, g, graph.Query{Text: "where did Ann live before", Depth: 1})
	if f := r.Facts[0]; !f.Created.Equal(s.Heard) || !f.Updated.Equal(now) {
		t.Fatalf("%+v", f)
	}
}
