package embedtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"homeagent/memory/embed"
)

// Run holds an embedder that works against what the interface promises.
func Run(t *testing.T, make func(t *testing.T) embed.Embedder) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, e embed.Embedder)
	}{
		{"a name", named}, {"length", length}, {"order", order}, {"nothing to do", nothing}, {"odd texts", odd},
		{"a context that has ended", ended}, {"many texts", many}, {"several at once", several},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, make(t)) })
	}
}

func named(t *testing.T, e embed.Embedder) {
	if n := e.Name(); n == "" || n != e.Name() || strings.ContainsAny(n, "\n\x00") {
		t.Errorf("name %q", n)
	}
}

// check embeds and looks at each vector.
func check(t *testing.T, e embed.Embedder, texts []string) [][]float32 {
	t.Helper()
	out, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(out), len(texts))
	}
	for i, v := range out {
		if len(v) != e.Dim() {
			t.Fatalf("text %d: %d dimensions, Dim says %d", i, len(v), e.Dim())
		}
		if l := cosine(v, v); math.Abs(l-1) > 1e-3 && l != 0 {
			t.Fatalf("text %d: the length is %v", i, math.Sqrt(l))
		}
	}
	return out
}

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func length(t *testing.T, e embed.Embedder) {
	check(t, e, []string{"the key is under the mat"})
	if d := e.Dim(); d < 1 || d > embed.MaxDim {
		t.Errorf("Dim %d after an answer", d)
	}
}

func order(t *testing.T, e embed.Embedder) {
	texts := []string{"the spare key is under the mat", "备用钥匙放在门垫下面", "we bought a red bicycle"}
	all := check(t, e, texts)
	for i, text := range texts {
		one := check(t, e, []string{text})[0]
		if c := cosine(one, all[i]); c < 0.999 {
			t.Errorf("text %d: alone it is another, cosine %v", i, c)
		}
	}
	if c := cosine(all[0], all[2]); c > 0.999 {
		t.Error("different texts give the same vector")
	}
}

func nothing(t *testing.T, e embed.Embedder) {
	if out, err := e.Embed(t.Context(), nil); err != nil || len(out) != 0 {
		t.Errorf("%v, %v", out, err)
	}
}

func odd(t *testing.T, e embed.Embedder) {
	check(t, e, []string{"", " ", "a\x00b\xff", "👨‍👩‍👧", strings.Repeat("门垫 key ", 20000), "\"quotes\"\n{}"})
}

func ended(t *testing.T, e embed.Embedder) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func many(t *testing.T, e embed.Embedder) {
	var texts []string
	for i := range 200 {
		texts = append(texts, fmt.Sprintf("room %d has lamp %d", i, 7*i))
	}
	all := check(t, e, texts)
	last := check(t, e, texts[199:])[0]
	if c := cosine(last, all[199]); c < 0.999 {
		t.Errorf("the last of many is another, cosine %v", c)
	}
}

func several(t *testing.T, e embed.Embedder) {
	want := check(t, e, []string{"a lamp"})[0]
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := e.Embed(t.Context(), []string{"a lamp"})
			if err != nil || len(got) != 1 || !slices.Equal(got[0], want) {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
}
