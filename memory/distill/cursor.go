package distill

import (
	"encoding/json"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"homeagent/memory/state"
)

// Position is how far the journal has been distilled.
type Position struct {
	// Seq is the number of the last line whose facts are committed.
	Seq uint64 `json:"seq"`
	// Through is the number of the last line whose facts are in Pending; it is
	// not above Seq where nothing is pending.
	Through uint64 `json:"through,omitempty"`
	// Pending are the facts of lines behind Seq that are found and not yet
	// committed, a turn each, in order.
	Pending []Portion `json:"pending,omitempty"`
}

// Portion is the facts of one line.
type Portion struct {
	Seq   uint64 `json:"seq"`
	Facts []Fact `json:"facts"`
}

// Cursor keeps a Position. Set is durable when it returns nil.
type Cursor interface {
	Get() (Position, error)
	Set(Position) error
}

const (
	cursorBucket = "distill"
	cursorKey    = "position"
)

// StateCursor keeps the position in state.db.
type StateCursor struct{ DB *state.DB }

var _ Cursor = StateCursor{}

// Get returns the position kept, the zero one if there is none. A value that
// does not parse counts as none: distilling again does no harm.
func (c StateCursor) Get() (p Position, err error) {
	err = c.DB.View(func(tx *bolt.Tx) error {
		if b := tx.Bucket([]byte(cursorBucket)); b != nil {
			if json.Unmarshal(b.Get([]byte(cursorKey)), &p) != nil {
				p = Position{}
			}
		}
		return nil
	})
	return p, err
}

// Set keeps a position.
func (c StateCursor) Set(p Position) error {
	v, err := json.Marshal(p)
	if err == nil {
		err = c.DB.Update(func(tx *bolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte(cursorBucket))
			if err != nil {
				return err
			}
			return b.Put([]byte(cursorKey), v)
		})
	}
	if err != nil {
		return fmt.Errorf("keep the distiller's position: %w", err)
	}
	return nil
}
