package document

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"homeagent/memory/sqlfile"
)

const (
	// flushEvery is how often counts of accesses reach the index.
	flushEvery = 5 * time.Minute
	// maxCounted bounds the documents whose accesses are counted between two
	// flushes; reads of further ones are not counted.
	maxCounted = 1 << 14
	// flushAt is how many make the flusher come early.
	flushAt = 1 << 12
)

// Options are those of a Store; zero values are the defaults.
type Options struct {
	// FS is the machine's own by default. The index does not go through it.
	FS FS
	// Now is time.Now by default.
	Now func() time.Time
	// Location decides when a day of events ends, time.Local by default.
	Location *time.Location
	// Notify hears of files that are set aside after Open, as they are met. It
	// must not call the Store. By default they are logged.
	Notify func(Notice)
	// Log is slog.Default by default.
	Log *slog.Logger
}

// Store is an open folder of documents.
type Store struct {
	dir  string
	opts Options
	fs   FS

	mu        sync.Mutex // one writer at a time
	index     *sqlfile.File
	marked    map[string]bool // in the index's table
	uncertain map[string]bool // of them, those whose file and index may differ
	made      [shards]bool    // folders known to be there
	closed    bool

	counting sync.Mutex
	counts   map[string]count

	syncs atomic.Int64
	life  context.Context // ends with Close
	end   context.CancelFunc
	ready chan struct{} // closed when the index is whole
	early chan struct{}
	done  chan struct{}
	once  sync.Once
}

// count is accesses not yet in the index.
type count struct {
	n    int
	last time.Time
}

// Open opens or creates the folder. Notices tell of files that were set aside.
// Where the index has to be made anew, this goes on behind it, and bad files are
// told to Notify: see Ready. Errors wrap those of package sqlfile, or
// what the system said; see disk.IsFull.
func Open(dir string, opts Options) (*Store, []Notice, error) {
	s := &Store{dir: dir, opts: opts, fs: opts.FS, marked: map[string]bool{}, uncertain: map[string]bool{}, counts: map[string]count{},
		ready: make(chan struct{}), early: make(chan struct{}, 1), done: make(chan struct{})}
	s.life, s.end = context.WithCancel(context.Background())
	if s.fs == nil {
		s.fs = OS{}
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.Location == nil {
		s.opts.Location = time.Local
	}
	if s.opts.Log == nil {
		s.opts.Log = slog.Default()
	}
	var notices []Notice
	s.opts.Notify = func(n Notice) { notices = append(notices, n) }
	if err := s.open(); err != nil {
		s.end()
		if s.index != nil {
			s.index.Close()
		}
		return nil, nil, fmt.Errorf("open documents: %w", err)
	}
	s.opts.Notify = opts.Notify
	if s.opts.Notify == nil {
		s.opts.Notify = func(n Notice) {
			s.opts.Log.Error("a document was set aside", "path", n.Path, "aside", n.Aside, "err", n.Err)
		}
	}
	go s.flusher()
	return s, notices, nil
}

func (s *Store) open() error {
	if err := s.fs.MkdirAll(s.dir, 0o700); err != nil {
		return sqlfile.Plain(err)
	}
	// The index lies on the machine's disk whatever FS is.
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return sqlfile.Plain(err)
	}
	index, notice, err := sqlfile.Open(filepath.Join(s.dir, "index.db"), s.layout())
	if err != nil {
		return err
	}
	s.index = index
	if notice != nil && !errors.Is(notice.Err, sqlfile.ErrOlder) {
		s.opts.Notify(Notice{Path: notice.Path, Aside: notice.Aside, Index: true, Err: notice.Err})
	}
	var whole bool
	if err := s.index.Write.QueryRow("SELECT whole FROM built").Scan(&whole); err != nil {
		return s.index.Plain(err)
	}
	if whole {
		close(s.ready)
	}
	if err := s.readMarks(); err != nil {
		return err
	}
	if err := s.repair(); err != nil {
		// Tried again before the next write; what is in the index can be read.
		s.opts.Log.Error("documents written last could not be looked at", "err", err)
	}
	return nil
}

// Ready waits until the index is whole, which it is at once unless it had to be
// made anew from all files. Until then documents can be read and put, but List
// is incomplete, Cold finds nothing, and PutEvents and Has wait as Ready does.
func (s *Store) Ready(ctx context.Context) error {
	select {
	case <-s.ready:
		return nil
	default:
	}
	select {
	case <-s.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.life.Done():
		return errClosed
	}
}

// whole is Ready without waiting.
func (s *Store) whole() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

