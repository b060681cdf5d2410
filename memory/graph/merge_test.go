package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/memory/graph"
)

// dump is an export as lines.
func dump(t testing.TB, g *graph.Graph) (lines []string) {
	t.Helper()
	for r, err := range g.Export(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(b))
	}
	return lines
}

// same compares two exports and names the lines that differ.
func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for _, l := range got {
		if !slices.Contains(want, l) {
			t.Errorf("%s: has  %s", what, l)
		}
	}
	for _, l := range want {
		if !slices.Contains(got, l) {
			t.Errorf("%s: want %s", what, l)
		}
	}
	t.Fatalf("%s: %d lines, want %d", what, len(got), len(want))
}

func mustMerge(t testing.TB, g *graph.Graph, keep, drop string) int64 {
	t.Helper()
	id, err := g.Merge(context.Background(), entity(t, g, keep).ID, entity(t, g, drop).ID, "test")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestMergeAndUndo(t *testing.T) {
	c := &clock{time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	g := openAt(t, filepath.Join(t.TempDir(), "graph.db"), c)
	ctx := context.Background()
	later := func(lines ...string) {
		t.Helper()
		c.t = c.t.Add(time.Hour)
		learn(t, g, lines...)
	}
	later("王芳/喜欢/茶 | s=person turn=1", "王芳/住在/北京 | turn=1", "小明/的老师是/王芳 | turn=1")
	later("王老师/喜欢/茶 | sid=qq:7 turn=2", "王老师/住在/上海 | turn=2", "王老师/教/数学 | turn=2", "小明/怕/王老师 | turn=2", "王老师/就是/王芳 | turn=3")
	later("李老师/教/语文 | turn=4")
	if err := g.AddAlias(ctx, "王老师", "老王"); err != nil {
		t.Fatal(err)
	}
	a, b, l := entity(t, g, "王芳"), entity(t, g, "王老师"), entity(t, g, "李老师")
	for _, p := range [][2]int64{{a.ID, b.ID}, {b.ID, l.ID}} {
		if fresh, err := g.Nominate(ctx, p[0], p[1], "both teach"); err != nil || !fresh {
			t.Fatal(fresh, err)
		}
	}
	if err := g.Decide(ctx, b.ID, l.ID, graph.PairDifferent, "two subjects"); err != nil {
		t.Fatal(err)
	}
	before := dump(t, g)
	c.t = c.t.Add(time.Hour)
	id := mustMerge(t, g, "王芳", "王老师")

	t.Run("one entity", func(t *testing.T) {
		want := []string{"王芳/喜欢/茶", "王芳/住在/北京 past", "小明/的老师是/王芳", "王芳/住在/上海", "王芳/教/数学", "小明/怕/王芳", "王芳/就是/王芳", "李老师/教/语文"}
		if got := texts(t, g); !slices.Equal(got, want) {
			t.Errorf("%q\nwant %q", got, want)
		}
		if e := entity(t, g, "王芳"); e.Mentions != a.Mentions+b.Mentions {
			t.Errorf("%d mentions of %d and %d", e.Mentions, a.Mentions, b.Mentions)
		}
		if _, err := g.Entity(ctx, b.ID); !errors.Is(err, graph.ErrUnknown) {
			t.Errorf("the dropped one: %v", err)
		}
		for _, name := range []string{"王老师", "老王", "qq:7"} {
			if got, err := g.Find(ctx, name, 5); err != nil || len(got) != 1 || got[0].ID != a.ID {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
		got, r := recall(t, g, graph.Query{Text: "老王教什么", Depth: 1})
		if len(got) == 0 || got[0] != "王芳教数学" || slices.Contains(got, "王芳就是王芳") {
			t.Errorf("recalled %q, %+v", got, r.Entities)
		}
		_, r = recall(t, g, graph.Query{Text: "王芳喜欢茶"})
		if f := r.Facts[0]; f.Heard != 2 || !slices.Equal(f.Turns, []string{"1", "2"}) {
			t.Errorf("joined %+v", f)
		}
	})
	t.Run("pairs", func(t *testing.T) {
		pairs, err := g.Pairs(ctx, "", 10)
		if err != nil || len(pairs) != 2 || pairs[0].State != graph.PairMerged || pairs[1].State != graph.PairDifferent ||
			pairs[1].A.Name != "王芳" || pairs[1].B.Name != "李老师" {
			t.Errorf("%+v, %v", pairs, err)
		}
		if fresh, err := g.Nominate(ctx, a.ID, l.ID, "again"); fresh || err != nil {
			t.Errorf("asked again: %v, %v", fresh, err)
		}
	})
	t.Run("the log", func(t *testing.T) {
		log, err := g.Merges(ctx, 10)
		if err != nil || len(log) != 1 || log[0].ID != id || log[0].Dropped.Name != "王老师" || log[0].Reason != "test" {
			t.Errorf("%+v, %v", log, err)
		}
	})
	merged := dump(t, g)
	if err := g.Undo(ctx, id); err != nil {
		t.Fatal(err)
	}
	same(t, "undone", dump(t, g), before)
	if err := g.Undo(ctx, id); !errors.Is(err, graph.ErrUndone) {
		t.Errorf("twice: %v", err)
	}
	if err := g.Undo(ctx, id+1); !errors.Is(err, graph.ErrUnknown) {
		t.Errorf("of nothing: %v", err)
	}
	if got, _ := recall(t, g, graph.Query{Text: "老王教什么", Depth: 1}); len(got) == 0 || got[0] != "王老师教数学" {
		t.Errorf("recalled %q", got)
	}
	// The same merge again differs by its number alone.
	again := mustMerge(t, g, "王芳", "王老师")
	strip := func(lines []string, id int64) (out []string) {
		for _, l := range lines {
			out = append(out, strings.Replace(l, fmt.Sprintf(`"merge":{"id":%d,`, id), `"merge":{`, 1))
		}
		return out
	}
	same(t, "merged again", strip(dump(t, g), again), strip(merged, id))
}

// TestWhatWasToldSinceStays: with the entity that was kept, and nothing else
// is in the way of undoing.
func TestWhatWasToldSinceStays(t *testing.T) {
	g := open(t)
	ctx := context.Background()
	learn(t, g, "Ann/likes/tea", "Ann/lives in/Rome", "Annie/likes/tea", "Annie/plays/chess", "Annie/works at/the bank")
	before := dump(t, g)
	id := mustMerge(t, g, "Ann", "Annie")
	learn(t, g, "Annie/sings/songs", "Ann/likes/tea", "Annie/plays/chess", "Ann/no longer works at/the bank", "Annie (2)/is/here")
	if err := g.Undo(ctx, id); err != nil {
		t.Fatal(err)
	}
	want := []string{"Ann/likes/tea", "Ann/lives in/Rome", "Annie/likes/tea", "Annie/plays/chess", "Annie/works at/the bank past",
		"Ann/sings/songs", "Annie (2)/is/here"}
	if got := texts(t, g); !slices.Equal(got, want) {
		t.Fatalf("%q\nwant %q", got, want)
	}
	// The rows of the dropped one are as they were, but for what was told of them.
	for _, l := range before {
		if strings.Contains(l, `"subject":"Annie"`) && strings.Contains(l, "tea") && !slices.Contains(dump(t, g), l) {
			t.Errorf("lost %s", l)
		}
	}
	t.Run("a forgotten fact stays forgotten", func(t *testing.T) {
		id := mustMerge(t, g, "Ann", "Annie")
		if gone, err := g.Purge(ctx, graph.Criteria{Object: "tea"}, false); err != nil || len(gone) != 1 {
			t.Fatal(gone, err)
		}
		if err := g.Undo(ctx, id); err != nil {
			t.Fatal(err)
		}
		if got, _ := recall(t, g, graph.Query{Text: "who likes tea",
			Depth: 2, Past: true}); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "tea") }) {
			t.Fatalf("%q", got)
		}
	})
	t.Run("an erased fact does not come back", func(t *testing.T) {
		dir := t.TempDir()
		g := openAt(t, filepath.Join(dir, "graph.db"), nil)
		learn(t, g, "Ann/knows/xylophone4711", "Annie/knows/xylophone4711", "Annie/likes/tea", "Ann/likes/milk")
		id := mustMerge(t, g, "Ann", "Annie")
		if gone, err := g.Purge(ctx, graph.Criteria{Object: "xylophone4711"}, true); err != nil || len(gone) != 1 {
			t.Fatal(gone, err)
		}
		if where := grep(t, dir, "xylophone4711"); where != "" {
			t.Fatalf("%s still holds it", where)
		}
		if err := g.Undo(ctx, id); err != nil {
			t.Fatal(err)
		}
		if got := texts(t, g); !slices.Equal(got, []string{"Annie/likes/tea", "Ann/likes/milk"}) {
			t.Fatalf("%q", got)
		}
	})
}

func TestMergeRefuses(t *testing.T) {
	g := open(t)
	ctx := context.Background()
	learn(t, g, "客厅灯/坏了/昨天 | sid=device:lamp1", "客厅主灯/亮了/昨天 | sid=device:lamp2", "厨房灯/亮了/昨天 | s=device",
		"张三/喜欢/茶 | sid=qq:1 s=person", "老张/喜欢/酒 | sid=qq:2", "小张/喜欢/水 | sid=wx:9",
		"王芳/手机号是/138 0000 0001", "王方/手机号是/13900000002", "王小姐/电话/138-0000-0001",
		"豆豆/喜欢/骨头 | s=狗")
	id := func(name string) int64 { return entity(t, g, name).ID }
	before := dump(t, g)
	tests := []struct {
		name       string
		keep, drop int64
		want       error
	}{
		{"two devices", id("客厅灯"), id("客厅主灯"), graph.ErrDevices},
		{"two accounts of a kind", id("张三"), id("老张"), graph.ErrContradiction},
		{"two telephone numbers", id("王芳"), id("王方"), graph.ErrContradiction},
		{"a dog and a person", id("豆豆"), id("张三"), graph.ErrContradiction},
		{"itself", id("豆豆"), id("豆豆"), graph.ErrSame},
		{"nobody", id("豆豆"), 4711, graph.ErrUnknown},
		{"into nobody", 4711, id("豆豆"), graph.ErrUnknown},
		{"a device and a name", id("客厅灯"), id("厨房灯"), nil},
		{"accounts of two kinds", id("张三"), id("小张"), nil},
		{"one telephone number", id("王芳"), id("王小姐"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := g.Merge(ctx, tt.keep, tt.drop, "")
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if tt.want == nil {
				if err := g.Undo(ctx, m); err != nil {
					t.Fatal(err)
				}
			}
			same(t, "after it", dump(t, g), before)
		})
	}
}

func TestLaterMergesAreUndoneFirst(t *testing.T) {
	g := open(t)
	ctx := context.Background()
	learn(t, g, "A1/likes/tea", "A2/likes/tea", "A3/likes/tea", "A2/knows/B1", "A1/knows/B1", "B2/knows/A2")
	before := dump(t, g)
	first := mustMerge(t, g, "A1", "A2")
	second := mustMerge(t, g, "A3", "A1")
	if err := g.Undo(ctx, first); !errors.Is(err, graph.ErrLaterMerge) {
		t.Fatalf("got %v", err)
	}
	for _, id := range []int64{second, first} {
		if err := g.Undo(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "in order", dump(t, g), before)
	t.Run("of another entity, in any order", func(t *testing.T) {
		first, second := mustMerge(t, g, "A1", "A2"), mustMerge(t, g, "B2", "B1")
		for _, id := range []int64{first, second} {
			if err := g.Undo(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		same(t, "undone", dump(t, g), before)
	})
}

var merges = flag.Int("merges", 40, "how many random merges are undone")

// TestRandomMergesUndone merges what comes, several at a time, and compares
// whole exports.
func TestRandomMergesUndone(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 5))
	c := &clock{time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	g := openAt(t, filepath.Join(t.TempDir(), "graph.db"), c)
	ctx := context.Background()
	name := func() string { return fmt.Sprintf("N%d", rnd.IntN(8)) }
	verbs := []string{"likes", "doesn't like", "lives in", "is married to", "knows", "phone", "is", "no longer likes"}
	for range *merges {
		for range 1 + rnd.IntN(8) {
			c.t = c.t.Add(time.Minute)
			object := name()
			if rnd.IntN(3) == 0 {
				object = fmt.Sprintf("place%d", rnd.IntN(3))
			}
			learn(t, g, fmt.Sprintf("%s/%s/%s | turn=%d", name(), verbs[rnd.IntN(len(verbs))], object, rnd.IntN(50)))
		}
		if rnd.IntN(4) == 0 {
			if _, err := g.Purge(ctx, graph.Criteria{Subject: name()}, rnd.IntN(3) == 0); err != nil {
				t.Fatal(err)
			}
		}
		before := dump(t, g)
		var done []int64
		for range 1 + rnd.IntN(3) {
			var all []graph.Entity
			for i := range 8 {
				found, err := g.Find(ctx, fmt.Sprintf("N%d", i), 3)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, found...)
			}
			if len(all) < 2 {
				continue
			}
			a, b := all[rnd.IntN(len(all))], all[rnd.IntN(len(all))]
			id, err := g.Merge(ctx, a.ID, b.ID, "")
			if errors.Is(err, graph.ErrSame) || errors.Is(err, graph.ErrContradiction) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			done = append(done, id)
		}
		graph.CheckIndex(t, g)
		for _, id := range slices.Backward(done) {
			if err := g.Undo(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		same(t, "undone", dump(t, g), before)
		graph.CheckIndex(t, g)
	}
}

func TestPairs(t *testing.T) {
	g := open(t)
	ctx := context.Background()
	learn(t, g, "Ann/likes/tea", "Annie/likes/milk")
	a, b := entity(t, g, "Ann").ID, entity(t, g, "Annie").ID
	nominate := func(want bool) {
		t.Helper()
		writes := g.Commits()
		fresh, err := g.Nominate(ctx, b, a, "alike")
		if err != nil || fresh != want {
			t.Fatalf("fresh %v, %v", fresh, err)
		}
		if !want && g.Commits() != writes {
			t.Fatal("a known pair was written")
		}
	}
	due := func(want int) {
		t.Helper()
		got, err := g.Due(ctx, 10)
		if err != nil || len(got) != want {
			t.Fatalf("due %+v, %v", got, err)
		}
	}
	decide := func(s graph.PairState) {
		t.Helper()
		if err := g.Decide(ctx, a, b, s, "because"); err != nil {
			t.Fatal(err)
		}
	}
	nominate(true)
	nominate(false)
	due(1)
	decide(graph.PairUndecided)
	due(0)
	nominate(false)
	learn(t, g, "Ann/likes/tea") // heard again is nothing new
	due(0)
	learn(t, g, "Ann/lives in/Rome")
	due(1)
	nominate(true)
	decide(graph.PairDifferent)
	learn(t, g, "Annie/lives in/Paris")
	nominate(false)
	due(0)
	for name, err := range map[string]error{
		"itself": g.Decide(ctx, a, a, graph.PairDifferent, ""), "merged": g.Decide(ctx, a, b, graph.PairMerged, ""),
		"nobody": g.Decide(ctx, a, 4711, graph.PairOpen, ""),
	} {
		want := map[string]error{"itself": graph.ErrSame, "merged": graph.ErrState, "nobody": graph.ErrUnknown}[name]
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := g.Nominate(ctx, a, 4711, ""); !errors.Is(err, graph.ErrUnknown) {
		t.Errorf("nominate nobody: %v", err)
	}
}
