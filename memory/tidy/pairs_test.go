package tidy

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"homeagent/memory/document"
	"homeagent/memory/graph"
)

// noPages takes pages and keeps none.
type noPages struct{ quietDocuments }

func (noPages) ForEntities(context.Context, []document.Page) ([]string, error) { return nil, nil }
func (noPages) Delete(context.Context, string) error                           { return nil }

// TestNamesOfTheTable tells the graph nothing of the table's pairs but that
// both names exist. Then nobody may be merged but spellings that the graph itself
// takes for one; what a reader calls the same or wants to be asked about is listed.
func TestNamesOfTheTable(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "bench", "entity_zh", "pairs.tsv"))
	if os.IsNotExist(err) {
		t.Skip("pairs.tsv is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	listed, rows := 0, 0
	for s := bufio.NewScanner(f); s.Scan(); {
		c := strings.Split(s.Text(), "\t")
		if len(c) != 5 || strings.HasPrefix(c[0], "#") || c[0] == c[1] {
			continue
		}
		rows++
		r := newRig(t, func(o *Options) { o.Documents = noPages{} })
		r.learn(c[0]+"|喜欢|茶", c[1]+"|喜欢|咖啡")
		if c[4] == "group card is user-set: alias only" {
			if err := r.g.AddAlias(t.Context(), c[0], c[1]); err != nil {
				t.Fatal(err)
			}
		}
		r.run()
		a, b := r.id(c[0]), r.id(c[1])
		if m := r.merges(); len(m) != 0 {
			t.Errorf("%s / %s: merged without a word that says so: %v", c[0], c[1], m)
		}
		if a == b && a != 0 {
			if c[3] == "diff" {
				t.Errorf("%s / %s are one in the graph", c[0], c[1])
			}
			continue // the graph compares spellings itself
		}
		open, err := r.g.Pairs(t.Context(), graph.PairOpen, 10)
		if err != nil {
			t.Fatal(err)
		}
		in := slices.ContainsFunc(open, func(p graph.Pair) bool { return coupleOf(p.A.ID, p.B.ID) == coupleOf(a, b) })
		if in {
			listed++
		}
		if !in && c[3] != "diff" {
			t.Errorf("%s / %s (%s) is not listed", c[0], c[1], c[3])
		}
		r.g.Close()
		r.docs.Close()
	}
	if rows == 0 {
		t.Error("the table is empty")
	}
	t.Logf("%d pairs of unlike spelling, %d listed", rows, listed)
}

// id is the entity that a name leads to.
func (r *rig) id(name string) int64 {
	r.t.Helper()
	found, err := r.g.Find(r.t.Context(), name, 1)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(found) == 0 {
		return 0
	}
	return found[0].ID
}