// rebuild fills a new index from all files. One that was cut goes on with the
// next, as long as the index does not say that it is whole.
func (s *Store) rebuild(ctx context.Context) error {
	if _, err := s.Reindex(ctx); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	err := s.durably(func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE built SET whole = 1")
		return err
	})
	if err == nil {
		close(s.ready)
	}
	return err
}

// errClosed is returned by calls after Close.
var errClosed = errors.New("the documents are closed")

// readMarks finds the documents that were being written when the program ended.
func (s *Store) readMarks() error {
	rows, err := s.index.Write.Query("SELECT id FROM marked")
	if err != nil {
		return s.index.Plain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return s.index.Plain(err)
		}
		s.marked[id], s.uncertain[id] = true, true
	}
	return s.index.Plain(rows.Err())
}

// repair makes the index agree with the files of uncertain documents, which
// are made durable where a rename was not yet. The caller holds mu.
func (s *Store) repair() error {
	for id := range s.uncertain {
		if checkID(id) != nil {
			delete(s.uncertain, id)
			continue
		}
		dir := s.shardDir(shardOf(id))
		if _, err := s.fs.Lstat(dir); err == nil {
			s.syncs.Add(1)
			if err := s.fs.SyncDir(dir); err != nil {
				return fmt.Errorf("look at document %s: %w", id, err)
			}
		}
		if err := s.renew(id); err != nil {
			return fmt.Errorf("look at document %s: %w", id, err)
		}
		delete(s.uncertain, id)
	}
	return nil
}

// renew brings one document's file into the index as it is. The caller holds mu.
func (s *Store) renew(id string) error {
	d, info, err := s.load(id)
	switch {
	case err == nil:
		return s.record(entry{d, info})
	case bad(err):
		if err := s.setAside(id, err); err != nil {
			return err
		}
		return s.forget(id)
	case errors.Is(err, ErrNotFound):
		return s.forget(id)
	}
	return err
}

// begin is how a write begins: with the lock held and nothing uncertain.
func (s *Store) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	err := error(nil)
	if s.closed {
		err = errClosed
	} else {
		err = s.repair()
	}
	if err != nil {
		s.mu.Unlock()
	}
	return err
}

// flusher makes the index where it is not whole, and moves counts of accesses
// into it, while nobody waits.
func (s *Store) flusher() {
	defer close(s.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		if !s.whole() {
			if err := s.rebuild(s.life); err != nil && s.life.Err() == nil {
				s.opts.Log.Error("the index of documents could not be made; it is tried again", "err", err)
			}
		}
		select {
		case <-s.life.Done():
			return
		case <-s.early:
		case <-tick.C:
		}
		if err := s.Flush(context.Background()); err != nil {
			s.opts.Log.Error("counts of reads could not be kept", "err", err)
		}
	}
}

// Flush writes the counts of accesses and takes off the marks of documents, in
// one transaction and one sync, or none where there is nothing to do.
func (s *Store) Flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush()
}

func (s *Store) flush() error {
	s.counting.Lock()
	counts := s.counts
	s.counts = map[string]count{}
	s.counting.Unlock()
	var settled []string
	for id := range s.marked {
		if !s.uncertain[id] {
			settled = append(settled, id)
		}
	}
	if len(counts) == 0 && len(settled) == 0 {
		return nil
	}
	err := s.durably(func(tx *sql.Tx) error {
		for id, c := range counts {
			if _, err := tx.Exec("UPDATE docs SET access = access + ?, last_access = max(last_access, ?2), touched = max(touched, ?2) WHERE id = ?3",
				c.n, millis(c.last), id); err != nil {
				return err
			}
		}
		for _, id := range settled {
			if _, err := tx.Exec("DELETE FROM marked WHERE id = ?", id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.counting.Lock()
		defer s.counting.Unlock()
		for id, c := range counts {
			s.counts[id] = count{c.n + s.counts[id].n, later(c.last, s.counts[id].last)}
		}
		return fmt.Errorf("flush documents: %w", err)
	}
	for _, id := range settled {
		delete(s.marked, id)
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Syncs is the number of times that the Store has waited for the disk.
func (s *Store) Syncs() int64 { return s.syncs.Load() }

// Close flushes and closes. Closing twice is harmless.
func (s *Store) Close() error {
	var err error
	s.once.Do(func() {
		s.end()
		<-s.done
		s.mu.Lock()
		defer s.mu.Unlock()
		s.closed = true
		err = errors.Join(s.flush(), s.index.Close())
	})
	return err
}
