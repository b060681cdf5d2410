package graph

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"homeagent/agent/plugin"
)

// Committed says what a Commit did.
type Committed struct {
	// Added facts are new, Confirmed ones were known, Ended ones are past now.
	Added, Confirmed, Ended int
	// Nominated pairs of entities may be one and wait for a decision.
	Nominated int
}

// Commit takes facts in, all or none: the error names the first that cannot
// be taken and wraps ErrTooLong or ErrEmpty. Relation, or object, may be empty,
// not both; a relation without an object is taken as the object.
func (g *Graph) Commit(ctx context.Context, triples []plugin.Triple, from Origin) (Committed, error) {
	statements := make([]Statement, len(triples))
	for i, t := range triples {
		statements[i] = Statement{Triple: t, Origin: from}
	}
	return g.Learn(ctx, statements)
}

// Learn is Commit for facts of which more is known.
func (g *Graph) Learn(ctx context.Context, statements []Statement) (Committed, error) {
	clean := make([]Statement, len(statements))
	for i, s := range statements {
		var err error
		if clean[i], err = cleanStatement(s); err != nil {
			return Committed{}, fmt.Errorf("commit fact %d: %w", i+1, err)
		}
	}
	if len(clean) == 0 {
		return Committed{}, nil
	}
	var done Committed
	err := g.change(ctx, func(s *session) error {
		c := &committer{session: s, relative: g.relative, clock: g.now()}
		for _, st := range clean {
			if err := c.learn(st); err != nil {
				return err
			}
		}
		done = c.done
		return nil
	})
	if err != nil {
		return Committed{}, fmt.Errorf("commit facts: %w", err)
	}
	return done, nil
}

// committer is the state of one Learn.
type committer struct {
	*session
	relative func(string) bool
	clock    time.Time
	done     Committed
}

// claim is a statement with its ends looked up and not yet made.
type claim struct {
	Statement
	source, target place
	key            string
	one            bool
	said           int64
	heard          int64 // milliseconds since 1970
	day            string
	late           bool // Heard was given
}

func (c *committer) learn(st Statement) (err error) {
	k := claim{Statement: st, said: said(st.Subject, st.Relation, st.Object), heard: c.now, day: c.clock.Format(time.DateOnly)}
	if !st.Heard.IsZero() && st.Heard.UnixMilli() < c.now {
		k.heard, k.day, k.late = st.Heard.UnixMilli(), st.Heard.In(c.clock.Location()).Format(time.DateOnly), true
	}
	k.key, k.one = relationKey(st.Relation, st.Object)
	if k.source, err = c.resolve(mention{st.Subject, st.SubjectType, st.SubjectID, st.Speaker}); err != nil {
		return err
	}
	if k.target, err = c.resolve(mention{st.Object, st.ObjectType, st.ObjectID, st.Speaker}); err != nil {
		return err
	}
	known, err := c.known(&k)
	if err != nil {
		return err
	}
	for _, r := range known {
		if r.told {
			// The turn is taken up again: whatever has become of the fact since stands.
			c.done.Confirmed++
			return nil
		}
	}
	if k.Retracted {
		return c.retract(&k, known)
	}
	for _, r := range known {
		if r.status == Active || r.status == Archived {
			return c.confirm(&k, r)
		}
	}
	return c.add(&k)
}

// row is a relation that says what a claim says.
type row struct {
	id, source, target int64
	status             Status
	told               bool // in the claim's turn
}

// known finds the rows, of any status, that say what the claim says: by ends
// and relation, in either order where both are the same, else by the words.
func (c *committer) known(k *claim) ([]row, error) {
	var rows []row
	collect := func(r *sql.Rows) error {
		var x row
		err := r.Scan(&x.id, &x.source, &x.target, &x.status, &x.told)
		rows = append(rows, x)
		return err
	}
	const columns = `SELECT r.id, r.source_id, r.target_id, r.status,
		?1 <> '' AND (r.turn_id = ?1 OR EXISTS(SELECT 1 FROM hearings h WHERE h.relation_id = r.id AND h.turn_id = ?1)) FROM relations r `
	const byEnds = columns + "WHERE r.source_id = ?2 AND r.relation_key = ?3 AND r.target_id = ?4 ORDER BY r.id DESC LIMIT 64"
	s, t := k.source.id, k.target.id
	if s != 0 && t != 0 {
		err := c.each(byEnds, collect, k.Turn, s, k.key, t)
		if err == nil && s != t && symmetric(k.key) {
			err = c.each(byEnds, collect, k.Turn, t, k.key, s)
		}
		if err != nil || len(rows) > 0 {
			return rows, err
		}
	}
	if k.source.pinned && s == 0 || k.target.pinned && t == 0 {
		return nil, nil // one of the ends is certainly new
	}
	err := c.each(columns+"WHERE r.said = ?2 ORDER BY r.id DESC LIMIT 64", collect, k.Turn, k.said)
	// The same words about another bearer of a name are another fact. An end
	// that would have to be made comes from another cut of the sentence.
	same := rows[:0]
	for _, r := range rows {
		if (s == 0 || s == r.source) && (t == 0 || t == r.target) {
			same = append(same, r)
		}
	}
	return same, err
}

