package relevance

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/provider"
)

// Buckets of state.db. Keys are the events' sequence numbers, 8 bytes big
// endian, values the messages as JSON.
const (
	liveBucket    = "context"
	prunedBucket  = "pruned"
	damagedBucket = "context_damaged"
)

// Load reads the saved context. Entries that do not parse are left out and
// counted in damaged; SetDamagedAside moves them out of the way.
func Load(tx *bolt.Tx, opts Options) (c *Context, damaged int, err error) {
	c = New(opts)
	b := tx.Bucket([]byte(liveBucket))
	if b == nil {
		return c, 0, nil
	}
	err = b.ForEach(func(k, v []byte) error {
		var m provider.Message
		if len(k) != 8 || json.Unmarshal(v, &m) != nil {
			damaged++
			return nil
		}
		e := &event{seq: binary.BigEndian.Uint64(k), msg: m}
		c.events = append(c.events, e)
		if m.ID != "" {
			c.ids[m.ID] = true
		}
		c.next = e.seq + 1
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("load context: %w", err)
	}
	if p := tx.Bucket([]byte(prunedBucket)); p != nil {
		c.moved = p.Sequence()
		c.recall(p)
	}
	return c, damaged, nil
}

// recall learns from the pruned events what is needed of them: the last number
// that was given out, and the newest ids.
func (c *Context) recall(pruned *bolt.Bucket) {
	cur := pruned.Cursor()
	var ids []string
	for k, v := cur.Last(); k != nil && len(ids) < remembered; k, v = cur.Prev() {
		if len(k) == 8 {
			c.next = max(c.next, binary.BigEndian.Uint64(k)+1)
		}
		var m struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(v, &m) == nil && m.ID != "" {
			ids = append(ids, m.ID)
		}
	}
	slices.Reverse(ids)
	for _, id := range ids {
		c.forgetLater(id)
	}
}

// SaveTx writes the changes since the last save into tx. The caller calls done
// once the transaction is durable; without that the next save writes them
// again. Saves must not overlap.
func (c *Context) SaveTx(tx *bolt.Tx) (done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	live, err := tx.CreateBucketIfNotExists([]byte(liveBucket))
	if err != nil {
		return nil, fmt.Errorf("save context: %w", err)
	}
	pruned, err := tx.CreateBucketIfNotExists([]byte(prunedBucket))
	if err != nil {
		return nil, fmt.Errorf("save context: %w", err)
	}
	for _, e := range c.gone {
		// Written under its new name before it goes from its old one.
		if err := put(pruned, e); err != nil {
			return nil, err
		}
		if err := live.Delete(key(e.seq)); err != nil {
			return nil, fmt.Errorf("save context: %w", err)
		}
	}
	if err := pruned.SetSequence(c.moved + uint64(len(c.gone))); err != nil {
		return nil, fmt.Errorf("save context: %w", err)
	}
	var saved []uint64
	for _, e := range c.events {
		if !c.unsaved[e.seq] {
			continue
		}
		if err := put(live, e); err != nil {
			return nil, err
		}
		saved = append(saved, e.seq)
	}
	n := len(c.gone)
	return func() { c.saved(saved, n) }, nil
}

// saved forgets changes that are durable: the events' numbers, and the first
// n of those gone.
func (c *Context) saved(live []uint64, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, seq := range live {
		delete(c.unsaved, seq)
	}
	for _, e := range c.gone[:n] {
		delete(c.unsaved, e.seq)
	}
	c.gone = slices.Clone(c.gone[n:])
	c.moved += uint64(n)
}

func key(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

func put(b *bolt.Bucket, e *event) error {
	v, err := json.Marshal(e.msg)
	if err == nil {
		err = b.Put(key(e.seq), v)
	}
	if err != nil {
		return fmt.Errorf("save event %d: %w", e.seq, err)
	}
	return nil
}

// SetDamagedAside moves entries that Load could not read out of the context,
// so that they are kept and said once.
func SetDamagedAside(tx *bolt.Tx) error {
	b := tx.Bucket([]byte(liveBucket))
	if b == nil {
		return nil
	}
	aside, err := tx.CreateBucketIfNotExists([]byte(damagedBucket))
	if err != nil {
		return fmt.Errorf("set damaged events aside: %w", err)
	}
	var bad [][]byte
	err = b.ForEach(func(k, v []byte) error {
		var m provider.Message
		if v == nil || len(k) == 8 && json.Unmarshal(v, &m) == nil {
			return nil
		}
		bad = append(bad, slices.Clone(k))
		return aside.Put(k, v)
	})
	for _, k := range bad {
		err = errors.Join(err, b.Delete(k))
	}
	if err != nil {
		return fmt.Errorf("set damaged events aside: %w", err)
	}
	return nil
}

// Pruned calls f for each pruned event, oldest first, until it returns false.
func Pruned(tx *bolt.Tx, f func(m provider.Message) bool) error {
	b := tx.Bucket([]byte(prunedBucket))
	if b == nil {
		return nil
	}
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		var m provider.Message
		if err := json.Unmarshal(v, &m); err != nil {
			continue // it stays where it is; a reader takes what can be read
		}
		if !f(m) {
			break
		}
	}
	return nil
}
