package document

import (
	"context"
	"fmt"
	"time"
)

// Get returns a document and counts the access, without waiting for the disk.
// Errors wrap ErrNotFound, ErrDamaged (then the file was set aside), or what
// the system said.
func (s *Store) Get(ctx context.Context, id string) (Document, error) {
	d, err := s.Peek(ctx, id)
	if err != nil {
		return Document{}, err
	}
	s.counting.Lock()
	defer s.counting.Unlock()
	c, known := s.counts[id]
	if known || len(s.counts) < maxCounted {
		s.counts[id] = count{c.n + 1, later(c.last, s.opts.Now())}
	}
	if len(s.counts) >= flushAt {
		select {
		case s.early <- struct{}{}:
		default:
		}
	}
	return d, nil
}

// Peek is Get without counting.
func (s *Store) Peek(ctx context.Context, id string) (Document, error) {
	if err := checkID(id); err != nil {
		return Document{}, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	if err := ctx.Err(); err != nil {
		return Document{}, err
	}
	d, _, err := s.load(id)
	if err == nil {
		return d, nil
	}
	if bad(err) {
		// Looked at again under the lock: a writer may have been quicker.
		if lerr := s.begin(ctx); lerr == nil {
			d, err = s.open1(id)
			s.mu.Unlock()
			if err == nil {
				return d, nil
			}
		}
	}
	return Document{}, fmt.Errorf("read document %s: %w", id, err)
}

// Has tells which of the events are in a document, and in which.
func (s *Store) Has(ctx context.Context, events ...string) (map[string]string, error) {
	if err := s.Ready(ctx); err != nil {
		return nil, fmt.Errorf("look for events: %w", err)
	}
	held, err := s.holders(ctx, events)
	if err != nil {
		return nil, fmt.Errorf("look for events: %w", err)
	}
	return held, nil
}

// page is how many documents List reads at once.
const page = 256

// List calls f for each document, in the order in which they came, until it
// returns false. f may call the Store.
func (s *Store) List(ctx context.Context, f func(Meta) bool) error {
	var after int64
	for {
		metas, last, err := s.metas(ctx, "SELECT "+columns+" FROM docs WHERE n > ? ORDER BY n LIMIT ?", after, page)
		if err != nil {
			return fmt.Errorf("list documents: %w", err)
		}
		for _, m := range metas {
			if !f(s.counted(m)) {
				return nil
			}
		}
		if len(metas) < page {
			return nil
		}
		after = last
	}
}

// counted adds the accesses that are not yet in the index.
func (s *Store) counted(m Meta) Meta {
	s.counting.Lock()
	defer s.counting.Unlock()
	if c, ok := s.counts[m.ID]; ok {
		m.Access += c.n
		m.LastAccess = later(m.LastAccess, c.last)
	}
	return m
}

// Len is the number of documents.
func (s *Store) Len(ctx context.Context) (n int, err error) {
	if err := s.index.Read.QueryRowContext(ctx, "SELECT count(*) FROM docs").Scan(&n); err != nil {
		return 0, fmt.Errorf("count documents: %w", s.index.Plain(err))
	}
	return n, nil
}

// ByEntity tells whether an entity has a document, without reading it.
func (s *Store) ByEntity(ctx context.Context, entity int64) (Meta, bool, error) {
	metas, _, err := s.metas(ctx, "SELECT "+columns+" FROM docs WHERE id = ?", EntityID(entity))
	if err != nil {
		return Meta{}, false, fmt.Errorf("document of entity %d: %w", entity, err)
	}
	if len(metas) == 0 {
		return Meta{}, false, nil
	}
	return s.counted(metas[0]), true, nil
}

// maxCold is how many documents Cold returns.
const maxCold = 1000

// Cold returns documents that were neither read nor changed since now-after and
// read at most access times ever, coldest first, at most 1000. Those of the
// graph and the archived ones are never among them.
func (s *Store) Cold(ctx context.Context, now time.Time, after time.Duration, access int) ([]Meta, error) {
	if !s.whole() {
		return nil, nil
	}
	metas, _, err := s.metas(ctx, "SELECT "+columns+` FROM docs WHERE origin <> 'graph' AND archived = 0 AND touched < ? AND access <= ?
		ORDER BY touched LIMIT ?`, millis(now.Add(-after)), access, maxCold)
	if err != nil {
		return nil, fmt.Errorf("find cold documents: %w", err)
	}
	var cold []Meta
	for _, m := range metas {
		if c := s.counted(m); c.Access <= access && !c.LastAccess.After(now.Add(-after)) {
			cold = append(cold, c)
		}
	}
	return cold, nil
}
