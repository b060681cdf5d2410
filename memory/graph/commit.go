package graph

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"homeagent/agent/plugin"
	"homeagent/memory/token"
)

const (
	// firstConfidence is that of a fact heard once; hearing it again takes
	// away gain of what is missing to 1.
	firstConfidence = 0.6
	gain            = 0.4
)

// Origin is where facts come from.
type Origin struct {
	// Source is free text: a session, "user", "distiller".
	Source string
	// Turn is the id of the turn, "" outside one. The same fact from the same
	// turn counts once.
	Turn string
}

// Committed says what a Commit did.
type Committed struct {
	// Added facts are new, Confirmed ones were known, Ended ones are past now.
	Added, Confirmed, Ended int
}

// Commit takes facts in, all or none: the error names the first that cannot
// be taken and wraps ErrTooLong or ErrEmpty. Relation, or object, may be empty,
// not both; a relation without an object is taken as the object.
func (g *Graph) Commit(ctx context.Context, triples []plugin.Triple, from Origin) (Committed, error) {
	clean := make([]plugin.Triple, len(triples))
	for i, t := range triples {
		var err error
		if clean[i], err = cleanTriple(t); err != nil {
			return Committed{}, fmt.Errorf("commit fact %d: %w", i+1, err)
		}
	}
	if len(clean) == 0 {
		return Committed{}, nil
	}
	var c *committer
	err := g.update(ctx, func(tx *sql.Tx) error {
		c = &committer{ctx: ctx, tx: tx, from: from, now: g.now().UnixMilli(), day: g.now().Format("2006-01-02"), index: newIndex()}
		for _, t := range clean {
			if err := c.commit(t); err != nil {
				return err
			}
		}
		return c.index.flush(ctx, tx)
	})
	if err != nil {
		return Committed{}, fmt.Errorf("commit facts: %w", err)
	}
	return c.done, nil
}

// cleanTriple cleans the fields and refuses what says nothing.
func cleanTriple(t plugin.Triple) (plugin.Triple, error) {
	var errs [3]error
	t.Subject, errs[0] = clean("subject", t.Subject)
	t.Relation, errs[1] = clean("relation", t.Relation)
	t.Object, errs[2] = clean("object", t.Object)
	if err := errors.Join(errs[:]...); err != nil {
		return t, err
	}
	switch {
	case !visible(t.Subject):
		return t, fmt.Errorf("subject: %w", ErrEmpty)
	case !visible(t.Object) && !visible(t.Relation):
		return t, fmt.Errorf("relation and object: %w", ErrEmpty)
	}
	if !visible(t.Object) {
		t.Relation, t.Object = "", t.Relation
	}
	return t, nil
}

// committer is the state of one Commit.
type committer struct {
	ctx   context.Context
	tx    *sql.Tx
	from  Origin
	now   int64
	day   string
	index *index
	done  Committed
}

func (c *committer) commit(t plugin.Triple) error {
	source, err := c.entity(t.Subject)
	if err != nil {
		return err
	}
	target, err := c.entity(t.Object)
	if err != nil {
		return err
	}
	key, one := relationKey(t.Relation, t.Object)
	known, err := c.confirm(source, target, key)
	if err != nil || known {
		return err
	}
	if one {
		res, err := c.tx.ExecContext(c.ctx, `UPDATE relations SET status = 'past', updated_at = ?
			WHERE source_id = ? AND relation_key = ? AND status = 'active'`, c.now, source, key)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		c.done.Ended += int(n)
	}
	res, err := c.tx.ExecContext(c.ctx, `INSERT INTO relations
		(source_id, target_id, relation_type, relation_key, confidence, status, session_id, turn_id, created_at, updated_at, date_bucket)
		VALUES(?, ?, ?, ?, ?, 'active', ?, ?, ?, ?, ?)`,
		source, target, t.Relation, key, firstConfidence, c.from.Source, c.from.Turn, c.now, c.now, c.day)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	c.done.Added++
	c.index.put(kindFact, id, factTerms(t.Subject, t.Relation, t.Object))
	return nil
}

// confirm raises the confidence of a fact that already holds.
func (c *committer) confirm(source, target int64, key string) (bool, error) {
	var id int64
	var turn string
	err := c.tx.QueryRowContext(c.ctx, `SELECT id, turn_id FROM relations
		WHERE source_id = ? AND relation_key = ? AND target_id = ? AND status = 'active'`, source, key, target).Scan(&id, &turn)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c.done.Confirmed++
	if c.from.Turn != "" && turn == c.from.Turn {
		return true, nil
	}
	_, err = c.tx.ExecContext(c.ctx, `UPDATE relations SET confidence = confidence + (1 - confidence) * ?,
		updated_at = ?, turn_id = ?, session_id = ? WHERE id = ?`, gain, c.now, c.from.Turn, c.from.Source, id)
	return true, err
}

// entity finds or makes the entity of a name and counts the mention.
func (c *committer) entity(name string) (int64, error) {
	key := token.Fold(name)
	var id int64
	// A label beats an alias; among aliases the one spoken of most.
	err := c.tx.QueryRowContext(c.ctx, `SELECT e.id FROM aliases a JOIN entities e ON e.id = a.entity_id
		WHERE a.key = ? ORDER BY e.name = ? DESC, e.mention_count DESC, e.id LIMIT 1`, key, name).Scan(&id)
	if err == nil {
		_, err = c.tx.ExecContext(c.ctx, "UPDATE entities SET mention_count = mention_count + 1, updated_at = ? WHERE id = ?", c.now, id)
		return id, err
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	res, err := c.tx.ExecContext(c.ctx, "INSERT INTO entities(name, type, mention_count, created_at, updated_at) VALUES(?, ?, 1, ?, ?)",
		name, entityType(name), c.now, c.now)
	if err != nil {
		return 0, err
	}
	if id, err = res.LastInsertId(); err != nil {
		return 0, err
	}
	if _, err := c.tx.ExecContext(c.ctx, "INSERT INTO aliases(key, entity_id, alias, created_at) VALUES(?, ?, ?, ?)", key, id, name, c.now); err != nil {
		return 0, err
	}
	c.index.put(kindEntity, id, nameTerms(name))
	return id, nil
}
