package relevance

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/provider"
)

// Buckets of state.db. Keys are the events' sequence numbers, 8 bytes big
// endian, values the messages with their places as JSON; in movedBucket the ids
// alone. The sequence of liveBucket is the next number, that of prunedBucket
// counts the events ever pruned.
const (
	liveBucket    = "context"
	prunedBucket  = "pruned"
	movedBucket   = "pruned_moved"
	damagedBucket = "context_damaged"
)

// stored is an event in a bucket.
type stored struct {
	provider.Message
	Place *Place `json:"place,omitempty"`
}

func (s *stored) place() Place {
	if s.Place == nil {
		return Place{}
	}
	return *s.Place
}

// Load reads the saved context. Entries that do not parse are left out and
// counted in damaged; SetDamagedAside moves them out of the way.
func Load(tx *bolt.Tx, opts Options) (c *Context, damaged int, err error) {
	c = New(opts)
	b := tx.Bucket([]byte(liveBucket))
	if b == nil {
		return c, 0, nil
	}
	err = b.ForEach(func(k, v []byte) error {
		var m stored
		if len(k) != 8 || json.Unmarshal(v, &m) != nil {
			damaged++
			return nil
		}
		e := &event{seq: binary.BigEndian.Uint64(k), msg: m.Message, place: m.place()}
		c.events = append(c.events, e)
		if m.ID != "" {
			c.ids[m.ID] = true
		}
		c.next = max(c.next, e.seq+1)
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("load context: %w", err)
	}
	c.next = max(c.next, b.Sequence())
	if p := tx.Bucket([]byte(prunedBucket)); p != nil {
		c.moved = p.Sequence()
	}
	c.recall(tx)
	return c, damaged, nil
}

// recall learns from the events that were pruned, moved further or not, what is
// needed of them: the last number that was given out, and the newest ids.
func (c *Context) recall(tx *bolt.Tx) {
	type gone struct {
		seq uint64
		id  string
	}
	var all []gone
	for _, name := range []string{prunedBucket, movedBucket} {
		b := tx.Bucket([]byte(name))
		if b == nil {
			continue
		}
		n := 0
		cur := b.Cursor()
		for k, v := cur.Last(); k != nil && n < remembered; k, v = cur.Prev() {
			if len(k) != 8 {
				continue
			}
			n++
			g := gone{seq: binary.BigEndian.Uint64(k), id: string(v)}
			c.next = max(c.next, g.seq+1)
			if name == prunedBucket {
				var m struct {
					ID string `json:"id"`
				}
				json.Unmarshal(v, &m) // of a damaged one the id is not known
				g.id = m.ID
			}
			all = append(all, g)
		}
	}
	slices.SortFunc(all, func(a, b gone) int { return cmp.Compare(a.seq, b.seq) })
	for _, g := range all {
		if !c.ids[g.id] {
			c.forgetLater(g.id)
		}
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
	for _, seq := range c.erased {
		if err := live.Delete(key(seq)); err != nil {
			return nil, fmt.Errorf("save context: %w", err)
		}
	}
	if err := pruned.SetSequence(c.moved + uint64(len(c.gone))); err != nil {
		return nil, fmt.Errorf("save context: %w", err)
	}
	if err := live.SetSequence(c.next); err != nil {
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
	gone, erased := slices.Clone(c.gone), len(c.erased)
	return func() { c.saved(saved, gone, erased) }, nil
}

// saved forgets changes that are durable: the events' numbers, those gone, and
// the first of those erased.
func (c *Context) saved(live []uint64, gone []*event, erased int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, seq := range live {
		delete(c.unsaved, seq)
	}
	for _, e := range gone {
		delete(c.unsaved, e.seq)
	}
	// One of them may have been redacted meanwhile.
	c.gone = slices.DeleteFunc(slices.Clone(c.gone), func(e *event) bool { return slices.Contains(gone, e) })
	c.moved += uint64(len(gone))
	c.erased = slices.Clone(c.erased[erased:])
}

func key(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

func put(b *bolt.Bucket, e *event) error {
	m := stored{Message: e.msg}
	if e.place != (Place{}) {
		m.Place = &e.place
	}
	v, err := json.Marshal(m)
	if err == nil {
		err = b.Put(key(e.seq), v)
	}
	if err != nil {
		return fmt.Errorf("save event %d: %w", e.seq, err)
	}
	return nil
}
