package graph

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Merge is a line of the merge log: two entities were one and the same, and
// all that is needed to make them two again.
type Merge struct {
	ID      int64     `json:"id"`
	Kept    int64     `json:"kept"`
	Reason  string    `json:"reason,omitempty"`
	Created time.Time `json:"created"`
	// Undone is when it was undone, zero while it stands.
	Undone time.Time `json:"undone,omitzero"`
	// Dropped is the row that went into the kept one, as it was.
	Dropped EntityRecord `json:"dropped"`

	mergeLog
}

// mergeLog is what a merge changed.
type mergeLog struct {
	// Before and After are what the kept row was and became.
	Before Standing `json:"before"`
	After  Standing `json:"after"`
	// Moved facts spoke of the dropped one.
	Moved []End `json:"moved,omitempty"`
	// Joined facts were there for both.
	Joined []Joined `json:"joined,omitempty"`
	// Ended facts contradicted newer ones of the other.
	Ended []Ended `json:"ended,omitempty"`
	// Given are the names that the kept one did not have.
	Given []NameRecord `json:"given,omitempty"`
	// PairsBefore and PairsAfter are the pairs with either.
	PairsBefore []PairRecord `json:"pairs_before,omitempty"`
	PairsAfter  []PairRecord `json:"pairs_after,omitempty"`
}

