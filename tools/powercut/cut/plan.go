package cut

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"homeagent/tools/powercut/writelog"
)

// Plan draws n cuts, so that each kind of point gets its equal share: what is
// written rarely (a partition table) would else hardly be cut in. point names
// what an entry writes, "" for one that is not to be cut at. The cuts come in the
// order of their entries; there are fewer than n only where the log has no more.
func Plan(entries []writelog.Entry, point func(i int) string, n int, seed uint64) []Cut {
	rng := rand.New(rand.NewPCG(seed, 1))
	byPoint := map[string][]int{}
	for i, e := range entries {
		if p := point(i); p != "" && (e.Writes() || e.IsFlush()) {
			byPoint[p] = append(byPoint[p], i)
		}
	}
	// Each entry of a point is met in all modes it can have before any is met
	// again; a dropped cut draws anew each time.
	pools := map[string][]Cut{}
	for p, list := range byPoint {
		rng := rand.New(rand.NewPCG(seed, sum(p)))
		rng.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
		for round := range 3 {
			for k, i := range list {
				if c, ok := modeOf(entries[i], (round+k)%3); ok {
					pools[p] = append(pools[p], Cut{Entry: i, Mode: c, Point: p})
				}
			}
		}
		for range n { // should all else be used up
			pools[p] = append(pools[p], Cut{Entry: list[rng.IntN(len(list))], Mode: Dropped, Point: p})
		}
	}
	var out []Cut
	for len(out) < n && len(pools) > 0 {
		for _, p := range slices.Sorted(maps.Keys(pools)) {
			if len(out) == n {
				break
			}
			c := pools[p][0]
			c.Seed = rng.Uint64() >> 1
			out = append(out, c)
			if pools[p] = pools[p][1:]; len(pools[p]) == 0 {
				delete(pools, p)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Cut) int { return cmp.Compare(a.Entry, b.Entry) })
	return out
}

// modeOf is the k-th mode of an entry, if it can have it.
func modeOf(e writelog.Entry, k int) (Mode, bool) {
	switch k {
	case 0:
		return Whole, true
	case 1:
		return Torn, e.Writes() && e.Length > piece && !e.IsFlush()
	}
	return Dropped, !e.IsFlush()
}

// sum makes a number out of a name.
func sum(s string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(s) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}
