package graph

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// reach walks from what the query names and from the given seeds, and with
// one step less from the ends of the facts that fit best: the second half of a
// question of two hops is told about somebody it does not name.
func (g *Graph) reach(ctx context.Context, q Query, lex *query, hits []hit, statuses []Status, scores map[int64]float64) error {
	from, err := g.named(ctx, lex, q.Speaker)
	if err != nil {
		return err
	}
	seen := map[int64]bool{}
	for _, h := range from {
		seen[h.id] = true
	}
	worth := seedScore
	for _, id := range q.Seeds[:min(len(q.Seeds), maxSeeds)] {
		if !seen[id] {
			seen[id] = true
			from = append(from, hit{id, worth})
		}
		worth *= .9
	}
	if err := g.walk(ctx, from, q.Depth, worthWalk, statuses, scores); err != nil || q.Depth < 2 || len(hits) == 0 {
		return err
	}
	best := map[int64]float64{}
	of := map[int64]float64{}
	var ids []int64
	for _, h := range hits[:min(len(hits), stones)] {
		ids, of[h.id] = append(ids, h.id), h.score
	}
	err = rows(ctx, g.stmt.ends, func(r *sql.Rows) error {
		var fact, s, t int64
		err := r.Scan(&fact, &s, &t)
		for _, end := range []int64{s, t} {
			if !seen[end] {
				best[end] = max(best[end], stoneScore*of[fact])
			}
		}
		return err
	}, list(ids))
	if err != nil {
		return err
	}
	return g.walk(ctx, ranked(best), q.Depth-1, worthWalk*decay, statuses, scores)
}

// ranked lists hits best first.
func ranked(m map[int64]float64) []hit {
	out := make([]hit, 0, len(m))
	for id, s := range m {
		out = append(out, hit{id, s})
	}
	slices.SortFunc(out, compare)
	return out
}

// walk goes breadth-first from entities and adds to the scores of the facts on
// the way.
func (g *Graph) walk(ctx context.Context, from []hit, depth int, worth float64, statuses []Status, scores map[int64]float64) error {
	seen := map[int64]bool{}
	for _, e := range from {
		seen[e.id] = true
	}
	for range depth {
		if len(from) == 0 {
			return nil
		}
		next := map[int64]float64{}
		score := map[int64]float64{}
		var ids []int64
		for _, e := range from {
			ids, score[e.id] = append(ids, e.id), e.score
		}
		step := func(r *sql.Rows) error {
			var entity int64
			var out, in sql.NullString
			if err := r.Scan(&entity, &out, &in); err != nil {
				return err
			}
			words := strings.Fields(out.String + " " + in.String)
			for i := 0; i+1 < len(words); i += 2 {
				fact, ferr := strconv.ParseInt(words[i], 10, 64)
				other, oerr := strconv.ParseInt(words[i+1], 10, 64)
				if ferr != nil || oerr != nil {
					return fmt.Errorf("%w: edges of entity %d", ErrDamaged, entity)
				}
				scores[fact] += score[entity] * worth
				if !seen[other] {
					next[other] = max(next[other], score[entity])
				}
			}
			return nil
		}
		for _, status := range statuses {
			if err := rows(ctx, g.stmt.edges, step, list(ids), edges, status); err != nil {
				return err
			}
		}
		from = ranked(next)
		from = from[:min(len(from), spread)]
		for _, e := range from {
			seen[e.id] = true
		}
		worth *= decay
	}
	return nil
}
