package graph

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// candidates is how many facts, and entities, the index may nominate.
	candidates = 64
	// seeds is from how many entities the walk begins, spread how many it may
	// reach a step, and edges how many facts of each it sees in each direction.
	seeds  = 3
	spread = 8
	edges  = 8
	// worthWalk is what a fact at the first step is worth beside one that has
	// the whole query in its words, and decay what each further step leaves.
	worthWalk, decay = 0.3, 0.7
	// nameShare is how much of an entity's name a query must have for the
	// entity to count as named.
	nameShare = 0.6
	// floor is the score below which a fact only shares a sign by chance.
	floor = 0.1
)

// Query asks for facts.
type Query struct {
	Text string
	// Depth is how many steps the walk takes from the entities that Text
	// names, 0 to 3; 0 is facts that match by their words only.
	Depth int
	// Limit is the number of facts, 20 if 0, at most 200.
	Limit int
	// Past includes facts that no longer hold, behind those that do.
	Past bool
}

// Recalled is what was found, best first.
type Recalled struct {
	Facts []Fact
	// Entities are the ends of the facts, the most mentioned first, without texts.
	Entities []Entity
}

// Recall finds the facts that speak of what the query speaks of. A query
// without a term (empty, or grammar alone) finds nothing.
func (g *Graph) Recall(ctx context.Context, q Query) (Recalled, error) {
	r, err := g.recall(ctx, q)
	if err != nil {
		return Recalled{}, fmt.Errorf("recall facts: %w", g.plain(err))
	}
	return r, nil
}

func (g *Graph) recall(ctx context.Context, q Query) (Recalled, error) {
	if q.Limit <= 0 {
		q.Limit = 20
	}
	q.Limit, q.Depth = min(q.Limit, 200), min(max(q.Depth, 0), 3)
	lex, err := g.newQuery(ctx, q.Text)
	if err != nil || len(lex.terms) == 0 {
		return Recalled{}, err
	}
	hits, err := g.search(ctx, lex, kindFact, candidates+q.Limit)
	if err != nil {
		return Recalled{}, err
	}
	scores := map[int64]float64{}
	for _, h := range hits {
		scores[h.id] = h.score
	}
	if q.Depth > 0 {
		named, err := g.named(ctx, lex)
		if err == nil {
			err = g.walk(ctx, named, q.Depth, scores)
		}
		if err != nil {
			return Recalled{}, err
		}
	}
	maps.DeleteFunc(scores, func(_ int64, s float64) bool { return s < floor })
	return g.load(ctx, q, scores)
}

// named returns the entities whose names the query has, best first.
func (g *Graph) named(ctx context.Context, lex *query) ([]hit, error) {
	hits, err := g.search(ctx, lex, kindEntity, 12)
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	score := map[int64]float64{}
	var ids []int64
	for _, h := range hits {
		ids, score[h.id] = append(ids, h.id), h.score
	}
	has := map[string]float64{}
	for _, t := range lex.terms {
		has[t.text] = t.idf[kindEntity]
	}
	best := map[int64]float64{}
	err = rows(ctx, g.stmt.names, func(r *sql.Rows) error {
		var id int64
		var mentions int
		var alias string
		if err := r.Scan(&id, &alias, &mentions); err != nil {
			return err
		}
		// The share of the name's terms that the query has; pairs count in full,
		// as in the query.
		var in, all float64
		for _, t := range nameTerms(alias) {
			w := 1.0
			if utf8.RuneCountInString(t) == 1 {
				w = signWeight
			}
			all += w
			if _, ok := has[t]; ok {
				in += w
			}
		}
		if all > 0 && in/all >= nameShare {
			// Of one spoken of all the time, any single fact is less likely meant.
			common := 1 + math.Log1p(float64(mentions)/10)
			best[id] = max(best[id], in/all*(nameShare+(1-nameShare)*score[id])/common)
		}
		return nil
	}, list(ids))
	if err != nil {
		return nil, err
	}
	out := make([]hit, 0, len(best))
	for id, s := range best {
		out = append(out, hit{id, s})
	}
	slices.SortFunc(out, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	return out[:min(len(out), seeds)], nil
}

// walk goes breadth-first from entities and adds to the scores of the facts on
// the way.
func (g *Graph) walk(ctx context.Context, from []hit, depth int, scores map[int64]float64) error {
	seen := map[int64]bool{}
	for _, e := range from {
		seen[e.id] = true
	}
	worth := worthWalk
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
		err := rows(ctx, g.stmt.edges, func(r *sql.Rows) error {
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
		}, list(ids), edges)
		if err != nil {
			return err
		}
		from = from[:0:0]
		for id, s := range next {
			seen[id] = true
			from = append(from, hit{id, s})
		}
		slices.SortFunc(from, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.id, a.id)) })
		from = from[:min(len(from), spread)]
		worth *= decay
	}
	return nil
}

