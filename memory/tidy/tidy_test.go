package tidy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeagent/memory/document"
	"homeagent/memory/graph"
)

// TestHundredRounds: a house in which nothing happens is left as it is.
func TestHundredRounds(t *testing.T) {
	r := newRig(t)
	r.learn("张三|住在|北京", "张先生|喜欢|茶", "陈总|就是|陈建国", "陈总|喜欢|咖啡",
		"Bob|lives in|London", "Robert|likes|tea", "王芳|手机号|13800000000")
	r.run()
	r.run()
	rows, puts, commits, syncs := r.rows(), r.store.puts, r.g.Commits(), r.docs.Syncs()
	calls, asked := r.index.calls, len(r.house.asked())
	if rows["files"] == 0 || rows["graph.pairs"] == 0 || rows["graph.merges"] == 0 || asked == 0 {
		t.Fatalf("nothing was done at first: %v, %d asked", rows, asked)
	}
	for range 100 {
		r.now = r.now.Add(10 * time.Minute)
		rep := r.run()
		if s := rep.Sum(); s.Facts+s.Documents+s.Entities+s.Nominated+s.Merged+s.Asked != 0 {
			t.Fatalf("work without anything new: %+v", rep.Steps)
		}
	}
	if d := cmp.Diff(rows, r.rows()); d != "" {
		t.Errorf("rows and files: %s", d)
	}
	if r.store.puts != puts || r.g.Commits() != commits || r.docs.Syncs() != syncs ||
		r.index.calls != calls || len(r.house.asked()) != asked {
		t.Errorf("written: state %d, graph %d, documents %d, index %d; asked %d",
			r.store.puts-puts, r.g.Commits()-commits, r.docs.Syncs()-syncs, r.index.calls-calls, len(r.house.asked())-asked)
	}
}

func TestPagesAreRewrittenInPlace(t *testing.T) {
	r := newRig(t)
	r.learn("豆豆|喜欢|鱼干")
	r.run()
	found, err := r.g.Find(t.Context(), "豆豆", 1)
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	id := document.EntityID(found[0].ID)
	first, err := r.docs.Peek(t.Context(), id)
	if err != nil || first.Origin != document.Graph || !strings.Contains(first.Text, "豆豆喜欢鱼干") {
		t.Fatalf("%+v, %v", first, err)
	}
	r.learn("豆豆|怕|吸尘器")
	r.run()
	second, err := r.docs.Peek(t.Context(), id)
	if err != nil || !strings.Contains(second.Text, "吸尘器") || !strings.Contains(second.Text, "鱼干") {
		t.Fatalf("%+v, %v", second, err)
	}
	if r.index.changed[id] != 2 {
		t.Errorf("the index heard of it %d times", r.index.changed[id])
	}
	r.now = r.now.Add(1000 * time.Hour)
	if cold, err := r.docs.Cold(t.Context(), r.now, DefaultColdAfter, 2); err != nil || len(cold) != 0 {
		t.Errorf("pages are cold: %v, %v", cold, err)
	}
	if _, err := r.g.Purge(t.Context(), graph.Criteria{Subject: "豆豆"}, true); err != nil {
		t.Fatal(err)
	}
	r.run()
	if _, err := r.docs.Peek(t.Context(), id); !errors.Is(err, document.ErrNotFound) {
		t.Errorf("the page of what was purged: %v", err)
	}
	if r.index.gone[id] == 0 {
		t.Error("the index has not heard that it is gone")
	}
}

