package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/mind"
	"homeagent/memory/disk"
	"homeagent/memory/state"
)

// Defaults of Options.
const (
	DefaultMaxFile   = 8 << 20
	DefaultBatch     = 256
	DefaultRetention = 7 * 24 * time.Hour
)

// batchBytes is how much may wait in the outbox, whatever the number of turns.
const batchBytes = 4 << 20

// seenTurns is the number of turns whose ids are remembered. A turn is closed
// twice only by a crash right behind it, so a few would do.
const seenTurns = 256

// Buckets of state.db.
const (
	outboxBucket    = "journal_outbox"    // number -> line
	seenBucket      = "journal_seen"      // turn id -> number
	orderBucket     = "journal_order"     // number -> turn id, the order of the bucket above
	distilledBucket = "journal_distilled" // file name -> time of distillation
)

// FS is what the journal needs of a file system.
type FS interface {
	disk.FS
	disk.Lister
}

// Options are those of a Journal; zero values are the defaults.
type Options struct {
	// MaxFile is the size at which a file is closed, in bytes.
	MaxFile int64
	// Batch is the number of waiting turns at which Due turns true. Each flush
	// costs a sync, which a small batch would add to every few turns.
	Batch int
	// Retention is how long a file stays after its distillation.
	Retention time.Duration
	// FS is disk.OS by default.
	FS FS
	// Now is time.Now by default.
	Now func() time.Time
}

// Journal is an open journal.
type Journal struct {
	db   *state.DB
	dir  string
	opts Options

	mu      sync.Mutex // guards the counters and lists, never held over I/O
	floor   uint64     // numbers up to this are in the files
	waiting int        // lines in the outbox and not in a file
	bytes   int

	file sync.Mutex // guards the open file; taken before mu
	out  output
}

// Open joins the journal in dir, which must exist, to its outbox in db.
func Open(db *state.DB, dir string, opts Options) (*Journal, error) {
	if opts.MaxFile <= 0 {
		opts.MaxFile = DefaultMaxFile
	}
	if opts.Batch <= 0 {
		opts.Batch = DefaultBatch
	}
	if opts.Retention <= 0 {
		opts.Retention = DefaultRetention
	}
	if opts.FS == nil {
		opts.FS = disk.OS{}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	j := &Journal{db: db, dir: dir, opts: opts}
	j.out = output{fs: opts.FS, dir: dir, max: opts.MaxFile}
	last, err := j.out.recover()
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j.floor = last
	if err := j.count(); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return j, nil
}

// count finds what waits in the outbox and is in no file yet.
func (j *Journal) count() error {
	return j.db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(outboxBucket))
		if b == nil {
			return nil
		}
		c := b.Cursor()
		for k, v := c.Seek(number(j.floor + 1)); k != nil; k, v = c.Next() {
			j.waiting++
			j.bytes += len(v)
		}
		return nil
	})
}

// AddTx puts a turn into the outbox and takes out what is safe in a file. It
// returns false, and does nothing, where the turn was journaled before. The
// caller calls done once the transaction is durable.
func (j *Journal) AddTx(tx *bolt.Tx, t mind.Turn) (added bool, done func(), err error) {
	if t.ID == "" {
		return false, nil, errors.New("journal: the turn has no id")
	}
	outbox, err := tx.CreateBucketIfNotExists([]byte(outboxBucket))
	if err != nil {
		return false, nil, fmt.Errorf("journal turn %q: %w", t.ID, err)
	}
	floor := j.safe()
	if outbox.Sequence() < floor {
		// state.db was lost and begun anew; the files were not.
		if err := outbox.SetSequence(floor); err != nil {
			return false, nil, fmt.Errorf("journal turn %q: %w", t.ID, err)
		}
	}
	seq, err := outbox.NextSequence()
	if err != nil {
		return false, nil, fmt.Errorf("journal turn %q: %w", t.ID, err)
	}
	seen, err := remember(tx, t.ID, seq)
	if err != nil || seen {
		return false, nil, err
	}
	line, err := Encode(Line{Seq: seq, Turn: t})
	if err == nil {
		err = outbox.Put(number(seq), line)
	}
	if err == nil {
		err = drop(outbox, floor)
	}
	if err != nil {
		return false, nil, fmt.Errorf("journal turn %q: %w", t.ID, err)
	}
	return true, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.waiting++
		j.bytes += len(line)
	}, nil
}

