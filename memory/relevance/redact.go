package relevance

import (
	"encoding/json"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/provider"
)

// Redact takes the live events for which keep is false out of the context, and
// with a call its answers; the next save takes them out of the database. They
// are not pruned, but gone. It returns their ids. Events pruned but not yet
// saved go as well; for those that wait in the database see RedactPruned. keep
// must not call the Context.
func (c *Context) Redact(keep func(provider.Message) bool) (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	drop := map[int]bool{}
	for _, u := range c.units() {
		if slices.ContainsFunc(u.members, func(i int) bool { return !keep(c.events[i].msg) }) {
			for _, i := range u.members {
				drop[i] = true
			}
		}
	}
	live := c.events[:0:0]
	for i, e := range c.events {
		if !drop[i] {
			live = append(live, e)
			continue
		}
		ids = append(ids, e.msg.ID)
		c.erase(e)
	}
	c.events = live
	c.gone = slices.DeleteFunc(slices.Clone(c.gone), func(e *event) bool {
		if keep(e.msg) {
			return false
		}
		ids = append(ids, e.msg.ID)
		c.erase(e)
		return true
	})
	return ids
}

// erase notes that an event is to go from the database. Its id stays known for
// a while, so that a turn taken up again does not bring it back. The caller
// holds mu.
func (c *Context) erase(e *event) {
	delete(c.unsaved, e.seq)
	c.erased = append(c.erased, e.seq)
	c.forgetLater(e.msg.ID)
}

// RedactPruned deletes the pruned events for which keep is false, and those
// that do not parse: nobody can tell what they hold. Pages that the database has
// set free keep the bytes until something is written over them.
func RedactPruned(tx *bolt.Tx, keep func(provider.Message) bool) (deleted int, err error) {
	b := tx.Bucket([]byte(prunedBucket))
	if b == nil {
		return 0, nil
	}
	var gone [][]byte
	err = b.ForEach(func(k, v []byte) error {
		var m stored
		if v != nil && (json.Unmarshal(v, &m) != nil || !keep(m.Message)) {
			gone = append(gone, slices.Clone(k))
		}
		return nil
	})
	for _, k := range gone {
		if err == nil {
			err = b.Delete(k)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("redact pruned events: %w", err)
	}
	return len(gone), nil
}
