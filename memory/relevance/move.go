package relevance

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/provider"
)

// Place is where an event stands among all that was said.
type Place struct {
	// Turn is the id of its turn.
	Turn string `json:"turn,omitempty"`
	// Stream is the session or channel, and Seq the place in it.
	Stream string `json:"stream,omitempty"`
	Seq    int64  `json:"seq,omitempty"`
}

// Locate notes the place of an event that is live, or was pruned and is not yet
// saved; the next save writes it. It reports whether there is such an event.
func (c *Context) Locate(id string, p Place) bool {
	if id == "" {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range slices.Backward(c.events) {
		if e.msg.ID == id {
			if e.place != p {
				e.place = p
				c.unsaved[e.seq] = true
			}
			return true
		}
	}
	for _, e := range c.gone {
		if e.msg.ID == id {
			e.place = p
			return true
		}
	}
	return false
}

// Gone is an event that was pruned.
type Gone struct {
	// Number is the key under which it waits.
	Number uint64
	// Place has what Locate said. Where it said nothing, Turn is taken from the
	// message's id, Stream is the source of the turn's user message if that is
	// among the events taken with it, and Seq is Number.
	Place
	// Message is unaltered, except that one without an id was given one, the
	// same each time.
	Message provider.Message
}

const (
	// takeBytes is how many bytes of entries are taken at once: media are among
	// them.
	takeBytes = 8 << 20
	// lookAhead is how many further entries are searched for answers to calls
	// that were taken.
	lookAhead = 64
)

// TakePruned returns the oldest pruned events, in the order of the conversation:
// limit of them, or fewer where they are large, and the answers to calls among
// them. They stay until DropPruned. damaged counts entries that do not parse,
// which SetDamagedAside moves out of the way.
func TakePruned(tx *bolt.Tx, limit int) (gone []Gone, damaged int, err error) {
	b := tx.Bucket([]byte(prunedBucket))
	if b == nil || limit <= 0 {
		return nil, 0, nil
	}
	open := map[string]bool{} // calls that wait for their answers
	size, ahead := 0, 0
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		full := len(gone) >= limit || size >= takeBytes
		if full {
			if ahead++; len(open) == 0 || ahead > lookAhead {
				break
			}
		}
		var m stored
		if len(k) != 8 || json.Unmarshal(v, &m) != nil {
			damaged++
			continue
		}
		answer := m.Role == provider.Tool && open[m.CallID]
		if full && !answer {
			continue
		}
		delete(open, m.CallID)
		for _, call := range m.Calls {
			open[call.ID] = true
		}
		size += len(v)
		gone = append(gone, goneOf(binary.BigEndian.Uint64(k), &m))
	}
	nameStreams(gone)
	return gone, damaged, nil
}

func goneOf(number uint64, m *stored) Gone {
	g := Gone{Number: number, Place: m.place(), Message: m.Message}
	if g.Message.ID == "" {
		// The number alone would come again should state.db begin anew.
		g.Message.ID = fmt.Sprintf("event-%d-%d", number, m.Time.UnixMilli())
	}
	if g.Turn == "" {
		if i := strings.LastIndexByte(m.ID, '/'); i > 0 {
			g.Turn = m.ID[:i]
		}
	}
	if g.Seq == 0 {
		g.Seq = int64(number)
	}
	return g
}

// nameStreams gives events without a stream that of their turn's user message.
func nameStreams(gone []Gone) {
	source := map[string]string{}
	for _, g := range gone {
		if g.Message.Role == provider.User && g.Turn != "" {
			source[g.Turn] = g.Message.Source
		}
	}
	for i := range gone {
		if gone[i].Stream == "" {
			gone[i].Stream = source[gone[i].Turn]
		}
	}
}

// DropPruned removes events that TakePruned returned and that are durable where
// they were taken. The ids of the newest are remembered, so that a turn taken up
// again does not add them a second time. Dropping twice is harmless.
func DropPruned(tx *bolt.Tx, gone []Gone) error {
	b := tx.Bucket([]byte(prunedBucket))
	if b == nil || len(gone) == 0 {
		return nil
	}
	moved, err := tx.CreateBucketIfNotExists([]byte(movedBucket))
	if err != nil {
		return fmt.Errorf("drop pruned events: %w", err)
	}
	for _, g := range gone {
		k := key(g.Number)
		err := b.Delete(k)
		if err == nil {
			err = moved.Put(k, []byte(g.Message.ID))
		}
		if err != nil {
			return fmt.Errorf("drop pruned events: %w", err)
		}
	}
	return trim(moved)
}

// trim leaves the newest ids.
func trim(moved *bolt.Bucket) error {
	var old [][]byte
	n := 0
	c := moved.Cursor()
	for k, _ := c.Last(); k != nil; k, _ = c.Prev() {
		if n++; n > remembered {
			old = append(old, slices.Clone(k))
		}
	}
	for _, k := range old {
		if err := moved.Delete(k); err != nil {
			return fmt.Errorf("drop pruned events: %w", err)
		}
	}
	return nil
}

// Waiting is the number of pruned events that were not dropped yet.
func Waiting(tx *bolt.Tx) int {
	b := tx.Bucket([]byte(prunedBucket))
	if b == nil {
		return 0
	}
	return b.Stats().KeyN
}

// SetDamagedAside moves entries that cannot be read, live ones and pruned ones,
// out of the way, so that they are kept and said once.
func SetDamagedAside(tx *bolt.Tx) error {
	for _, name := range []string{liveBucket, prunedBucket} {
		if err := setAside(tx, name); err != nil {
			return fmt.Errorf("set damaged events aside: %w", err)
		}
	}
	return nil
}

func setAside(tx *bolt.Tx, name string) error {
	b := tx.Bucket([]byte(name))
	if b == nil {
		return nil
	}
	aside, err := tx.CreateBucketIfNotExists([]byte(damagedBucket))
	if err != nil {
		return err
	}
	var bad [][]byte
	err = b.ForEach(func(k, v []byte) error {
		var m stored
		if v == nil || len(k) == 8 && json.Unmarshal(v, &m) == nil {
			return nil
		}
		bad = append(bad, slices.Clone(k))
		return aside.Put(k, v)
	})
	for _, k := range bad {
		err = errors.Join(err, b.Delete(k))
	}
	return err
}

// Pruned calls f for each pruned event that was not dropped, oldest first,
// until it returns false. Entries that do not parse are passed over.
func Pruned(tx *bolt.Tx, f func(m provider.Message) bool) error {
	b := tx.Bucket([]byte(prunedBucket))
	if b == nil {
		return nil
	}
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		var m provider.Message
		if err := json.Unmarshal(v, &m); err != nil {
			continue
		}
		if !f(m) {
			break
		}
	}
	return nil
}
