package audio

import (
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// Any series of operations gives what a plain slice would give.
func TestRingModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newRing(rapid.IntRange(1, 40).Draw(t, "size"))
		var model []int16
		held := 0 // what was dropped gives its room back with the next pop
		next := int16(0)
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				src := make([]int16, rapid.IntRange(0, 80).Draw(t, "n"))
				for i := range src {
					src[i] = next
					next++
				}
				n := q.push(src)
				if want := min(len(src), len(q.buf)-held); n != want {
					t.Fatalf("took %d of %d, want %d", n, len(src), want)
				}
				model = append(model, src[:n]...)
				held += n
				next -= int16(len(src) - n)
			},
			"pop": func(t *rapid.T) {
				dst := make([]int16, rapid.IntRange(0, 80).Draw(t, "n"))
				n := q.pop(dst)
				if want := min(len(dst), len(model)); n != want || !slices.Equal(dst[:n], model[:n]) {
					t.Fatalf("popped %v, want %v", dst[:n], model[:want])
				}
				model = model[n:]
				held = len(model)
			},
			"drop": func(*rapid.T) { q.drop(); model = nil },
			"": func(t *rapid.T) {
				if q.queued() != len(model) {
					t.Fatalf("%d queued, want %d", q.queued(), len(model))
				}
			},
		})
	})
}

// Two goroutines and a third that drops: what comes out is in order, whole
// where nothing was dropped.
func TestRingConcurrent(t *testing.T) {
	const total = 200_000
	for _, dropping := range []bool{false, true} {
		q := newRing(256)
		var wg sync.WaitGroup
		end := make(chan struct{})
		wg.Go(func() {
			src := make([]int16, 100)
			for sent := 0; sent < total; {
				n := min(len(src), total-sent)
				for i := range n {
					src[i] = int16((sent + i) % 30_000)
				}
				sent += q.push(src[:n])
			}
			close(end)
		})
		if dropping {
			wg.Go(func() {
				for {
					select {
					case <-end:
						return
					default:
						q.drop()
					}
				}
			})
		}
		got, last := 0, -1
		dst := make([]int16, 64)
		for over := false; !over || q.queued() > 0; {
			select {
			case <-end:
				over = true
			default:
			}
			n := q.pop(dst)
			for _, v := range dst[:n] {
				step := (int(v) - last + 30_000) % 30_000
				if step == 0 || !dropping && step != 1 {
					t.Fatalf("%d follows %d", v, last)
				}
				last = int(v)
			}
			got += n
		}
		wg.Wait()
		if !dropping && got != total {
			t.Errorf("%d of %d came out", got, total)
		}
	}
}