// confirm raises the confidence of a fact that holds, and wakes one that was
// archived.
func (c *committer) confirm(k *claim, r row) error {
	c.done.Confirmed++
	_, err := c.exec(`UPDATE relations SET confidence = confidence + (1 - confidence) * ?, heard = heard + 1, status = 'active',
		updated_at = max(updated_at, ?) WHERE id = ?`, gain*math.Min(1, k.Confidence/firstConfidence), k.heard, r.id)
	if err == nil && k.Turn != "" {
		_, err = c.exec("INSERT OR IGNORE INTO hearings(relation_id, turn_id) VALUES(?, ?)", r.id, k.Turn)
	}
	if err == nil && r.status == Archived && k.one {
		// What came meanwhile would have ended it, so nothing has.
		_, err = c.endOthers(k, r.source, r.id)
	}
	if k.source.id == r.target || k.target.id == r.source {
		r.source, r.target = r.target, r.source // told from the other side
	}
	for _, p := range []struct {
		place place
		end   int64
	}{{k.source, r.source}, {k.target, r.target}} {
		if err == nil {
			p.place.id = p.end
			err = c.mention(&p.place, true)
		}
	}
	return err
}

// add makes a new row, and history of what it contradicts.
func (c *committer) add(k *claim) error {
	if err := c.make(k); err != nil {
		return err
	}
	status, updated := Active, k.heard
	if k.one && k.late {
		// A late report of what was so before the standing fact was.
		since, err := c.standsSince(k)
		if err != nil {
			return err
		}
		if since > k.heard {
			status, updated = Past, since
		}
	}
	if status == Active {
		if _, err := c.endOthers(k, k.source.id, 0); err != nil {
			return err
		}
	}
	return c.put(k, status, updated)
}

// standsSince is when the fact was first heard that a claim would end, 0 if there is none.
func (c *committer) standsSince(k *claim) (since int64, err error) {
	err = c.one(`SELECT coalesce(max(created_at), 0) FROM relations
		WHERE source_id = ? AND relation_key = ? AND status IN ('active', 'archived')`,
		[]any{k.source.id, k.key}, &since)
	return since, err
}

// endOthers makes history of the facts that a claim of source contradicts:
// other answers to a question that has one, and the opposite.
func (c *committer) endOthers(k *claim, source, except int64) (int, error) {
	ended := 0
	end := func(where string, args ...any) error {
		var ids, others []int64
		err := c.each("SELECT id, target_id FROM relations WHERE status IN ('active', 'archived') AND "+where, func(r *sql.Rows) error {
			var id, other int64
			err := r.Scan(&id, &other)
			if id != except {
				ids, others = append(ids, id), append(others, other)
			}
			return err
		}, args...)
		for i, id := range ids {
			if err != nil {
				return err
			}
			_, err = c.exec("UPDATE relations SET status = 'past', updated_at = max(created_at, ?) WHERE id = ?", k.heard, id)
			c.touch(source, others[i])
			ended++
		}
		return err
	}
	if k.one {
		if err := end("source_id = ? AND relation_key = ?", source, k.key); err != nil {
			return 0, err
		}
	}
	if k.target.id != 0 {
		if err := end("source_id = ? AND relation_key = ? AND target_id = ?", source, opposite(k.key), k.target.id); err != nil {
			return 0, err
		}
	}
	c.done.Ended += ended
	return ended, nil
}

// retract ends a fact without a successor. One that nobody had told is written
// down as history, so that it can be asked for.
func (c *committer) retract(k *claim, known []row) error {
	ended := 0
	for _, r := range known {
		if r.status != Active && r.status != Archived {
			continue
		}
		if _, err := c.exec("UPDATE relations SET status = 'past', updated_at = max(created_at, ?) WHERE id = ?",
			k.heard, r.id); err != nil {
			return err
		}
		if k.Turn != "" {
			if _, err := c.exec("INSERT OR IGNORE INTO hearings(relation_id, turn_id) VALUES(?, ?)", r.id, k.Turn); err != nil {
				return err
			}
		}
		c.touch(r.source, r.target)
		ended++
	}
	c.done.Ended += ended
	if ended > 0 || len(known) > 0 {
		return nil
	}
	if err := c.make(k); err != nil {
		return err
	}
	return c.put(k, Past, k.heard)
}

// make makes the ends that are not there yet and counts the mentions.
func (c *committer) make(k *claim) error {
	if err := c.mention(&k.source, true); err != nil {
		return err
	}
	if k.target.id == 0 && nameKey(k.target.name) == nameKey(k.source.name) && !k.target.pinned && !k.source.pinned {
		k.target.id, k.target.label = k.source.id, k.source.label // both ends are the same new entity
	}
	return c.mention(&k.target, true)
}

// put inserts the relation.
func (c *committer) put(k *claim, status Status, updated int64) error {
	id, err := c.insert(`INSERT INTO relations
		(source_id, target_id, relation_type, relation_key, said, confidence, status, session_id, turn_id, speaker,
		created_at, updated_at, date_bucket)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		k.source.id, k.target.id, k.Relation, k.key, k.said, k.Confidence, status, k.Source, k.Turn, k.Speaker, k.heard, updated, k.day)
	if err != nil {
		return err
	}
	c.done.Added++
	c.index.put(kindFact, id, factTerms(k.source.label, k.Relation, k.target.label))
	return nil
}

// found tells a missing row from an error.
func found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
