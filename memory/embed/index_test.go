package embed

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// point is a vector of a theme with noise: near ones share the theme.
func point(rnd *rand.Rand, dim, theme int) []float32 {
	v := make([]float32, dim)
	base := rand.New(rand.NewPCG(uint64(theme), 7))
	for i := range v {
		v[i] = float32(base.NormFloat64() + 0.7*rnd.NormFloat64())
	}
	Normalize(v)
	return v
}

func open(t testing.TB, path string, dim int) (*Index, *Notice) {
	t.Helper()
	x, notice, err := Open(path, dim, "test/1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x, notice
}

// exact are the k nearest by float arithmetic.
func exact(all map[string][]float32, q []float32, k int) []string {
	type near struct {
		id string
		s  float64
	}
	var list []near
	for id, v := range all {
		var s float64
		for i := range v {
			s += float64(v[i]) * float64(q[i])
		}
		list = append(list, near{id, s})
	}
	slices.SortFunc(list, func(a, b near) int {
		if a.s > b.s {
			return -1
		}
		return 1
	})
	var ids []string
	for _, n := range list[:min(k, len(list))] {
		ids = append(ids, n.id)
	}
	return ids
}

// recallOf is the share of the exact answers that were found.
func recallOf(t testing.TB, x *Index, all map[string][]float32, queries [][]float32, k int) float64 {
	t.Helper()
	hit, of := 0, 0
	for _, q := range queries {
		got, err := x.Nearest(t.Context(), q, k)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range exact(all, q, k) {
			of++
			if slices.ContainsFunc(got, func(m Match) bool { return m.ID == id }) {
				hit++
			}
		}
	}
	return float64(hit) / float64(of)
}

// TestAgainstAMap puts, replaces, removes and opens again in random order, and
// then finds what a plain map finds.
func TestAgainstAMap(t *testing.T) {
	const seed, dim = 11, 100 // no multiple of 64
	rnd := rand.New(rand.NewPCG(seed, 1))
	path := filepath.Join(t.TempDir(), "v")
	x, _ := open(t, path, dim)
	all := map[string][]float32{}
	for step := range 4000 {
		id := fmt.Sprintf("id%d", rnd.IntN(1500))
		switch rnd.IntN(10) {
		case 0, 1, 2:
			if err := x.Remove(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			delete(all, id)
		case 3:
			if step%10 != 0 {
				continue
			}
			if err := errors.Join(x.Sync(t.Context(), int64(step)), x.Close()); err != nil {
				t.Fatal(err)
			}
			var notice *Notice
			if x, notice = open(t, path, dim); notice != nil || x.Mark() != int64(step) {
				t.Fatalf("%+v, mark %d", notice, x.Mark())
			}
		default:
			v := point(rnd, dim, rnd.IntN(8))
			if err := x.Put(t.Context(), Entry{ID: id, Sum: uint64(step), Vector: v}); err != nil {
				t.Fatal(err)
			}
			all[id] = v
			if sum, ok, err := x.Sum(t.Context(), id); sum != uint64(step) || !ok || err != nil {
				t.Fatalf("sum %d, %v, %v", sum, ok, err)
			}
		}
		if x.Len() != len(all) {
			t.Fatalf("step %d: %d vectors, want %d", step, x.Len(), len(all))
		}
	}
	var queries [][]float32
	for range 40 {
		queries = append(queries, point(rnd, dim, rnd.IntN(8)))
	}
	if r := recallOf(t, x, all, queries, 10); r < 0.95 {
		t.Errorf("recall %v", r)
	}
	for id, v := range all {
		if got, err := x.Nearest(t.Context(), v, 1); err != nil || got[0].ID != id || got[0].Score < 0.99 {
			t.Fatalf("%s: %v, %v", id, got, err)
		}
		break
	}
}

func TestBadCalls(t *testing.T) {
	x, _ := open(t, filepath.Join(t.TempDir(), "v"), 4)
	ctx := t.Context()
	v := []float32{1, 0, 0, 0}
	nan := []float32{1, 0, 0, 0}
	nan[2] /= 0 * nan[1]
	rows := []struct {
		name string
		err  error
		want error
	}{
		{"length", x.Put(ctx, Entry{ID: "a", Vector: v[:3]}), ErrDim},
		{"no id", x.Put(ctx, Entry{Vector: v}), ErrID},
		{"long id", x.Put(ctx, Entry{ID: string(make([]byte, MaxID+1)), Vector: v}), ErrID},
		{"longest id", x.Put(ctx, Entry{ID: string(make([]byte, MaxID)), Vector: v}), nil},
		{"zero vector", x.Put(ctx, Entry{ID: "z", Vector: make([]float32, 4)}), nil},
		{"no number", x.Put(ctx, Entry{ID: "z", Vector: nan}), nil},
		{"unknown id", x.Remove(ctx, "nobody"), nil},
	}
	for _, r := range rows {
		if !errors.Is(r.err, r.want) {
			t.Errorf("%s: %v", r.name, r.err)
		}
	}
	if x.Len() != 1 {
		t.Errorf("%d vectors", x.Len())
	}
	if _, err := x.Nearest(ctx, v[:3], 1); !errors.Is(err, ErrDim) {
		t.Error(err)
	}
	for _, q := range [][]float32{make([]float32, 4), nan} {
		if got, err := x.Nearest(ctx, q, 1); err != nil || len(got) > 0 {
			t.Errorf("%v, %v", got, err)
		}
	}
	if got, err := x.Nearest(ctx, v, 100000); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	x.Close()
	if _, err := x.Nearest(ctx, v, 1); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	for _, dim := range []int{0, MaxDim + 1} {
		if _, _, err := Open(filepath.Join(t.TempDir(), "v"), dim, "test"); err == nil {
			t.Errorf("%d dimensions", dim)
		}
	}
}

// TestFiles: whatever lies in the file's place, the index opens, and what it
// has is sound.
func TestFiles(t *testing.T) {
	const dim = 64
	rnd := rand.New(rand.NewPCG(3, 3))
	whole := filepath.Join(t.TempDir(), "whole")
	x, _ := open(t, whole, dim)
	for i := range 600 {
		if err := x.Put(t.Context(), Entry{ID: fmt.Sprint(i), Vector: point(rnd, dim, i%8)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(x.Sync(t.Context(), 42), x.Close()); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	l := newLayout(dim)
	changed := func(at int64) []byte {
		b := slices.Clone(good)
		b[at] ^= 0x40
		return b
	}
	rows := []struct {
		name    string
		content []byte
		dim     int
		left    int
		mark    int64
		notice  bool
	}{
		{"whole", good, dim, 600, 42, false},
		{"empty", nil, dim, 0, 0, false},
		{"garbage", []byte("not a file of vectors"), dim, 0, 0, true},
		{"a page of garbage", slices.Repeat([]byte{7}, 2*page), dim, 0, 0, true},
		{"cut in the title", good[:100], dim, 0, 0, true},
		{"title damaged", changed(20), dim, 0, 0, true},
		{"another length", good, 65, 0, 0, false},
		{"marks cut off", good[:page], dim, 0, 0, false},
		{"mark damaged", changed(2*page + 9), dim, 600, 0, false},
		{"a head damaged", changed(l.headAt(5) + 14), dim, 599, 0, true},
		{"a record damaged", changed(l.recordAt(5) + recordFixed), dim, 600, 42, false},
		{"cut in the heads", good[:l.headAt(3)+2], dim, 3, 42, false},
		{"cut in the records", good[:l.recordAt(300)], dim, 512, 42, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "v")
			if err := os.WriteFile(path, r.content, 0o600); err != nil {
				t.Fatal(err)
			}
			x, notice := open(t, path, r.dim)
			if x.Len() != r.left || x.Mark() != r.mark || (notice != nil) != r.notice {
				t.Errorf("%d vectors, mark %d, %+v", x.Len(), x.Mark(), notice)
			}
			if _, err := x.Nearest(t.Context(), point(rnd, r.dim, 1), 10); err != nil {
				t.Error(err)
			}
			if err := x.Put(t.Context(), Entry{ID: "new", Vector: point(rnd, r.dim, 1)}); err != nil {
				t.Error(err)
			}
		})
	}
	if _, _, err := Open(t.TempDir(), dim, "test/1"); err == nil {
		t.Error("a folder is opened")
	}
	if x, _, err := Open(whole, dim, "test/2"); err != nil || x.Len() != 0 {
		t.Errorf("another embedder: %v", err)
	} else {
		x.Close()
	}
}

// faulty is a file that fails at the nth write or sync, which it does by half.
type faulty struct {
	*os.File
	left int
}

func (f *faulty) WriteAt(b []byte, at int64) (int, error) {
	if f.left--; f.left < 0 {
		f.File.WriteAt(b[:len(b)/2], at)
		return len(b) / 2, syscall.ENOSPC
	}
	return f.File.WriteAt(b, at)
}

func (f *faulty) Sync() error {
	if f.left--; f.left < 0 {
		return io.ErrClosedPipe
	}
	return nil
}

// TestFailingDisk: a write that fails at any point leaves every other vector, and
// the mark tells of none that is not there.
func TestFailingDisk(t *testing.T) {
	const dim = 64
	rnd := rand.New(rand.NewPCG(5, 5))
	var vectors [][]float32
	for i := range 12 {
		vectors = append(vectors, point(rnd, dim, i))
	}
	for n := 0; ; n++ {
		path := filepath.Join(t.TempDir(), "v")
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		x, _, err := openFile(&faulty{f, n}, dim, "test/1", f.Truncate)
		done := 0
		for err == nil && done < 12 {
			if err = x.Put(t.Context(), Entry{ID: fmt.Sprint(done % 8), Sum: uint64(done), Vector: vectors[done]}); err == nil {
				if err = x.Sync(t.Context(), int64(done+1)); err == nil {
					done++
				}
			}
		}
		f.Close()
		y, notice := open(t, path, dim)
		if notice == nil && y.Mark() > int64(done+1) {
			t.Fatalf("fault %d: mark %d after %d", n, y.Mark(), done)
		}
		for i := range done {
			sum, ok, serr := y.Sum(t.Context(), fmt.Sprint(i%8))
			// The one that was being replaced may be gone or new.
			if serr != nil || (!ok || sum < uint64(i)) && i%8 != done%8 {
				t.Fatalf("fault %d after %d: vector %d: %d, %v, %v", n, done, i, sum, ok, serr)
			}
		}
		if done == 12 {
			break
		}
		if n > 200 {
			t.Fatal("it never ends well")
		}
	}
}

func TestSeveralAtOnce(t *testing.T) {
	const dim = 64
	x, _ := open(t, filepath.Join(t.TempDir(), "v"), dim)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 1))
			for i := range 100 {
				id := fmt.Sprint(rnd.IntN(300))
				err := x.Put(t.Context(), Entry{ID: id, Vector: point(rnd, dim, i%8)})
				if err == nil {
					_, err = x.Nearest(t.Context(), point(rnd, dim, i%8), 5)
				}
				if err == nil && i%7 == 0 {
					err = errors.Join(x.Remove(t.Context(), id), x.Sync(t.Context(), int64(i)))
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// FuzzOpen: any bytes open, and searching them does no harm.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "v")
	x, _ := open(f, path, 8)
	for i := range 3 {
		if err := x.Put(f.Context(), Entry{ID: fmt.Sprint(i), Vector: []float32{1, 2, 3, float32(i), 5, 6, 7, 8}}); err != nil {
			f.Fatal(err)
		}
	}
	x.Close()
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, uint16(0), byte(0))
	f.Add(good, uint16(3*page+3), byte(9))
	f.Add([]byte("x"), uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, b []byte, at uint16, flip byte) {
		if int(at) < len(b) {
			b = slices.Clone(b)
			b[at] ^= flip
		}
		path := filepath.Join(t.TempDir(), "v")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		x, _ := open(t, path, 8)
		if _, err := x.Nearest(t.Context(), []float32{1, 2, 3, 4, 5, 6, 7, 8}, 3); err != nil {
			t.Fatal(err)
		}
	})
}

// BenchmarkNearest measures 100,000 vectors of the usual lengths; recall is that
// of the first ten against float arithmetic.
func BenchmarkNearest(b *testing.B) {
	for _, dim := range []int{256, 384, 768} {
		b.Run(fmt.Sprint(dim), func(b *testing.B) {
			rnd := rand.New(rand.NewPCG(1, 2))
			x, _ := open(b, filepath.Join(b.TempDir(), "v"), dim)
			all := map[string][]float32{}
			for i := range 100_000 {
				id := fmt.Sprint(i)
				all[id] = point(rnd, dim, rnd.IntN(3000))
				if err := x.Put(b.Context(), Entry{ID: id, Vector: all[id]}); err != nil {
					b.Fatal(err)
				}
			}
			var queries [][]float32
			for range 20 {
				queries = append(queries, point(rnd, dim, rnd.IntN(3000)))
			}
			recall := recallOf(b, x, all, queries, 10)
			i := 0
			for b.Loop() {
				if _, err := x.Nearest(b.Context(), queries[i%len(queries)], 10); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(recall, "recall@10")
		})
	}
}
