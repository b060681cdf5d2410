package graph

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"homeagent/agent/plugin"
)

var seed = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the simulation")

func TestBlocks(t *testing.T) {
	tests := []struct {
		name string
		ids  []int64
	}{
		{"none", nil},
		{"one", []int64{1}},
		{"neighbours", []int64{1, 2, 3, 1000, 1001}},
		{"far apart", []int64{5, 1 << 40, 1<<62 + 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decodeBlock(nil, encodeBlock(tt.ids))
			if err != nil || !slices.Equal(got, tt.ids) {
				t.Fatalf("got %v, %v", got, err)
			}
		})
	}
}

// FuzzBlock: any bytes give an error or ascending ids that are written as ids
// that read the same.
func FuzzBlock(f *testing.F) {
	f.Add(encodeBlock([]int64{1, 2, 300, 1 << 40}))
	f.Add([]byte{0})
	f.Add([]byte{1, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		ids, err := decodeBlock(nil, b)
		if err != nil {
			return
		}
		if !slices.IsSorted(ids) || len(ids) > 0 && ids[0] <= 0 {
			t.Fatalf("ids %v", ids)
		}
		again, err := decodeBlock(nil, encodeBlock(ids))
		if err != nil || !slices.Equal(ids, again) {
			t.Fatalf("%v, then %v, %v", ids, again, err)
		}
	})
}

// TestIndexAgainstTheRows commits, purges and renames at random, and after
// each round holds the postings against the terms of the rows themselves.
func TestIndexAgainstTheRows(t *testing.T) {
	t.Logf("seed %d (repeat with -seed)", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 3))
	g, _, err := Open(filepath.Join(t.TempDir(), "graph.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ctx := context.Background()
	word := func(n int) string { return fmt.Sprintf("word%d", rnd.IntN(n)) }
	for round := range 15 {
		var batch []plugin.Triple
		for range rnd.IntN(250) {
			// The relation is in nearly every fact: its postings fill several blocks.
			batch = append(batch, plugin.Triple{Subject: word(60), Relation: "holds", Object: word(3000) + " 门" + word(5)})
		}
		if _, err := g.Commit(ctx, batch, Origin{Source: fmt.Sprint(round)}); err != nil {
			t.Fatal(err)
		}
		name := word(60)
		if err := g.AddAlias(ctx, name, word(60)+" alias"); err != nil && round > 2 {
			t.Logf("no entity %s yet", name)
		}
		if _, err := g.Purge(ctx, Criteria{Subject: word(60)}, round%2 == 0); err != nil {
			t.Fatal(err)
		}
		if round%5 == 4 {
			if _, err := g.Purge(ctx, Criteria{Source: fmt.Sprint(rnd.IntN(round))}, round%2 == 0); err != nil {
				t.Fatal(err)
			}
		}
		blocks, terms := CheckIndex(t, g)
		if round == 14 && blocks <= terms {
			t.Fatal("no term fills more than a block: the test is too small")
		}
	}
}

// CheckIndex reads the whole index and compares it with the rows.
func CheckIndex(t testing.TB, g *Graph) (blocks, n int) {
	t.Helper()
	ctx := context.Background()
	want := map[posting][]int64{}
	add := func(kind int, id int64, terms []string) {
		for _, term := range terms {
			p := posting{term, kind}
			if n := len(want[p]); n == 0 || want[p][n-1] != id { // ids come in order
				want[p] = append(want[p], id)
			}
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(each(ctx, g.read, `SELECT r.id, s.name, r.relation_type, t.name FROM relations r JOIN entities s ON s.id = r.source_id
		JOIN entities t ON t.id = r.target_id WHERE r.status <> 'forgotten' ORDER BY r.id`, func(rows *sql.Rows) error {
		var id int64
		var s, r, o string
		err := rows.Scan(&id, &s, &r, &o)
		add(kindFact, id, factTerms(s, r, o))
		return err
	}))
	must(each(ctx, g.read, "SELECT entity_id, alias FROM aliases ORDER BY entity_id", func(rows *sql.Rows) error {
		var id int64
		var alias string
		err := rows.Scan(&id, &alias)
		add(kindEntity, id, nameTerms(alias))
		return err
	}))
	got := map[posting][]int64{}
	must(each(ctx, g.read, `SELECT t.term, t.kind, t.df, p.first, p.ids FROM terms t
		JOIN postings p ON p.term_id = t.id ORDER BY t.id, p.first`, func(rows *sql.Rows) error {
		var p posting
		var df int
		var first int64
		var b []byte
		if err := rows.Scan(&p.term, &p.kind, &df, &first, &b); err != nil {
			return err
		}
		ids, err := decodeBlock(nil, b)
		if len(ids) == 0 || len(ids) > blockSize || ids[0] != first {
			t.Fatalf("block %d of %q has %d ids", first, p.term, len(ids))
		}
		blocks++
		got[p] = append(got[p], ids...)
		if df != len(want[p]) {
			t.Fatalf("%q is said to be in %d, is in %d", p.term, df, len(want[p]))
		}
		return err
	}))
	if len(got) != len(want) {
		t.Fatalf("%d terms, want %d", len(got), len(want))
	}
	for p, ids := range want {
		if !slices.Equal(got[p], ids) {
			t.Fatalf("%q: %v, want %v", p.term, got[p], ids)
		}
	}
	var terms int
	must(g.read.QueryRow("SELECT count(*) FROM terms").Scan(&terms))
	if terms != len(want) {
		t.Fatalf("%d terms kept, %d in use", terms, len(want))
	}
	return blocks, len(want)
}

// TestSumsAgainstAMap: the array of scores ranks as a map would.
func TestSumsAgainstAMap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(*seed, 4))
	for range 50 {
		s := newSums(200)
		m := map[int64]float32{}
		for range 1 + rnd.IntN(6) {
			var ids []int64
			for id := range int64(200) {
				if rnd.IntN(4) == 0 {
					ids = append(ids, id+1)
				}
			}
			w := float32(1+rnd.IntN(3)) / 4
			s.add(ids, w)
			for _, id := range ids {
				m[id] += w
			}
		}
		s.add([]int64{1 << 40}, 1) // committed since: left out
		var want []hit
		for id, w := range m {
			want = append(want, hit{id, float64(w)})
		}
		slices.SortFunc(want, compare)
		for _, n := range []int{0, 1, 10, 500} {
			if got := s.best(n); !slices.Equal(got, want[:min(n, len(want))]) {
				t.Fatalf("best %d: %v", n, got)
			}
		}
		s.release()
	}
}