// remember notes the id of a turn and tells whether it was known.
func remember(tx *bolt.Tx, id string, seq uint64) (seen bool, err error) {
	ids, err := tx.CreateBucketIfNotExists([]byte(seenBucket))
	if err != nil {
		return false, fmt.Errorf("journal turn %q: %w", id, err)
	}
	order, err := tx.CreateBucketIfNotExists([]byte(orderBucket))
	if err != nil {
		return false, fmt.Errorf("journal turn %q: %w", id, err)
	}
	if ids.Get([]byte(id)) != nil {
		return true, nil
	}
	err = errors.Join(ids.Put([]byte(id), number(seq)), order.Put(number(seq), []byte(id)))
	c := order.Cursor()
	for k, old := c.First(); err == nil && k != nil && binary.BigEndian.Uint64(k)+seenTurns <= seq; k, old = c.First() {
		err = errors.Join(ids.Delete(old), order.Delete(k))
	}
	if err != nil {
		return false, fmt.Errorf("journal turn %q: %w", id, err)
	}
	return false, nil
}

// drop deletes the lines up to a number.
func drop(outbox *bolt.Bucket, floor uint64) error {
	c := outbox.Cursor()
	for k, _ := c.First(); k != nil && binary.BigEndian.Uint64(k) <= floor; k, _ = c.First() {
		if err := outbox.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// safe is the number up to which lines are durable in files.
func (j *Journal) safe() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.floor
}

// Due tells whether enough waits that a flush should not wait for idleness.
func (j *Journal) Due() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.waiting >= j.opts.Batch || j.bytes >= batchBytes
}

// Waiting is the number of turns that are durable but in no file yet.
func (j *Journal) Waiting() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.waiting
}

// Flush moves what waits into the file. With nothing waiting it does nothing.
// After an error all of it still waits and Flush may be tried again.
func (j *Journal) Flush() error {
	j.file.Lock()
	defer j.file.Unlock()
	for {
		lines, last, err := j.batch()
		if err != nil {
			return fmt.Errorf("flush journal: %w", err)
		}
		if len(lines) == 0 {
			return nil
		}
		size := 0
		for _, l := range lines {
			size += len(l)
		}
		if err := j.out.write(j.opts.Now(), lines); err != nil {
			return fmt.Errorf("flush journal: %w", err)
		}
		j.mu.Lock()
		j.floor = last
		j.waiting = max(0, j.waiting-len(lines))
		j.bytes = max(0, j.bytes-size)
		j.mu.Unlock()
	}
}

// batch reads the next lines from the outbox, about batchBytes of them.
func (j *Journal) batch() (lines [][]byte, last uint64, err error) {
	floor := j.safe()
	err = j.db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(outboxBucket))
		if b == nil {
			return nil
		}
		c := b.Cursor()
		size := 0
		for k, v := c.Seek(number(floor + 1)); k != nil && size < batchBytes; k, v = c.Next() {
			lines = append(lines, append([]byte{}, v...))
			last = binary.BigEndian.Uint64(k)
			size += len(v)
		}
		return nil
	})
	return lines, last, err
}

// Syncs is the number of syncs that files have cost since Open.
func (j *Journal) Syncs() int64 { return j.out.syncs.Load() }

// Close flushes, empties the outbox and closes the file. db must still be open.
func (j *Journal) Close() error {
	err := j.Flush()
	if err == nil {
		err = j.db.Update(func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(outboxBucket))
			if b == nil {
				return nil
			}
			return drop(b, j.safe())
		})
	}
	j.file.Lock()
	defer j.file.Unlock()
	return errors.Join(err, j.out.close())
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