// load reads the best facts and ranks them: words and walk first, then how
// sure and how long the fact is.
func (g *Graph) load(ctx context.Context, q Query, scores map[int64]float64) (Recalled, error) {
	ids := slices.SortedFunc(maps.Keys(scores), func(a, b int64) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(b, a))
	})
	// Some may be past; what is read beyond the limit makes up for them.
	ids = ids[:min(len(ids), q.Limit+q.Limit/2+8)]
	if len(ids) == 0 {
		return Recalled{}, nil
	}
	stmt := g.stmt.facts
	if q.Past {
		stmt = g.stmt.factsPast
	}
	type ends struct{ s, t Entity }
	var facts []Fact
	of := map[int64]ends{}
	err := rows(ctx, stmt, func(r *sql.Rows) error {
		var f Fact
		var e ends
		var created, updated int64
		var stype, ttype string
		err := r.Scan(&f.ID, &f.Subject, &f.Relation, &f.Object, &f.Confidence, &f.Status, &f.Source, &f.Turn,
			&created, &updated, &e.s.ID, &e.s.Mentions, &stype, &e.t.ID, &e.t.Mentions, &ttype)
		if err != nil {
			return err
		}
		f.Created, f.Updated = time.UnixMilli(created), time.UnixMilli(updated)
		f.Score = scores[f.ID] * (.8 + .2*f.Confidence) * brevity(f)
		if f.Status == Past {
			f.Score /= 4
		}
		if stype == "" {
			e.s.Name = f.Subject
		}
		if ttype == "" {
			e.t.Name = f.Object
		}
		facts, of[f.ID] = append(facts, f), e
		return nil
	}, list(ids))
	if err != nil {
		return Recalled{}, err
	}
	slices.SortFunc(facts, func(a, b Fact) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID))
	})
	facts = facts[:min(len(facts), q.Limit)]
	byID := map[int64]Entity{}
	for _, f := range facts {
		for _, e := range []Entity{of[f.ID].s, of[f.ID].t} {
			if e.Name != "" {
				byID[e.ID] = e
			}
		}
	}
	entities := slices.SortedFunc(maps.Values(byID), func(a, b Entity) int {
		return cmp.Or(cmp.Compare(b.Mentions, a.Mentions), cmp.Compare(a.ID, b.ID))
	})
	return Recalled{Facts: facts, Entities: entities}, nil
}

// brevity makes a short fact win over a long one that has the same words.
func brevity(f Fact) float64 {
	n := utf8.RuneCountInString(f.Subject) + utf8.RuneCountInString(f.Relation) + utf8.RuneCountInString(f.Object)
	return 1 / (1 + .1*math.Log1p(float64(n)/40))
}

// coverage is the share of a query's weight that a fact's terms have.
func (q *query) coverage(f Fact) float64 {
	has := map[string]bool{}
	for _, t := range factTerms(f.Subject, f.Relation, f.Object) {
		has[t] = true
	}
	var in float64
	for _, t := range q.terms {
		if has[t.text] {
			in += t.idf[kindFact]
		}
	}
	if q.total[kindFact] == 0 {
		return 0
	}
	return in / q.total[kindFact]
}
