package embed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Match is a vector that was found.
type Match struct {
	ID string
	// Score is the cosine, -1 to 1, with an error of some thousandths.
	Score float64
}

const (
	// maxMatches bounds k.
	maxMatches = 1000
	// leastCandidates are read from the file whatever k is, perMatch for each of k;
	// twice as many where a sketch has fewer than roughBits, since it tells less.
	// Each is a read at another place: of a cold file on a card 0.3 ms.
	leastCandidates, perMatch, roughBits = 200, 10, 512
)

// candidatesFor is how many vectors are read for k matches.
func (l layout) candidatesFor(k int) int {
	n := max(leastCandidates, perMatch*k)
	if l.dim < roughBits {
		n *= 2
	}
	return n
}

// Nearest returns the at most k entries nearest to a vector, the best first; of
// equal ones the smaller id. k is at most 1000. An error wraps ErrDim, or is the
// system's or the context's.
func (x *Index) Nearest(ctx context.Context, vector []float32, k int) ([]Match, error) {
	if len(vector) != x.layout.dim {
		return nil, fmt.Errorf("nearest vectors: %w: %d, not %d", ErrDim, len(vector), x.layout.dim)
	}
	v := slices.Clone(vector)
	if k <= 0 || slices.ContainsFunc(v, func(f float32) bool { return math.IsNaN(float64(f)) }) || !Normalize(v) {
		return nil, ctx.Err()
	}
	k = min(k, maxMatches)
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.f == nil {
		return nil, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q := quantize(v)
	var found []Match
	buf := make([]byte, x.layout.recordSize())
	for i, slot := range x.candidates(sketch(v), x.layout.candidatesFor(k)) {
		if i%256 == 255 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r, err := x.read(slot, buf)
		if errors.Is(err, errDamaged) {
			continue // as if it were not there; a walk from the beginning puts it again
		}
		if err != nil {
			return nil, fmt.Errorf("nearest vectors: %w", err)
		}
		found = append(found, Match{ID: r.id, Score: float64(q.dot(r.values)) * float64(q.scale) * float64(r.scale)})
	}
	slices.SortFunc(found, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return slices.Clip(found[:min(k, len(found))]), nil
}

// candidates are the slots of the n nearest sketches, in the order of the file;
// x.mu is held.
func (x *Index) candidates(q []uint64, n int) []int {
	dist := x.distances()
	defer x.pool.Put(&dist)
	const none = math.MaxUint16
	counts := make([]int, 64*len(q)+1)
	for gi, g := range x.groups {
		d := dist[gi*groupSize : (gi+1)*groupSize]
		for i, key := range g.keys {
			if key == 0 {
				d[i] = none
				continue
			}
			h := hamming(q, g.sketches[i*len(q):(i+1)*len(q)])
			d[i] = uint16(h)
			counts[h]++
		}
	}
	limit, below := 0, 0 // all nearer than limit are taken, and some at it
	for limit < len(counts)-1 && below+counts[limit] <= n {
		below += counts[limit]
		limit++
	}
	atLimit := n - below
	out := make([]int, 0, min(n, len(x.slots)))
	for slot, d := range dist {
		switch {
		case int(d) < limit:
			out = append(out, slot)
		case int(d) == limit && atLimit > 0:
			atLimit--
			out = append(out, slot)
		}
	}
	return out
}

// distances is room for one distance a slot.
func (x *Index) distances() []uint16 {
	n := len(x.groups) * groupSize
	if p, ok := x.pool.Get().(*[]uint16); ok && cap(*p) >= n {
		return (*p)[:n]
	}
	return make([]uint16, n, n+n/8)
}
