package main

import "homeagent/memory/recall"

// deepest is the number of items asked for.
const deepest = 20

// score is a sum over queries.
type score struct {
	r1, r5, r10, mrr, multi float64
	n, multiN               int
}

func (s *score) add(o score) {
	s.r1, s.r5, s.r10, s.mrr, s.multi = s.r1+o.r1, s.r5+o.r5, s.r10+o.r10, s.mrr+o.mrr, s.multi+o.multi
	s.n, s.multiN = s.n+o.n, s.multiN+o.multiN
}

// judge scores the answer to a query.
func judge(q *query, items []recall.Item) score {
	has := func(it recall.Item, facet map[string]bool) bool {
		for _, id := range it.From {
			if facet[id] {
				return true
			}
		}
		return false
	}
	share := func(k int) float64 {
		found := 0
		for _, facet := range q.facets {
			for _, it := range items[:min(k, len(items))] {
				if has(it, facet) {
					found++
					break
				}
			}
		}
		return float64(found) / float64(len(q.facets))
	}
	s := score{r1: share(1), r5: share(5), r10: share(10), n: 1}
	s.mrr = reciprocal(q, items, has)
	if q.Cat == "multi-hop" {
		s.multi, s.multiN = s.r5, 1
	}
	return s
}

// reciprocal is one over the rank of the first item that counts, 0 without one.
func reciprocal(q *query, items []recall.Item, has func(recall.Item, map[string]bool) bool) float64 {
	for i, it := range items {
		for _, facet := range q.facets {
			if has(it, facet) {
				return 1 / float64(i+1)
			}
		}
	}
	return 0
}
