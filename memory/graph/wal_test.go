package graph_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"homeagent/agent/plugin"
	"homeagent/memory/disk"
	"homeagent/memory/graph"
)

// moment is the log's length when something had been acknowledged, and all
// that the graph held then.
type moment struct {
	size int
	dump []string
}

// recorded plays a short life of a graph whose log is not moved into the file,
// and returns the file as it was at its beginning, the log, and the moments.
func recorded(t *testing.T) (file, log []byte, moments []moment) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graph.db")
	openAt(t, path, nil).Close()
	g := openAt(t, path, nil)
	if err := g.KeepLog(); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	read := func(name string) []byte {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	file = read(path)
	mark := func() { moments = append(moments, moment{len(read(path + "-wal")), dump(t, g)}) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		mark()
	}
	mark()
	for _, l := range []string{"Ann/likes/tea", "Annie/likes/tea", "Ann/lives in/Rome", "Ann/moved to/Paris", "豆豆/喜欢/骨头 | s=狗",
		"豆豆/喜欢/画画 | s=孩子"} {
		learn(t, g, l)
		mark()
	}
	id := mustMerge(t, g, "Ann", "Annie")
	mark()
	gone, err := g.Purge(ctx, graph.Criteria{Object: "tea"}, false)
	must(err)
	must(g.Undo(ctx, id))
	_, err = g.Restore(ctx, gone[0].ID)
	must(err)
	must(g.Decide(ctx, entity(t, g, "Ann").ID, entity(t, g, "Annie").ID, graph.PairUndecided, ""))
	return file, read(path + "-wal"), moments
}

// TestTheLogIsCutAnywhere replays every prefix of the log, cut between pages
// and within them, with nothing, zeros or noise behind it: what is there is
// exactly what had been acknowledged by then.
func TestTheLogIsCutAnywhere(t *testing.T) {
	file, log, moments := recorded(t)
	const frame = 24 + 4096 // of the log, behind its header of 32 bytes
	noise := bytes.Repeat([]byte{0xa5, 0x13, 0x0d, 0xff}, frame/4)
	var cuts []int
	for at := 32; at <= len(log); at += frame {
		for _, d := range []int{-1, 0, 2000} {
			if c := at + d; c >= 0 && c <= len(log) {
				cuts = append(cuts, c)
			}
		}
	}
	for _, m := range moments {
		cuts = append(cuts, m.size)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	path := filepath.Join(t.TempDir(), "graph.db")
	for i, cut := range cuts {
		tail := [][]byte{nil, make([]byte, frame), noise}[i%3]
		for name, b := range map[string][]byte{path: file, path + "-wal": append(slices.Clone(log[:cut]), tail...),
			path + "-shm": noise[:i%2*64]} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		g, notice, err := graph.Open(path, graph.Options{})
		if err != nil || notice != nil {
			t.Fatalf("cut at %d of %d: %+v, %v", cut, len(log), notice, err)
		}
		want := moments[0].dump
		for _, m := range moments {
			if m.size <= cut {
				want = m.dump
			}
		}
		same(t, fmt.Sprintf("cut at %d of %d", cut, len(log)), dump(t, g), want)
		if i%7 == 0 {
			graph.CheckIndex(t, g)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(cuts) < 100 {
		t.Fatalf("only %d cuts: the life is too short", len(cuts))
	}
}

// TestADamagedLog: noise in the middle ends the log there; what came before it
// is kept. A log that is another's is not applied.
func TestADamagedLog(t *testing.T) {
	file, log, moments := recorded(t)
	rows := func(log, shm []byte) []string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "graph.db")
		for name, b := range map[string][]byte{path: file, path + "-wal": log, path + "-shm": shm} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		g, notice, err := graph.Open(path, graph.Options{})
		if err != nil || notice != nil {
			t.Fatalf("%+v, %v", notice, err)
		}
		defer g.Close()
		graph.CheckIndex(t, g)
		return dump(t, g)
	}
	last := moments[len(moments)-1].dump
	half := bytes.Clone(log)
	at := moments[3].size + 500 // within what came after the third
	half[at] ^= 0xff
	foreign := bytes.Clone(log)
	copy(foreign[16:], "otherlog") // the salt of the frames does not fit any more
	for name, tt := range map[string]struct {
		log, shm []byte
		want     []string
	}{
		"whole":           {log, nil, last},
		"noise in shm":    {log, bytes.Repeat([]byte("noise"), 7000), last},
		"one bit":         {half, nil, moments[3].dump},
		"another's":       {foreign, nil, moments[0].dump},
		"text":            {[]byte("this is no log"), nil, moments[0].dump},
		"zeros":           {make([]byte, len(log)), nil, moments[0].dump},
		"empty":           {nil, nil, moments[0].dump},
		"header and text": {append(bytes.Clone(log[:32]), "this is no frame"...), nil, moments[0].dump},
	} {
		t.Run(name, func(t *testing.T) { same(t, name, rows(tt.log, tt.shm), tt.want) })
	}
}

// TestTheFileIsFullAtEveryPage: with room for n pages more, for every n, a
// step is taken whole or not at all, and what was there stays.
func TestTheFileIsFullAtEveryPage(t *testing.T) {
	ctx := context.Background()
	steps := []func(*graph.Graph) error{
		func(g *graph.Graph) error {
			var batch []plugin.Triple
			for i := range 40 {
				batch = append(batch, plugin.Triple{Subject: fmt.Sprintf("thing%d", i), Relation: "lies beside",
					Object: fmt.Sprintf("another thing %d of many words", i)})
			}
			_, err := g.Commit(ctx, batch, graph.Origin{})
			return err
		},
		func(g *graph.Graph) error {
			a, err := g.Find(ctx, "小明", 1)
			if err != nil {
				return err
			}
			b, err := g.Find(ctx, "李华", 1)
			if err != nil {
				return err
			}
			_, err = g.Merge(ctx, a[0].ID, b[0].ID, "")
			return err
		},
		func(g *graph.Graph) error {
			_, err := g.Import(ctx, lines([]string{
				`{"entity":{"id":5000,"name":"一个新名字","mentions":1,"created":"2026-03-01T08:00:00Z","updated":"2026-03-01T08:00:00Z"}}`}))
			return err
		},
	}
	good := sound(t)
	for i, step := range steps {
		for room := 0; ; room++ {
			path := filepath.Join(t.TempDir(), "graph.db")
			if err := os.WriteFile(path, good, 0o600); err != nil {
				t.Fatal(err)
			}
			g := openAt(t, path, nil)
			before := dump(t, g)
			if err := g.LimitPages(room); err != nil {
				t.Fatal(err)
			}
			err := step(g)
			if err != nil && !disk.IsFull(err) {
				t.Fatalf("step %d, %d pages: %v", i, room, err)
			}
			if err != nil {
				same(t, fmt.Sprintf("step %d, %d pages", i, room), dump(t, g), before)
			}
			g.Close()
			g = openAt(t, path, nil)
			graph.CheckIndex(t, g)
			if got := dump(t, g); (err == nil) == slices.Equal(got, before) {
				t.Fatalf("step %d, %d pages: %v, and changed is %v", i, room, err, !slices.Equal(got, before))
			}
			g.Close()
			if err == nil {
				break
			}
		}
	}
}
