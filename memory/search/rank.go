package search

import (
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"homeagent/memory/sqlfile"
)

const (
	// candidates is how many passages are ranked beyond those wanted; with the
	// best of them, withThem, their neighbours are ranked.
	candidates, withThem = 64, 16
	// besides are the shares of a neighbour's score that a passage gains: of
	// the one and two before it, of the one and two after it.
	before1, before2, after1, after2 = 0.4, 0.2, 0.2, 0.1
	// answers is what is added to before1 if the passage before is a question.
	answers = 0.4
	// together is how much time may lie between neighbours.
	together = time.Hour
	// voiceGain is what a passage gains whose speaker the query names,
	// timeGain one that speaks of times where the query asks for one, spanGain
	// one of the time that the query names: shares of its score.
	voiceGain, timeGain, spanGain = 2.0, 0.4, 1.0
	// asksLoss is the share that a question loses, and shortTerms the length at
	// which a passage is taken for saying something (63 % of its score).
	asksLoss, shortTerms = 0.1, 6.0
)

// mark is what ranking needs of a passage.
type mark struct {
	kind     Kind
	voice    int64
	flags    int
	length   int
	time     int64
	archived bool
}

// beside is a neighbour.
type beside struct {
	id    int64
	flags int
}

// rank orders the candidates by their words and those around them, by who says
// it, when, and in what form.
func (s *search) rank(phrases map[int64]float64) ([]scored, error) {
	own := func(id int64) float64 {
		if id >= int64(len(s.sums.of)) {
			return 0
		}
		return s.plain(s.sums.of[id]) + phrases[id]
	}
	var ids []int64
	for _, c := range s.sums.best(2*s.query.Limit+candidates, s.plain) {
		ids = append(ids, c.id)
	}
	scores := make(map[int64]float64, 3*len(ids))
	if s.query.Without&Neighbours != 0 {
		for _, id := range ids {
			scores[id] = own(id)
		}
	} else if err := s.withNeighbours(ids, own, scores); err != nil {
		return nil, err
	}
	marks, err := s.marks(scores)
	if err != nil {
		return nil, err
	}
	out := make([]scored, 0, len(scores))
	for id, m := range marks {
		if v := scores[id] * s.factor(m); v > 0 {
			out = append(out, scored{id, v})
		}
	}
	slices.SortFunc(out, compare)
	return out, nil
}

// withNeighbours scores ids and what stands beside them.
func (s *search) withNeighbours(ids []int64, own func(int64) float64, scores map[int64]float64) error {
	best := ids[:min(len(ids), withThem)]
	near, err := s.near(s.x.stmt.before, best, 1)
	if err != nil {
		return err
	}
	behind, err := s.near(s.x.stmt.after, best, 1)
	if err != nil {
		return err
	}
	for _, id := range ids {
		scores[id] = 0
	}
	for _, id := range best {
		for _, n := range append(near[id], behind[id]...) {
			scores[n.id] = 0
		}
	}
	all := make([]int64, 0, len(scores))
	for id := range scores {
		all = append(all, id)
	}
	if near, err = s.near(s.x.stmt.before, all, 2); err != nil {
		return err
	}
	if behind, err = s.near(s.x.stmt.after, all, 2); err != nil {
		return err
	}
	for _, id := range all {
		v := own(id)
		for i, n := range near[id] {
			w := [...]float64{before1, before2}[i]
			if i == 0 && n.flags&flagAsks != 0 {
				w += answers
			}
			v += w * own(n.id)
		}
		for i, n := range behind[id] {
			v += [...]float64{after1, after2}[i] * own(n.id)
		}
		scores[id] = v
	}
	return nil
}

// near reads the n neighbours on one side of passages, nearest first; the list
// ends where too much time lies between.
func (s *search) near(stmt *sql.Stmt, ids []int64, n int) (map[int64][]beside, error) {
	out := make(map[int64][]beside, len(ids))
	err := rows(s.ctx, stmt, func(r *sql.Rows) error {
		var id, when int64
		var others sql.NullString
		if err := r.Scan(&id, &when, &others); err != nil {
			return err
		}
		f := strings.Fields(others.String)
		for ; len(f) >= 3; f = f[3:] {
			var v [3]int64
			for i := range v {
				var err error
				if v[i], err = strconv.ParseInt(f[i], 10, 64); err != nil {
					return fmt.Errorf("%w: place of passage %d: %w", sqlfile.ErrDamaged, id, err)
				}
			}
			if gap := v[2] - when; gap > together.Milliseconds() || -gap > together.Milliseconds() {
				break
			}
			when = v[2]
			out[id] = append(out[id], beside{v[0], int(v[1])})
		}
		return nil
	}, list(ids), n)
	return out, err
}

// marks reads what ranking needs of passages.
func (s *search) marks(of map[int64]float64) (map[int64]mark, error) {
	ids := make([]int64, 0, len(of))
	for id := range of {
		ids = append(ids, id)
	}
	out := make(map[int64]mark, len(ids))
	err := rows(s.ctx, s.x.stmt.marks, func(r *sql.Rows) error {
		var id int64
		var kind int
		var m mark
		err := r.Scan(&id, &kind, &m.voice, &m.flags, &m.length, &m.time, &m.archived)
		m.kind = kindOf(kind)
		out[id] = m
		return err
	}, list(ids))
	return out, err
}

// factor is what a passage's score is multiplied with.
func (s *search) factor(m mark) float64 {
	if len(s.query.Kinds) > 0 && !slices.Contains(s.query.Kinds, m.kind) {
		return 0
	}
	f := 1.0
	if m.archived {
		f = max(s.query.Archived, 0)
	}
	if s.voices[m.voice] {
		f *= 1 + voiceGain
	}
	if s.when && m.flags&flagTime != 0 {
		f *= 1 + timeGain
	}
	if slices.ContainsFunc(s.spans, func(sp span) bool { return sp.has(fromMillis(m.time)) }) {
		f *= 1 + spanGain
	}
	if s.query.Without&Shape == 0 {
		if m.flags&flagAsks != 0 {
			f *= 1 - asksLoss
		}
		f *= 1 - math.Exp(-float64(m.length)/shortTerms)
	}
	return f
}
