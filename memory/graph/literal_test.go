package graph

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"homeagent/agent/plugin"
)

func TestEraseLiteral(t *testing.T) {
	g, _, err := Open(filepath.Join(t.TempDir(), "graph.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ctx := context.Background()
	var facts []plugin.Triple
	for i := range 2*literalBatch + 10 {
		f := plugin.Triple{Subject: fmt.Sprint("shelf", i), Relation: "holds", Object: fmt.Sprint("book", i)}
		if i%3 == 0 {
			f.Object = fmt.Sprintf("xylophone%d", i) // no word is "lophone"
		}
		facts = append(facts, f)
	}
	if _, err := g.Commit(ctx, facts, Origin{}); err != nil {
		t.Fatal(err)
	}
	fits := func(s string) bool { return strings.Contains(s, "lophone") }
	gone, err := g.EraseLiteral(ctx, fits)
	if want := (len(facts) + 2) / 3; err != nil || len(gone) != want {
		t.Fatalf("erased %d of %d, %v", len(gone), want, err)
	}
	err = g.Each(ctx, func(r Record) error {
		if r.Entity != nil && fits(r.Entity.Name) || r.Fact != nil && fits(r.Fact.Object) {
			t.Errorf("left: %+v", r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if gone, err := g.EraseLiteral(ctx, fits); err != nil || len(gone) != 0 {
		t.Fatalf("a second time %d, %v", len(gone), err)
	}
}
