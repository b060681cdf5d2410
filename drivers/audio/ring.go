package audio

import "sync/atomic"

// ring is a queue of samples between one goroutine that pushes and one that
// pops, without locks: the callback of a sound device may be either.
type ring struct {
	buf  []int16
	r, w atomic.Uint64 // samples popped and pushed since the beginning
	cut  atomic.Uint64 // what was pushed before this is to be dropped
}

// newRing holds at least n samples.
func newRing(n int) *ring {
	size := 1
	for size < n {
		size *= 2
	}
	return &ring{buf: make([]int16, size)}
}

// push appends what fits and returns how much that was. Only the pushing side
// calls it.
func (q *ring) push(src []int16) int {
	r, w := q.r.Load(), q.w.Load()
	n := min(len(src), len(q.buf)-int(w-r))
	at := int(w) & (len(q.buf) - 1)
	k := copy(q.buf[at:], src[:n])
	copy(q.buf, src[k:n])
	q.w.Store(w + uint64(n))
	return n
}

// pop takes up to len(dst) samples and returns how many. Only the popping side
// calls it.
func (q *ring) pop(dst []int16) int {
	w := q.w.Load() // before cut: a cut never lies beyond it
	r := max(q.r.Load(), min(q.cut.Load(), w))
	n := min(len(dst), int(w-r))
	at := int(r) & (len(q.buf) - 1)
	k := copy(dst[:n], q.buf[at:])
	copy(dst[k:n], q.buf)
	q.r.Store(r + uint64(n))
	return n
}

// drop marks all that is queued now to be thrown away by the next pop. Any
// goroutine may call it.
func (q *ring) drop() {
	for w := q.w.Load(); ; {
		c := q.cut.Load()
		if c >= w || q.cut.CompareAndSwap(c, w) {
			return
		}
	}
}

// queued is the number of samples waiting. Any goroutine may call it.
func (q *ring) queued() int {
	r := max(q.r.Load(), q.cut.Load()) // before w: it only grows
	return int(max(q.w.Load(), r) - r)
}
