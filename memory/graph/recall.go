package graph

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"
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
	// maxSeeds is how many given seeds the walk takes; seedScore is what the
	// first is worth, beside 1 for an entity whose whole name is in the query.
	maxSeeds  = 8
	seedScore = 0.6
	// stones is how many of the best facts the walk steps on from, and
	// stoneScore what their ends are worth beside an entity that is named.
	stones     = 4
	stoneScore = 0.5
	// sessionBoost is for facts of the asking session, notFirst for what holds
	// where the past is asked for, and behind for what was archived, or is past
	// and was not asked for.
	sessionBoost, notFirst, behind = 1.15, 0.3, 0.25
)

// Query asks for facts.
type Query struct {
	Text string
	// Depth is how many steps the walk takes from the entities that Text
	// names, 0 to 3; 0 is facts that match by their words only.
	Depth int
	// Limit is the number of facts, 20 if 0, at most 200.
	Limit int
	// Past includes facts that no longer hold and archived ones, behind those
	// that hold. A Text that asks for the past (AsksPast) includes them by
	// itself and puts those that no longer hold first.
	Past bool
	// Seeds are entities that the query means by other evidence than its
	// words, the likeliest first, as vectors find them. The walk begins from at
	// most maxSeeds of them too.
	Seeds []int64
	// Session is an Origin's Source; its facts are put before equal ones. With
	// SessionOnly only they are returned.
	Session     string
	SessionOnly bool
	// Speaker is the stable id of who asks: what only others call so is not
	// meant by a name.
	Speaker string
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
	past := AsksPast(q.Text)
	if past {
		q.Text = withoutPast(q.Text)
	}
	lex, err := g.newQuery(ctx, q.Text)
	if err != nil || len(lex.terms) == 0 && len(q.Seeds) == 0 {
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
		statuses := []Status{Active}
		if past {
			statuses = append(statuses, Past)
		}
		if err := g.reach(ctx, q, lex, hits, statuses, scores); err != nil {
			return Recalled{}, err
		}
	}
	maps.DeleteFunc(scores, func(_ int64, s float64) bool { return s < floor })
	return g.load(ctx, q, past, scores)
}

// named returns the entities whose names the query has, best first.
func (g *Graph) named(ctx context.Context, lex *query, speaker string) ([]hit, error) {
	if len(lex.terms) == 0 {
		return nil, nil
	}
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
		var whose string
		if err := r.Scan(&id, &alias, &whose, &mentions); err != nil {
			return err
		}
		if whose != "" && speaker != "" && whose != speaker {
			return nil
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
	out := ranked(best)
	return out[:min(len(out), seeds)], nil
}

// load reads the best facts and ranks them: words and walk first, then how
// sure and how long the fact is.
func (g *Graph) load(ctx context.Context, q Query, past bool, scores map[int64]float64) (Recalled, error) {
	ids := slices.SortedFunc(maps.Keys(scores), func(a, b int64) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(b, a))
	})
	// Some may be past, or another session's; what is read beyond the limit
	// makes up for them.
	read := q.Limit + q.Limit/2 + 8
	if q.SessionOnly {
		read *= 4
	}
	ids = ids[:min(len(ids), read)]
	if len(ids) == 0 {
		return Recalled{}, nil
	}
	stmt := g.stmt.facts
	if q.Past || past {
		stmt = g.stmt.factsPast
	}
	type ends struct{ s, t Entity }
	var facts []Fact
	of := map[int64]ends{}
	err := rows(ctx, stmt, func(r *sql.Rows) error {
		var e ends
		f, err := scanFact(r, &e.s.Mentions, &e.s.Type, &e.t.Mentions, &e.t.Type)
		if err != nil {
			return err
		}
		if q.SessionOnly && f.Source != q.Session || f.SubjectID == f.ObjectID && f.Subject == f.Object && f.Relation != "" {
			// An identity sentence about two that are one now says nothing any more.
			return nil
		}
		e.s.ID, e.s.Name, e.t.ID, e.t.Name = f.SubjectID, f.Subject, f.ObjectID, f.Object
		f.Score = scores[f.ID] * (.8 + .2*f.Confidence) * brevity(f) * standing(f, q, past)
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
		if f.Status == Archived {
			continue // the index line tells of what is alive
		}
		for _, e := range []Entity{of[f.ID].s, of[f.ID].t} {
			if e.Type != "text" {
				byID[e.ID] = e
			}
		}
	}
	entities := slices.SortedFunc(maps.Values(byID), func(a, b Entity) int {
		return cmp.Or(cmp.Compare(b.Mentions, a.Mentions), cmp.Compare(a.ID, b.ID))
	})
	return Recalled{Facts: facts, Entities: entities}, nil
}

// standing is the factor for whether a fact holds, whether that was asked for,
// and in which session it was told.
func standing(f Fact, q Query, past bool) float64 {
	w := 1.0
	if q.Session != "" && f.Source == q.Session {
		w = sessionBoost
	}
	switch {
	case f.Status == Archived, f.Status == Past && !past:
		return w * behind
	case f.Status == Active && past:
		return w * notFirst
	}
	return w
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
