package graph

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// Merges lists the merges that stand, at most limit, the newest first.
func (g *Graph) Merges(ctx context.Context, limit int) ([]Merge, error) {
	var out []Merge
	err := each(ctx, g.read, "SELECT "+mergeColumns+" FROM merges WHERE undone_at IS NULL ORDER BY id DESC LIMIT ?",
		func(r *sql.Rows) error {
			m, err := scanMerge(r)
			out = append(out, m)
			return err
		}, max(limit, 0))
	if err != nil {
		return nil, fmt.Errorf("list merges: %w", g.plain(err))
	}
	return out, nil
}

// Undo makes two of what Merge made one. Both are again what they were; what
// was told since stays with the one that was kept. The error wraps ErrUnknown,
// ErrUndone, or ErrLaterMerge where the kept one took part in a later merge.
func (g *Graph) Undo(ctx context.Context, mergeID int64) error {
	err := g.change(ctx, func(s *session) error { return s.undo(mergeID) })
	if err != nil {
		return fmt.Errorf("undo merge %d: %w", mergeID, g.plain(err))
	}
	return nil
}

func (s *session) undo(id int64) error {
	var m Merge
	err := s.each("SELECT "+mergeColumns+" FROM merges WHERE id = ?", func(r *sql.Rows) (err error) {
		m, err = scanMerge(r)
		return err
	}, id)
	switch {
	case err != nil:
		return err
	case m.ID == 0:
		return ErrUnknown
	case !m.Undone.IsZero():
		return ErrUndone
	}
	var later int64
	err = s.one("SELECT id FROM merges WHERE id > ?1 AND undone_at IS NULL AND (kept_id = ?2 OR dropped_id = ?2) ORDER BY id DESC LIMIT 1",
		[]any{id, m.Kept}, &later)
	if ok, err := found(err); err != nil {
		return err
	} else if ok {
		return fmt.Errorf("%w: merge %d", ErrLaterMerge, later)
	}
	kept, err := s.entity(m.Kept)
	if err != nil {
		return err
	}
	s.touch(m.Kept, m.Dropped.ID)
	for _, step := range []func() error{
		func() error { return s.unindex(m.Kept) },
		func() error { return s.splitEntity(&m, kept) },
		func() error { return s.splitJoined(&m) },
		func() error { return s.moveBack(&m) },
		func() error { return s.standAgain(&m) },
		func() error { return s.splitPairs(&m) },
		func() error { return s.indexNames(m.Kept) },
		func() error { return s.indexNames(m.Dropped.ID) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	_, err = s.exec("UPDATE merges SET undone_at = ? WHERE id = ?", s.now, id)
	return err
}

// splitEntity brings the dropped row back and takes out of the kept one what
// it had from it.
func (s *session) splitEntity(m *Merge, kept EntityRecord) error {
	var taken bool
	for n := 2; ; n++ {
		if err := s.one("SELECT EXISTS(SELECT 1 FROM entities WHERE name = ?)", []any{m.Dropped.Name}, &taken); err != nil {
			return err
		}
		if !taken {
			break
		}
		m.Dropped.Name = qualified(m.Dropped.Names[0].Name, fmt.Sprint(n)) // a bearer of the label has come since
	}
	if _, err := s.putEntity(m.Dropped); err != nil {
		return err
	}
	for _, n := range m.Given {
		if _, err := s.exec("DELETE FROM aliases WHERE key = ? AND entity_id = ? AND speaker = ?", nameKey(n.Name),
			m.Kept, n.Speaker); err != nil {
			return err
		}
	}
	for _, n := range m.Dropped.Names {
		if _, err := s.putName(m.Dropped.ID, n); err != nil {
			return err
		}
	}
	for _, i := range m.Dropped.Identities {
		if _, err := s.exec("UPDATE identities SET entity_id = ? WHERE kind = ? AND value = ? AND entity_id = ?",
			m.Dropped.ID, i.Kind, i.Value, m.Kept); err != nil {
			return err
		}
	}
	now := Standing{Type: kept.Type, Vague: kept.Vague, Created: kept.Created, Updated: kept.Updated}
	if now.Type == m.After.Type {
		now.Type = m.Before.Type
	}
	if now.Vague == m.After.Vague {
		now.Vague = m.Before.Vague
	}
	if now.Created.Equal(m.After.Created) {
		now.Created = m.Before.Created
	}
	if now.Updated.Equal(m.After.Updated) {
		now.Updated = m.Before.Updated
	}
	_, err := s.exec(`UPDATE entities SET mention_count = mention_count - ?, type = ?, vague = ?,
		created_at = ?, updated_at = ? WHERE id = ?`,
		m.Dropped.Mentions, now.Type, now.Vague, ms(now.Created), ms(now.Updated), m.Kept)
	return err
}

// splitJoined brings back the rows of facts that both had.
func (s *session) splitJoined(m *Merge) error {
	for _, j := range slices.Backward(m.Joined) {
		w, err := s.weight(j.Into)
		if err != nil {
			return err
		}
		if w.Confidence == j.After.Confidence {
			w.Confidence = j.Before.Confidence
		}
		if w.Created.Equal(j.After.Created) {
			w.Created = j.Before.Created
		}
		if w.Updated.Equal(j.After.Updated) {
			w.Updated = j.Before.Updated
		}
		var status Status
		err = s.one("UPDATE relations SET confidence = ?, created_at = ?, updated_at = ?, heard = heard - ? WHERE id = ? RETURNING status",
			[]any{w.Confidence, ms(w.Created), ms(w.Updated), j.Fact.Heard, j.Into}, &status)
		if err != nil {
			return err
		}
		for _, t := range j.Turns {
			if _, err := s.exec("DELETE FROM hearings WHERE relation_id = ? AND turn_id = ?", j.Into, t); err != nil {
				return err
			}
		}
		f := j.Fact
		if status == Forgotten {
			// The wish to forget it was about both.
			f.Before, f.Status = f.Status, Forgotten
		}
		if err := s.follow(&f); err != nil {
			return err
		}
		if _, err := s.putFact(f); err != nil {
			return err
		}
		if err := s.indexFact(f.ID); err != nil {
			return err
		}
		s.touch(f.SubjectID, f.ObjectID)
	}
	return nil
}

// follow replaces ends that went into another entity by a later merge, and
// tells that merge, so that undoing it takes the fact along.
func (s *session) follow(f *FactRecord) error {
	for _, end := range []struct {
		id  *int64
		log End
	}{{&f.SubjectID, End{Fact: f.ID, Subject: true}}, {&f.ObjectID, End{Fact: f.ID, Object: true}}} {
		for {
			ok, err := found(s.one("SELECT 1 FROM entities WHERE id = ?", []any{*end.id}, new(int)))
			if ok || err != nil {
				if err != nil {
					return err
				}
				break
			}
			var later Merge
			err = s.each("SELECT "+mergeColumns+" FROM merges WHERE dropped_id = ? AND undone_at IS NULL ORDER BY id DESC LIMIT 1",
				func(r *sql.Rows) (err error) {
					later, err = scanMerge(r)
					return err
				}, *end.id)
			if err != nil {
				return err
			}
			if later.ID == 0 {
				return fmt.Errorf("%w: fact %d speaks of entity %d, which is not there", ErrDamaged, f.ID, *end.id)
			}
			later.Moved = append(later.Moved, end.log)
			if err := s.storeMerge(later); err != nil {
				return err
			}
			*end.id = later.Kept
		}
	}
	return nil
}

// indexFact puts a fact into the index by the names its ends have now.
func (s *session) indexFact(id int64) error {
	f, err := s.fact(id)
	if err == nil && f.ID != 0 && f.Status != Forgotten {
		s.index.put(kindFact, id, factTerms(f.Subject, f.Relation, f.Object))
	}
	return err
}

// fact reads a row; its ID is 0 if there is none.
func (s *session) fact(id int64) (f FactRecord, err error) {
	err = s.each(factRecord+"WHERE r.id = ?", func(r *sql.Rows) (err error) {
		f, err = scanFactRecord(r)
		return err
	}, id)
	return f, err
}

// moveBack lets the facts of the dropped entity speak of it again.
func (s *session) moveBack(m *Merge) error {
	for _, e := range m.Moved {
		f, err := s.fact(e.Fact)
		if err != nil {
			return err
		}
		if f.ID == 0 {
			continue // erased, or joined with another since
		}
		if f.Status != Forgotten {
			s.index.take(kindFact, f.ID, factTerms(f.Subject, f.Relation, f.Object))
		}
		if e.Subject && f.SubjectID == m.Kept {
			f.SubjectID = m.Dropped.ID
		}
		if e.Object && f.ObjectID == m.Kept {
			f.ObjectID = m.Dropped.ID
		}
		if _, err := s.exec("UPDATE relations SET source_id = ?, target_id = ? WHERE id = ?", f.SubjectID, f.ObjectID, f.ID); err != nil {
			return err
		}
		if err := s.indexFact(f.ID); err != nil {
			return err
		}
		s.touch(f.SubjectID, f.ObjectID)
	}
	return nil
}

// standAgain takes back that facts were ended by the merge alone.
func (s *session) standAgain(m *Merge) error {
	for _, e := range m.Ended {
		_, err := s.exec("UPDATE relations SET status = ?, updated_at = ? WHERE id = ? AND status = 'past' AND updated_at = ?",
			e.Status, ms(e.Updated), e.Fact, ms(e.At))
		if err != nil {
			return err
		}
	}
	return nil
}

// splitPairs brings the pairs back as they were, but for those that something
// was found out about since.
func (s *session) splitPairs(m *Merge) error {
	now, err := s.pairsOf(m.Kept, m.Dropped.ID)
	if err != nil {
		return err
	}
	for _, p := range m.PairsAfter {
		if slices.Contains(now, p) {
			if _, err := s.exec("DELETE FROM pairs WHERE id = ?", p.ID); err != nil {
				return err
			}
		}
	}
	for _, p := range m.PairsBefore {
		if _, err := s.putPair(p); err != nil {
			return err
		}
	}
	return nil
}
