package graph

import (
	"context"
	"database/sql"
	"slices"
)

// erase deletes facts and the entities left without any.
func (g *Graph) erase(ctx context.Context, facts []Fact) error {
	conn, err := g.write.Conn(ctx)
	if err != nil {
		return err
	}
	// Deleted content is overwritten with zeros, here and in the log below.
	_, err = conn.ExecContext(ctx, "PRAGMA secure_delete = ON")
	conn.Close()
	if err != nil {
		return err
	}
	err = g.change(ctx, func(s *session) error {
		var gone, ends []int64
		for _, f := range facts {
			// Read again: something may have come between.
			f, err := s.fact(f.ID)
			if err != nil {
				return err
			}
			if f.ID == 0 {
				continue
			}
			if _, err := s.exec("DELETE FROM relations WHERE id = ?", f.ID); err != nil {
				return err
			}
			gone, ends = append(gone, f.ID), append(ends, f.SubjectID, f.ObjectID)
			if f.Status != Forgotten {
				s.index.take(kindFact, f.ID, factTerms(f.Subject, f.Relation, f.Object))
			}
		}
		slices.Sort(ends)
		ends = slices.Compact(ends)
		if err := s.scrubMerges(gone, ends); err != nil {
			return err
		}
		return s.dropLonely(ends)
	})
	if err != nil {
		return err
	}
	_, err = g.write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// dropLonely deletes those of the entities that no relation speaks of, with
// what hangs on them.
func (s *session) dropLonely(ids []int64) error {
	for _, id := range ids {
		s.touch(id)
		var used bool
		err := s.one(`SELECT EXISTS(SELECT 1 FROM relations WHERE source_id = ?1)
			OR EXISTS(SELECT 1 FROM relations WHERE target_id = ?1)`, []any{id}, &used)
		if err != nil {
			return err
		}
		if used {
			continue
		}
		if err := s.unindex(id); err != nil {
			return err
		}
		for _, q := range []string{
			"DELETE FROM pairs WHERE a = ?1 OR b = ?1",
			"DELETE FROM merges WHERE kept_id = ?1 OR dropped_id = ?1", // their rows hold its names
			"DELETE FROM entities WHERE id = ?1",                       // aliases and identities go by their foreign keys
		} {
			if _, err := s.exec(q, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// unindex takes all names of an entity out of the index.
func (s *session) unindex(id int64) error {
	return s.each("SELECT alias FROM aliases WHERE entity_id = ?", func(rows *sql.Rows) error {
		var alias string
		err := rows.Scan(&alias)
		s.index.take(kindEntity, id, nameTerms(alias))
		return err
	}, id)
}

// scrubMerges takes erased facts out of the log of merges, whose undoing would
// bring them back.
func (s *session) scrubMerges(facts, ends []int64) error {
	var logs []Merge
	err := s.each(`SELECT `+mergeColumns+` FROM merges WHERE kept_id IN (SELECT value FROM json_each(?1))
		OR dropped_id IN (SELECT value FROM json_each(?1))`, func(r *sql.Rows) error {
		m, err := scanMerge(r)
		logs = append(logs, m)
		return err
	}, list(ends))
	if err != nil {
		return err
	}
	for _, m := range logs {
		gone := func(id int64) bool { return slices.Contains(facts, id) }
		m.Moved = slices.DeleteFunc(m.Moved, func(e End) bool { return gone(e.Fact) })
		m.Joined = slices.DeleteFunc(m.Joined, func(j Joined) bool { return gone(j.Fact.ID) || gone(j.Into) })
		m.Ended = slices.DeleteFunc(m.Ended, func(e Ended) bool { return gone(e.Fact) })
		if err := s.storeMerge(m); err != nil {
			return err
		}
	}
	return nil
}