func TestColdDocuments(t *testing.T) {
	r := newRig(t)
	var ids []string
	for _, text := range []string{"one", "two"} {
		id, err := r.docs.Put(t.Context(), document.Document{Origin: document.Commit, Title: text, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	r.run()
	if len(r.dist.absorbed) != 0 {
		t.Fatalf("absorbed while fresh: %v", r.dist.absorbed)
	}
	r.now = r.now.Add(100 * time.Hour)
	r.dist.absorb = func(id string) error {
		if id == ids[0] {
			return errors.New("made up by the test")
		}
		return nil
	}
	rep, err := r.tidy.Run(t.Context())
	if err != nil || !slices.Equal(rep.Failed(), []Kind{Cold}) || !slices.Equal(r.dist.absorbed, ids[1:]) {
		t.Fatalf("%v, failed %v, absorbed %v", err, rep.Failed(), r.dist.absorbed)
	}
	if text := rep.Text("zh"); !strings.Contains(text, "没有完成：归档旧文档") {
		t.Errorf("told: %s", text)
	}
	r.dist.absorb = nil
	r.run()
	r.run()
	if !slices.Equal(r.dist.absorbed, []string{ids[1], ids[0]}) {
		t.Errorf("absorbed %v", r.dist.absorbed)
	}
}

// TestEachPartFailsAlone: an error, a panic or a part that hangs is reported,
// and the others are done.
func TestEachPartFailsAlone(t *testing.T) {
	rows := []struct {
		name string
		do   func(ctx context.Context) (int, error)
		want string
	}{
		{"an error", func(context.Context) (int, error) { return 0, errors.New("no paper") }, "no paper"},
		{"a panic", func(context.Context) (int, error) { panic("out of ink") }, "out of ink"},
		{"hangs", func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }, "deadline"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t, func(o *Options) { o.Distil = 50 * time.Millisecond })
			r.dist.do = row.do
			r.learn("豆豆|喜欢|鱼干")
			rep, err := r.tidy.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(rep.Steps) != 7 || rep.Steps[0].Kind != Distil || !strings.Contains(rep.Steps[0].Error, row.want) {
				t.Errorf("%+v", rep.Steps)
			}
			for _, s := range rep.Steps[1:] {
				if s.Error != "" {
					t.Errorf("%s: %s", s.Kind, s.Error)
				}
			}
			if rep.Sum().Documents == 0 {
				t.Error("no page was written")
			}
			if st := r.tidy.Status(); st.Running || st.Last == nil || st.Rounds != 1 || len(st.Last.Failed()) != 1 {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// TestFailedIndexIsRepeated: the mark moves only when the index has the pages.
func TestFailedIndexIsRepeated(t *testing.T) {
	r := newRig(t)
	r.learn("豆豆|喜欢|鱼干")
	r.index.err = errors.New("made up by the test")
	if rep, err := r.tidy.Run(t.Context()); err != nil || !slices.Contains(rep.Failed(), Pages) {
		t.Fatalf("%v, %v", rep, err)
	}
	r.index.err, r.index.changed = nil, nil
	r.run()
	if len(r.index.changed) == 0 {
		t.Error("what the index missed does not come again")
	}
	r.store.err = errors.New("made up by the test")
	r.learn("豆豆|怕|雷声")
	if rep, err := r.tidy.Run(t.Context()); err != nil || len(rep.Failed()) == 0 {
		t.Errorf("a state that cannot be saved is not reported: %+v, %v", rep, err)
	}
	r.store.err = nil
	r.run()
}

func TestDamagedStateBeginsAnew(t *testing.T) {
	r := newRig(t)
	r.store.m = map[string][]byte{stateKey: []byte("{garbage")}
	r.learn("豆豆|喜欢|鱼干")
	if r.run().Sum().Documents == 0 {
		t.Error("nothing was looked at")
	}
}

// quietGraph is a graph without anything, for tests of time.
type quietGraph struct{ Graph }

func (quietGraph) Changed(_ context.Context, since int64, _ int) ([]graph.Change, int64, error) {
	return nil, since, nil
}
func (quietGraph) Due(context.Context, int) ([]graph.Pair, error) { return nil, nil }

type quietDocuments struct{ Documents }

func (quietDocuments) Cold(context.Context, time.Time, time.Duration, int) ([]document.Meta, error) {
	return nil, nil
}
func (quietDocuments) Reindex(context.Context) (document.Report, error) {
	return document.Report{}, nil
}

func quiet(t *testing.T) (*Tidy, *house, *distiller) {
	h, d := &house{}, &distiller{}
	x, err := New(Options{Graph: quietGraph{}, Documents: quietDocuments{}, Index: &index{}, House: h, Store: &store{}, Distiller: d})
	if err != nil {
		t.Fatal(err)
	}
	return x, h, d
}

func TestRoundsByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, _, d := quiet(t)
		x.Start()
		x.Start()
		began := time.Now()
		if next := x.Status().NextRun; !next.Equal(began.Add(DefaultInterval)) {
			t.Errorf("the first is due at %v", next)
		}
		<-time.After(3*DefaultInterval + time.Minute)
		synctest.Wait()
		if st := x.Status(); st.Rounds != 3 || d.runs != 3 || !st.NextRun.Equal(began.Add(4*DefaultInterval)) {
			t.Errorf("%+v, %d runs", st, d.runs)
		}
		if err := x.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := x.Close(t.Context()); err != nil {
			t.Errorf("closing twice: %v", err)
		}
		if _, err := x.Run(t.Context()); err == nil {
			t.Error("a closed one runs")
		}
	})
}

// TestWaitsForTheHouse: while a turn runs nothing is done, and no longer than
// Patience between two steps.
func TestWaitsForTheHouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, h, d := quiet(t)
		h.busy = true
		ended := make(chan Report)
		go func() {
			rep, err := x.Run(context.Background())
			if err != nil {
				t.Error(err)
			}
			ended <- rep
		}()
		<-time.After(time.Minute)
		synctest.Wait()
		if d.runs != 0 {
			t.Error("it works while a turn runs")
		}
		h.set(func(h *house) { h.busy = false })
		began := time.Now()
		<-ended
		if d.runs != 1 || time.Since(began) > time.Second {
			t.Errorf("%d runs, %v after the turn", d.runs, time.Since(began))
		}
		h.set(func(h *house) { h.busy = true }) // hangs for ever
		go func() {
			rep, err := x.Run(context.Background())
			if err != nil {
				t.Error(err)
			}
			ended <- rep
		}()
		rep := <-ended
		if len(rep.Failed()) != 0 || d.runs != 2 {
			t.Errorf("behind a turn that hangs: %+v", rep)
		}
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			_, err := x.Run(ctx)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
			ended <- Report{}
		}()
		synctest.Wait()
		cancel()
		<-ended
		if d.runs != 2 {
			t.Error("it went on after the end of its context")
		}
	})
}

func TestNewNeedsItsParts(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("made of nothing")
	}
}
