package door

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"homeagent/memory/disk"
)

// Bounds of what door.db keeps.
const (
	maxAccounts = 16
	maxSessions = 128
	maxTokens   = 64
	maxAudit    = 1000
)

var (
	bucketAccounts = []byte("accounts")
	bucketSessions = []byte("sessions")
	bucketTokens   = []byte("tokens")
	bucketAudit    = []byte("audit")
	bucketMeta     = []byte("meta")
)

// errFull is returned when one of the bounds is reached.
var errFull = errors.New("door: no more room of this kind")

// store is door.db. Every change is one durable transaction.
type store struct {
	db  *bolt.DB
	now func() time.Time
}

// openStore opens or makes the database. A damaged one is renamed, so that the
// house can be claimed anew and nothing is destroyed. used tells that the data
// folder is not new. A loss that this start has found is returned; one that an
// earlier start has found and nobody has claimed after stands in the store too.
func openStore(path string, used bool, now func() time.Time) (s *store, found *loss, err error) {
	found = missing(path, used)
	db, err := openOrCreate(path, found)
	if isDamage(err) {
		aside := ""
		if aside, err = disk.SetAside(path, now()); err != nil {
			return nil, nil, err
		}
		found = &loss{Aside: aside, Memories: used}
		db, err = openOrCreate(path, found)
	}
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, nil, fmt.Errorf("%w: %s", ErrBusy, path)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("door: open %s: %w", path, err)
	}
	return &store{db: db, now: now}, found, nil
}

// damageError is content of the file that is not a sound database.
type damageError struct{ err error }

func (e *damageError) Error() string { return "damaged database: " + e.err.Error() }
func (e *damageError) Unwrap() error { return e.err }

func isDamage(err error) bool {
	var d *damageError
	return errors.As(err, &d) || errors.Is(err, berrors.ErrInvalid) ||
		errors.Is(err, berrors.ErrChecksum) || errors.Is(err, berrors.ErrVersionMismatch)
}

// openOrCreate opens the file, and makes one where there is none. A new one gets
// its name when it is whole: a power cut while bbolt makes a file would leave an
// empty one, which is taken for damage. Two doors never make it at once, because
// the supervisor that starts them holds the data folder. A loss is in the new
// file from the start: no cut can make it forgotten.
func openOrCreate(path string, l *loss) (*bolt.DB, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := disk.Create(path, func(tmp string) error {
			db, err := openBolt(tmp)
			if err != nil {
				return err
			}
			if l != nil {
				err = putLoss(db, l)
			}
			return errors.Join(err, db.Close())
		}); err != nil {
			return nil, err
		}
	}
	return openBolt(path)
}

// openBolt opens the file and reads all of it once. bbolt trusts the pages it
// maps: a torn one shows as a panic, a cut one as a memory fault, and both
// become a damageError here instead of the end of the process.
func openBolt(path string) (db *bolt.DB, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			// The lock and the map of the broken file stay with the process; the
			// file itself is about to be renamed.
			db, err = nil, &damageError{fmt.Errorf("%v", r)}
		}
	}()
	if fi, serr := os.Stat(path); serr == nil && !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	} else if serr == nil && fi.Size() == 0 {
		// The database would take it for a new one, and the house for unclaimed.
		return nil, &damageError{errors.New("the file is empty")}
	}
	d, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: 2 * time.Second})
	if err != nil {
		if strings.Contains(err.Error(), "file size too small") || errors.Is(err, berrors.ErrInvalidMapping) {
			err = &damageError{err}
		}
		return nil, err
	}
	err = d.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				if string(name) != string(bucketMeta) && !json.Valid(v) {
					return &damageError{fmt.Errorf("entry of %s is not JSON", name)}
				}
				return nil
			})
		})
	})
	if err == nil {
		err = d.Update(func(tx *bolt.Tx) error {
			for _, b := range [][]byte{bucketAccounts, bucketSessions, bucketTokens, bucketAudit, bucketMeta} {
				if _, err := tx.CreateBucketIfNotExists(b); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (s *store) close() error { return s.db.Close() }

// put writes v as JSON.
func put(b *bolt.Bucket, key []byte, v any) error {
	j, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put(key, j)
}

// get reads JSON into v and reports whether the key is there.
func get(b *bolt.Bucket, key []byte, v any) (bool, error) {
	j := b.Get(key)
	if j == nil {
		return false, nil
	}
	return true, json.Unmarshal(j, v)
}

// each calls f with every entry of a bucket.
func each[T any](b *bolt.Bucket, f func(key []byte, v T) error) error {
	return b.ForEach(func(k, j []byte) error {
		var v T
		if err := json.Unmarshal(j, &v); err != nil {
			return err
		}
		return f(k, v)
	})
}

// entry is one line of the audit trail.
type entry struct {
	Time time.Time `json:"time"`
	// What is login, login_failed, logout, claim, token_new, token_gone,
	// password, config, secret, db_set_aside or db_missing.
	What   string `json:"what"`
	Who    string `json:"who,omitempty"`  // the session's or token's name
	From   string `json:"from,omitempty"` // address
	Detail string `json:"detail,omitempty"`
}

// audit adds a line and drops the oldest above the bound. A trail that cannot
// be written must not keep an owner out, so there is no error to act on; the
// caller's own change has failed by then for the same reason.
func (s *store) audit(what, who, from, detail string) {
	_ = s.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketAudit)
		seq, err := b.NextSequence()
		if err != nil {
			return err
		}
		if err := put(b, seqKey(seq), entry{Time: s.now().UTC(), What: what, Who: who, From: from, Detail: detail}); err != nil {
			return err
		}
		if seq <= maxAudit {
			return nil
		}
		last := seqKey(seq - maxAudit)
		for c, k := b.Cursor(), []byte(nil); ; {
			if k, _ = c.First(); k == nil || string(k) > string(last) {
				return nil
			}
			if err := c.Delete(); err != nil {
				return err
			}
		}
	})
}

// trail returns the newest lines first, at most limit.
func (s *store) trail(limit int) ([]entry, error) {
	out := []entry{}
	err := s.db.View(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketAudit).Cursor()
		for k, v := c.Last(); k != nil && len(out) < limit; k, v = c.Prev() {
			var e entry
			if err := json.Unmarshal(v, &e); err != nil {
				return err
			}
			out = append(out, e)
		}
		return nil
	})
	return out, err
}

func seqKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
