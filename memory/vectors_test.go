package memory_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"homeagent/memory/graph"
)

// TestVectors: with an embedder what is near in its vectors is found though no
// word is common, and what is forgotten leaves its vectors.
func TestVectors(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	ctx := context.Background()
	for i, text := range []string{"the greyhound sleeps under the stairs", "milk and bread are to be bought", "the boiler was repaired in May"} {
		if err := m.EndTurn(ctx, talk(i, text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	m.UseEmbedder(animals{})
	near := func() bool {
		items, err := m.RecallItems(ctx, "where is our dog", 3)
		if err != nil {
			t.Fatal(err)
		}
		return len(items) > 0 && strings.Contains(items[0].Text, "greyhound")
	}
	eventually(t, "the vectors have followed", near)

	if _, err := m.Forget(ctx, graph.Criteria{Query: "greyhound"}, true); err != nil {
		t.Fatal(err)
	}
	if near() {
		t.Error("what was forgotten is still found by its vector")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "memory", "passages.vec")); err != nil {
		t.Fatal(err)
	}
	// Without an embedder nothing keeps vectors, and a forget drops them all.
	m = open(t, dir)
	if _, err := m.Forget(ctx, graph.Criteria{Query: "boiler"}, true); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "memory", "*.vec")); err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
}

// animals is an embedder for which every animal is near every other, and
// everything else apart from them.
type animals struct{}

func (animals) Name() string { return "animals" }
func (animals) Dim() int     { return 16 }

func (animals) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, 16)
		for j := range out[i] {
			out[i][j] = 1
			if j%2 == 1 && !strings.Contains(text, "greyhound") && !strings.Contains(text, "dog") {
				out[i][j] = -1
			}
		}
	}
	return out, nil
}

// eventually waits until something holds, by asking again and again.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			t.Fatalf("not within a minute: %s", what)
		case <-tick.C:
		}
	}
}