// Standing is what a merge changes in the row that is kept.
type Standing struct {
	Type    string    `json:"type,omitempty"`
	Vague   bool      `json:"vague,omitempty"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// End says which ends of a fact were the dropped entity.
type End struct {
	Fact    int64 `json:"fact"`
	Subject bool  `json:"subject,omitempty"`
	Object  bool  `json:"object,omitempty"`
}

// Joined is a fact that was told of both.
type Joined struct {
	Fact FactRecord `json:"fact"` // the row that went
	Into int64      `json:"into"` // the row that stayed
	// Before and After are what that row was and became, Turns those it got.
	Before Weight   `json:"before"`
	After  Weight   `json:"after"`
	Turns  []string `json:"turns,omitempty"`
}

// Weight is what hearing a fact again changes in it.
type Weight struct {
	Confidence float64   `json:"confidence"`
	Created    time.Time `json:"created"`
	Updated    time.Time `json:"updated"`
}

// Ended is a fact that became history.
type Ended struct {
	Fact    int64     `json:"fact"`
	Status  Status    `json:"status"` // that it had
	Updated time.Time `json:"updated"`
	At      time.Time `json:"at"`
}

const mergeColumns = "id, kept_id, dropped, moved, reason, created_at, coalesce(undone_at, 0)"

func scanMerge(r *sql.Rows) (m Merge, err error) {
	var created, undone int64
	var dropped, moved []byte
	if err = r.Scan(&m.ID, &m.Kept, &dropped, &moved, &m.Reason, &created, &undone); err != nil {
		return m, err
	}
	m.Created, m.Undone = utc(created), utc(undone)
	if err = json.Unmarshal(dropped, &m.Dropped); err == nil {
		err = json.Unmarshal(moved, &m.mergeLog)
	}
	if err != nil {
		err = fmt.Errorf("%w: merge %d: %w", ErrDamaged, m.ID, err)
	}
	return m, err
}

// storeMerge writes a line of the log, new or changed.
func (s *session) storeMerge(m Merge) error {
	_, err := s.logMerge(m)
	return err
}

// logMerge is storeMerge that returns the id of the line.
func (s *session) logMerge(m Merge) (int64, error) {
	dropped, err := json.Marshal(m.Dropped)
	if err != nil {
		return 0, err
	}
	moved, err := json.Marshal(m.mergeLog)
	if err != nil {
		return 0, err
	}
	var id, undone any
	if m.ID != 0 {
		id = m.ID
	}
	if !m.Undone.IsZero() {
		undone = ms(m.Undone)
	}
	return s.insert(`INSERT OR REPLACE INTO merges(id, kept_id, dropped_id, dropped, moved, reason, created_at, undone_at)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?)`, id, m.Kept, m.Dropped.ID, string(dropped), string(moved), m.Reason, ms(m.Created), undone)
}

// Merge makes two entities one: what was told of drop is told of keep from now
// on, names and mentions are added up, a fact that was there for both stays
// once. It returns the number by which Undo takes it back. The error wraps
// ErrUnknown, ErrSame, ErrDevices or ErrContradiction.
func (g *Graph) Merge(ctx context.Context, keep, drop int64, reason string) (id int64, err error) {
	reason, err = clean("reason", reason)
	if err == nil && keep == drop {
		err = ErrSame
	}
	if err == nil {
		err = g.change(ctx, func(s *session) error {
			id, err = s.merge(keep, drop, reason)
			return err
		})
	}
	if err != nil {
		return 0, fmt.Errorf("merge entity %d into %d: %w", drop, keep, g.plain(err))
	}
	return id, nil
}

func (s *session) merge(keep, drop int64, reason string) (int64, error) {
	kept, err := s.entity(keep)
	if err != nil {
		return 0, err
	}
	m := Merge{Kept: keep, Reason: reason, Created: utc(s.now)}
	if m.Dropped, err = s.entity(drop); err != nil {
		return 0, err
	}
	if err := s.mayMerge(kept, m.Dropped); err != nil {
		return 0, err
	}
	s.touch(keep, drop)
	for _, step := range []func() error{
		func() error { return s.unindex(keep) },
		func() error { return s.unindex(drop) },
		func() error { return s.moveFacts(&m, kept.Name) },
		func() error { return s.endOlder(&m) },
		func() error { return s.moveNames(&m) },
		func() error { return s.addUp(&m, kept) },
		func() error { return s.movePairs(&m) },
		func() error {
			_, err := s.exec("DELETE FROM entities WHERE id = ?", drop)
			return err
		},
		func() error { return s.indexNames(keep) },
	} {
		if err := step(); err != nil {
			return 0, err
		}
	}
	return s.logMerge(m)
}

// mayMerge refuses what can never be one.
func (s *session) mayMerge(a, b EntityRecord) error {
	if exclusive(a.Type, b.Type) {
		return fmt.Errorf("%w: %s and %s", ErrContradiction, a.Type, b.Type)
	}
	for _, x := range a.Identities {
		for _, y := range b.Identities {
			switch {
			case x.Kind != y.Kind:
			case x.Kind == kindDevice:
				return fmt.Errorf("%w: %s and %s", ErrDevices, x.Value, y.Value)
			default:
				return fmt.Errorf("%w: %s %s and %s", ErrContradiction, x.Kind, x.Value, y.Value)
			}
		}
	}
	// A telephone number may have been told as a fact alone.
	numbers := func(e EntityRecord) (out []string, err error) {
		for _, x := range e.Identities {
			if x.Kind == kindPhone {
				out = append(out, x.Value)
			}
		}
		err = s.each(`SELECT t.name FROM relations r JOIN entities t ON t.id = r.target_id
			WHERE r.source_id = ? AND r.relation_key = '@phone' AND r.status IN ('active', 'archived')`, func(r *sql.Rows) error {
			var n string
			err := r.Scan(&n)
			if _, value, ok := identity(kindPhone + ":" + n); ok {
				out = append(out, value)
			}
			return err
		}, e.ID)
		return out, err
	}
	ours, err := numbers(a)
	if err != nil {
		return err
	}
	theirs, err := numbers(b)
	if err != nil {
		return err
	}
	if len(ours) > 0 && len(theirs) > 0 && !slices.ContainsFunc(ours, func(n string) bool { return slices.Contains(theirs, n) }) {
		return fmt.Errorf("%w: phone %s and %s", ErrContradiction, ours[0], theirs[0])
	}
	return nil
}

// moveFacts makes all that speaks of the dropped entity speak of the kept one.
func (s *session) moveFacts(m *Merge, name string) error {
	var facts []FactRecord
	err := s.each(factRecord+"WHERE r.source_id = ?1 OR r.target_id = ?1 ORDER BY r.id", func(r *sql.Rows) error {
		f, err := scanFactRecord(r)
		facts = append(facts, f)
		return err
	}, m.Dropped.ID)
	if err != nil {
		return err
	}
	for _, f := range facts {
		if f.Status != Forgotten {
			s.index.take(kindFact, f.ID, factTerms(f.Subject, f.Relation, f.Object))
		}
		s.touch(f.SubjectID, f.ObjectID)
		end := End{Fact: f.ID, Subject: f.SubjectID == m.Dropped.ID, Object: f.ObjectID == m.Dropped.ID}
		now := f
		if end.Subject {
			now.SubjectID, now.Subject = m.Kept, name
		}
		if end.Object {
			now.ObjectID, now.Object = m.Kept, name
		}
		into, err := s.twin(now)
		if err != nil {
			return err
		}
		if into != 0 {
			if err := s.joinLogged(m, f, into); err != nil {
				return err
			}
			continue
		}
		if _, err := s.exec("UPDATE relations SET source_id = ?, target_id = ? WHERE id = ?",
			now.SubjectID, now.ObjectID, f.ID); err != nil {
			return err
		}
		m.Moved = append(m.Moved, end)
		if f.Status != Forgotten {
			s.index.put(kindFact, f.ID, factTerms(now.Subject, now.Relation, now.Object))
		}
	}
	return nil
}

// twin finds another row that says of the same ends what f says and holds too,
// 0 if there is none.
func (s *session) twin(f FactRecord) (id int64, err error) {
	if f.Status != Active && f.Status != Archived {
		return 0, nil
	}
	key, _ := relationKey(f.Relation, f.Object)
	ends := [][2]int64{{f.SubjectID, f.ObjectID}}
	if symmetric(key) {
		ends = append(ends, [2]int64{f.ObjectID, f.SubjectID})
	}
	for _, e := range ends {
		err := s.one(`SELECT id FROM relations WHERE source_id = ? AND relation_key = ? AND target_id = ? AND id <> ?
			AND status = ? ORDER BY id LIMIT 1`, []any{e[0], key, e[1], f.ID, f.Status}, &id)
		if ok, err := found(err); ok || err != nil {
			return id, err
		}
	}
	return 0, nil
}

func (s *session) weight(id int64) (w Weight, err error) {
	var created, updated int64
	err = s.one("SELECT confidence, created_at, updated_at FROM relations WHERE id = ?", []any{id}, &w.Confidence, &created, &updated)
	w.Created, w.Updated = utc(created), utc(updated)
	return w, err
}

// turnsOf are the turns that hearings has of a fact.
func (s *session) turnsOf(id int64) (turns []string, err error) {
	err = s.each("SELECT turn_id FROM hearings WHERE relation_id = ?", func(r *sql.Rows) error {
		var t string
		err := r.Scan(&t)
		turns = append(turns, t)
		return err
	}, id)
	return turns, err
}

// joinLogged is join with what undoing needs.
func (s *session) joinLogged(m *Merge, f FactRecord, into int64) error {
	j := Joined{Fact: f, Into: into}
	had, err := s.turnsOf(into)
	if err == nil {
		j.Before, err = s.weight(into)
	}
	if err == nil {
		err = s.join(into, f.ID)
	}
	if err == nil {
		j.After, err = s.weight(into)
	}
	if err == nil {
		j.Turns, err = s.turnsOf(into)
	}
	j.Turns = slices.DeleteFunc(j.Turns, func(t string) bool { return slices.Contains(had, t) })
	m.Joined = append(m.Joined, j)
	return err
}

// endOlder lets the newest answer stand where the two had one each.
func (s *session) endOlder(m *Merge) error {
	type fact struct {
		id, target, created, updated int64
		key, relation, object        string
		status                       Status
	}
	moved := map[int64]bool{}
	for _, e := range m.Moved {
		moved[e.Fact] = e.Subject
	}
	byQuestion := map[string][]fact{}
	err := s.each(`SELECT r.id, r.target_id, r.created_at, r.updated_at, r.relation_key, r.relation_type, t.name, r.status FROM relations r
		JOIN entities t ON t.id = r.target_id WHERE r.source_id = ? AND r.status IN ('active', 'archived') ORDER BY r.id`,
		func(r *sql.Rows) error {
			var f fact
			err := r.Scan(&f.id, &f.target, &f.created, &f.updated, &f.key, &f.relation, &f.object, &f.status)
			question := fmt.Sprint(min(f.key, opposite(f.key)), f.target)
			if _, one := relationKey(f.relation, f.object); one {
				question = f.key
			}
			byQuestion[question] = append(byQuestion[question], f)
			return err
		}, m.Kept)
	if err != nil {
		return err
	}
	for _, facts := range byQuestion {
		if len(facts) < 2 || !slices.ContainsFunc(facts, func(f fact) bool { return moved[f.id] }) {
			continue
		}
		slices.SortFunc(facts, func(a, b fact) int { return cmp.Or(cmp.Compare(b.updated, a.updated), cmp.Compare(b.id, a.id)) })
		for _, f := range facts[1:] {
			if f.key == facts[0].key && f.target == facts[0].target {
				continue // said the same in both
			}
			at := max(f.created, facts[0].created)
			if _, err := s.exec("UPDATE relations SET status = 'past', updated_at = ? WHERE id = ?", at, f.id); err != nil {
				return err
			}
			m.Ended = append(m.Ended, Ended{Fact: f.id, Status: f.status, Updated: utc(f.updated), At: utc(at)})
			s.touch(f.target)
		}
	}
	slices.SortFunc(m.Ended, func(a, b Ended) int { return cmp.Compare(a.Fact, b.Fact) })
	return nil
}

// moveNames gives the kept entity the names and stable ids of the dropped one.
func (s *session) moveNames(m *Merge) error {
	for _, n := range m.Dropped.Names {
		added, err := s.putName(m.Kept, n)
		if err != nil {
			return err
		}
		if added {
			m.Given = append(m.Given, n)
		}
	}
	_, err := s.exec("UPDATE identities SET entity_id = ? WHERE entity_id = ?", m.Kept, m.Dropped.ID)
	return err
}

// addUp changes the row of the kept entity.
func (s *session) addUp(m *Merge, kept EntityRecord) error {
	d := m.Dropped
	m.Before = Standing{Type: kept.Type, Vague: kept.Vague, Created: kept.Created, Updated: kept.Updated}
	m.After = Standing{Type: cmp.Or(kept.Type, d.Type), Vague: kept.Vague && d.Vague, Created: kept.Created, Updated: kept.Updated}
	if d.Created.Before(kept.Created) {
		m.After.Created = d.Created
	}
	if d.Updated.After(kept.Updated) {
		m.After.Updated = d.Updated
	}
	_, err := s.exec(`UPDATE entities SET mention_count = mention_count + ?, type = ?, vague = ?,
		created_at = ?, updated_at = ? WHERE id = ?`,
		d.Mentions, m.After.Type, m.After.Vague, ms(m.After.Created), ms(m.After.Updated), kept.ID)
	return err
}

func (s *session) pairsOf(a, b int64) (pairs []PairRecord, err error) {
	err = s.each(pairRecord+"WHERE a IN (?1, ?2) OR b IN (?1, ?2) ORDER BY id", func(r *sql.Rows) error {
		p, err := scanPairRecord(r)
		pairs = append(pairs, p)
		return err
	}, a, b)
	return pairs, err
}

// movePairs lets what was found out about the dropped entity hold for the kept
// one, and puts the two down as merged.
func (s *session) movePairs(m *Merge) (err error) {
	drop, keep := m.Dropped.ID, m.Kept
	if m.PairsBefore, err = s.pairsOf(keep, drop); err != nil {
		return err
	}
	if err := s.decide(keep, drop, PairMerged, m.Reason); err != nil {
		return err
	}
	weight := map[PairState]int{PairOpen: 1, PairUndecided: 2, PairDifferent: 3}
	for _, p := range m.PairsBefore {
		other := p.A + p.B - drop
		if p.A != drop && p.B != drop || other == keep || p.State == PairMerged {
			continue
		}
		var id int64
		var state PairState
		err := s.one("SELECT id, state FROM pairs WHERE a = ? AND b = ?", []any{min(keep, other), max(keep, other)}, &id, &state)
		ok, err := found(err)
		switch {
		case err != nil:
		case !ok:
			_, err = s.exec("UPDATE pairs SET a = ?, b = ? WHERE id = ?", min(keep, other), max(keep, other), p.ID)
		case weight[p.State] > weight[state]:
			if _, err = s.exec("DELETE FROM pairs WHERE id = ?", id); err == nil {
				_, err = s.exec("UPDATE pairs SET a = ?, b = ? WHERE id = ?", min(keep, other), max(keep, other), p.ID)
			}
		default:
			_, err = s.exec("DELETE FROM pairs WHERE id = ?", p.ID)
		}
		if err != nil {
			return err
		}
	}
	m.PairsAfter, err = s.pairsOf(keep, drop)
	return err
}
