package state

import (
	"bytes"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/plugin"
)

// pluginsBucket holds a bucket a plugin.
const pluginsBucket = "plugins"

const (
	// MaxValue is the largest value of a Store, in bytes.
	MaxValue = 1 << 20
	// MaxKey is the longest key of a Store, in bytes.
	MaxKey = 1024
)

var (
	// ErrValueTooBig is wrapped when a value is larger than MaxValue.
	ErrValueTooBig = errors.New("value too big")
	// ErrKey is wrapped when a key is empty or longer than MaxKey.
	ErrKey = errors.New("key must have 1 to 1024 bytes")
)

// Store is the bucket of one plugin.
type Store struct {
	db   *DB
	name []byte
}

var _ plugin.Store = (*Store)(nil)

// Store returns the bucket of the named plugin; it comes into being with the
// first Put.
func (d *DB) Store(plugin string) *Store { return &Store{db: d, name: []byte(plugin)} }

// bucket is nil until the first Put.
func (s *Store) bucket(tx *bolt.Tx) *bolt.Bucket {
	all := tx.Bucket([]byte(pluginsBucket))
	if all == nil || len(s.name) == 0 {
		return nil
	}
	return all.Bucket(s.name)
}

// Get returns a copy of the value, nil where the key is missing.
func (s *Store) Get(key string) (value []byte, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		if b := s.bucket(tx); b != nil {
			if v := b.Get([]byte(key)); v != nil {
				value = append([]byte{}, v...) // not nil even where empty
			}
		}
		return nil
	})
	return value, s.wrap("get", key, err)
}

// Put sets a key. A nil value is stored as an empty one.
func (s *Store) Put(key string, value []byte) error {
	if len(key) == 0 || len(key) > MaxKey {
		return s.wrap("put", "", ErrKey)
	}
	if len(value) > MaxValue {
		return s.wrap("put", key, fmt.Errorf("%w: %d bytes, the limit is %d", ErrValueTooBig, len(value), MaxValue))
	}
	return s.wrap("put", key, s.db.Update(func(tx *bolt.Tx) error {
		all, err := tx.CreateBucketIfNotExists([]byte(pluginsBucket))
		if err != nil {
			return err
		}
		b, err := all.CreateBucketIfNotExists(s.name)
		if err != nil {
			return err
		}
		return b.Put([]byte(key), value)
	}))
}

// Delete removes a key; a missing one is no error and costs no sync.
func (s *Store) Delete(key string) error {
	if v, err := s.Get(key); err == nil && v == nil {
		return nil
	}
	return s.wrap("delete", key, s.db.Update(func(tx *bolt.Tx) error {
		if b := s.bucket(tx); b != nil {
			return b.Delete([]byte(key))
		}
		return nil
	}))
}

// List calls f for the keys with the prefix, in byte order, until f returns
// false. What f is given is its own. f may call the Store: the list was taken
// before.
func (s *Store) List(prefix string, f func(key string, value []byte) bool) error {
	type pair struct {
		k string
		v []byte
	}
	var all []pair
	err := s.db.View(func(tx *bolt.Tx) error {
		b := s.bucket(tx)
		if b == nil {
			return nil
		}
		c := b.Cursor()
		for k, v := c.Seek([]byte(prefix)); k != nil && bytes.HasPrefix(k, []byte(prefix)); k, v = c.Next() {
			all = append(all, pair{string(k), append([]byte{}, v...)})
		}
		return nil
	})
	if err != nil {
		return s.wrap("list", prefix, err)
	}
	for _, p := range all {
		if !f(p.k, p.v) {
			break
		}
	}
	return nil
}

func (s *Store) wrap(what, key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store of %s: %s %q: %w", s.name, what, key, err)
}
