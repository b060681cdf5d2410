package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/memory/graph"
)

// lines reads records from an export's lines.
func lines(text []string) iter.Seq2[graph.Record, error] {
	return func(yield func(graph.Record, error) bool) {
		for _, l := range text {
			var r graph.Record
			err := json.Unmarshal([]byte(l), &r)
			if !yield(r, err) {
				return
			}
		}
	}
}

// full is a graph that has some of everything.
func full(t *testing.T) *graph.Graph {
	t.Helper()
	c := &clock{time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	g := openAt(t, filepath.Join(t.TempDir(), "graph.db"), c)
	ctx := context.Background()
	commit(t, g, "1", household...)
	c.t = c.t.Add(40 * 24 * time.Hour)
	learn(t, g, "小明/搬到/北京 | turn=2", "小明/喜欢/红烧肉 | turn=2", "豆豆/喜欢/骨头 | s=狗 by=qq:1", "豆豆/喜欢/画画 | s=孩子", "豆豆/在/楼下", "小李/喜欢/茶 | sid=qq:9",
		"Ann/likes/tea", "Annie/likes/tea", "Annie/says/ \"a\\b\" 👨‍👩‍👧 דוד")
	mustMerge(t, g, "Ann", "Annie")
	undone := mustMerge(t, g, "豆豆", "豆豆（2）")
	if err := g.Undo(ctx, undone); err != nil {
		t.Fatal(err)
	}
	if err := g.AddAlias(ctx, "李华", "妈妈"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Purge(ctx, graph.Criteria{Subject: "WiFi"}, false); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Purge(ctx, graph.Criteria{Subject: "car"}, true); err != nil {
		t.Fatal(err)
	}
	if n, err := g.Archive(ctx, 30); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	if err := g.Decide(ctx, entity(t, g, "小明").ID, entity(t, g, "小李").ID, graph.PairUndecided, "who knows"); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestExportAndImport(t *testing.T) {
	ctx := context.Background()
	g := full(t)
	out := dump(t, g)
	for _, kind := range []string{`{"entity":`, `{"fact":`, `{"pair":`, `{"merge":`, `"status":"forgotten"`, `"status":"archived"`,
		`"status":"past"`, `"vague":true`, `"identities":`} {
		if !slices.ContainsFunc(out, func(l string) bool { return strings.Contains(l, kind) }) {
			t.Fatalf("nothing of %s: the test is too small", kind)
		}
	}
	in := open(t)
	done, err := in.Import(ctx, lines(out))
	if err != nil || done.Skipped != 0 || done.Known != 0 || done.Entities+done.Facts+done.Pairs+done.Merges != len(out) {
		t.Fatalf("%+v of %d, %v", done, len(out), err)
	}
	same(t, "imported", dump(t, in), out)
	graph.CheckIndex(t, in)
	t.Run("twice", func(t *testing.T) {
		writes := dump(t, in)
		_, mark, err := in.Changed(ctx, 0, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		done, err := in.Import(ctx, lines(out))
		if err != nil || done.Known != len(out) || done.Skipped != 0 {
			t.Fatalf("%+v of %d, %v", done, len(out), err)
		}
		same(t, "twice", dump(t, in), writes)
		if changed, _, err := in.Changed(ctx, mark, 10); err != nil || len(changed) > 0 {
			t.Fatalf("changed %+v, %v", changed, err)
		}
	})
	t.Run("into itself", func(t *testing.T) {
		if _, err := g.Import(ctx, lines(out)); err != nil {
			t.Fatal(err)
		}
		same(t, "itself", dump(t, g), out)
	})
	t.Run("an imported merge can be undone", func(t *testing.T) {
		for _, x := range []*graph.Graph{g, in} {
			log, err := x.Merges(ctx, 10)
			if err != nil || len(log) != 1 {
				t.Fatal(log, err)
			}
			if err := x.Undo(ctx, log[0].ID); err != nil {
				t.Fatal(err)
			}
		}
		same(t, "undone", dump(t, in), dump(t, g))
	})
}

// TestImportIntoAnother: numbers differ, names and facts find each other.
func TestImportIntoAnother(t *testing.T) {
	ctx := context.Background()
	out := dump(t, full(t))
	g := open(t)
	learn(t, g, "something/is/else", "小明/喜欢/红烧肉", "奶奶/住在/天津", "小明/住在/深圳", "阿李/喜欢/酒 | sid=qq:9")
	before := texts(t, g)
	first, err := g.Import(ctx, lines(out))
	if err != nil || first.Facts == 0 || first.Known == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	now := texts(t, g)
	if !slices.Contains(now, "阿李/喜欢/茶") {
		t.Errorf("the stable id was not seen: %q", now)
	}
	for _, l := range before {
		if !slices.Contains(now, l) && !slices.Contains(now, l+" past") {
			t.Errorf("lost %q", l)
		}
	}
	homes := 0
	for _, l := range now {
		if strings.HasPrefix(l, "小明/搬到/") || strings.HasPrefix(l, "小明/住在/") {
			if !strings.HasSuffix(l, " past") {
				homes++
			}
		}
	}
	if homes != 1 {
		t.Errorf("小明 lives at %d places: %q", homes, now)
	}
	graph.CheckIndex(t, g)
	all := dump(t, g)
	second, err := g.Import(ctx, lines(out))
	if err != nil || second.Entities+second.Facts+second.Pairs+second.Merges != 0 {
		t.Fatalf("%+v, %v", second, err)
	}
	same(t, "twice", dump(t, g), all)
}

func TestImportRefuses(t *testing.T) {
	good := `{"entity":{"id":1,"name":"Ann","mentions":1,"created":"2026-03-01T08:00:00Z","updated":"2026-03-01T08:00:00Z"}}`
	for name, tt := range map[string]struct {
		line string
		want error
	}{
		"nothing":         {`{}`, graph.ErrRecord},
		"no number":       {`{"entity":{"name":"x"}}`, graph.ErrRecord},
		"no name":         {`{"entity":{"id":5,"name":" \u0000"}}`, graph.ErrRecord},
		"1 MB":            {`{"entity":{"id":5,"name":"` + strings.Repeat("x", 1<<20) + `"}}`, graph.ErrTooLong},
		"ends of nowhere": {`{"fact":{"id":1,"subject_id":1,"object_id":9,"status":"active","said":"1"}}`, graph.ErrRecord},
		"no such status":  {`{"fact":{"id":1,"subject_id":1,"object_id":1,"status":"odd","said":"1"}}`, graph.ErrRecord},
		"a confidence of 7": {`{"fact":{"id":1,"subject_id":1,"object_id":1,"status":"active","confidence":7,"said":"1"}}`,
			graph.ErrRecord},
		"half a pair":     {`{"pair":{"id":1,"a":1,"b":0,"state":"open"}}`, graph.ErrRecord},
		"a state unknown": {`{"pair":{"id":1,"a":1,"b":2,"state":"odd"}}`, graph.ErrRecord},
		"a merge of none": {`{"merge":{"id":1}}`, graph.ErrRecord},
	} {
		t.Run(name, func(t *testing.T) {
			g := open(t)
			if _, err := g.Import(context.Background(), lines([]string{good, tt.line})); !errors.Is(err, tt.want) {
				t.Fatalf("got %v", err)
			}
			if got := dump(t, g); len(got) != 0 {
				t.Fatalf("left %q", got)
			}
		})
	}
}

func TestAnExportEnds(t *testing.T) {
	g := full(t)
	stop := errors.New("enough")
	n := 0
	if err := g.Each(context.Background(), func(graph.Record) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := g.Each(ctx, func(graph.Record) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
}
