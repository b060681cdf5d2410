package document

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Put keeps a document and returns its id, which is made where d has none. One
// of the same id is replaced; its Created and counts stay. Nothing is written
// where nothing but Updated differs. Errors wrap ErrInvalid, ErrTooBig, or what
// the system said; after one, the old or the new document is there.
func (s *Store) Put(ctx context.Context, d Document) (id string, err error) {
	if d.ID == "" {
		d.ID = "d" + s.opts.Now().UTC().Format("20060102") + "-" + strings.ToLower(rand.Text()[:16])
	}
	if err := d.check(); err != nil {
		return "", err
	}
	if err := s.begin(ctx); err != nil {
		return "", fmt.Errorf("put document %s: %w", d.ID, err)
	}
	defer s.mu.Unlock()
	if err := s.put(d); err != nil {
		return "", fmt.Errorf("put document %s: %w", d.ID, err)
	}
	return d.ID, nil
}

// put replaces a document if it differs. The caller holds mu.
func (s *Store) put(d Document) error {
	d, changed, err := s.renewed(d)
	if err != nil || !changed {
		return err
	}
	return s.write(d)
}

// renewed is d as it is to be written; changed is false where it need not be.
// The caller holds mu.
func (s *Store) renewed(d Document) (_ Document, changed bool, err error) {
	now := s.opts.Now()
	old, _, err := s.load(d.ID)
	switch {
	case err == nil:
		d.Created, d.Updated = old.Created, old.Updated
		if same(old, d) {
			return d, false, nil
		}
	case bad(err):
		if err := s.setAside(d.ID, err); err != nil {
			return d, false, err
		}
	case !errors.Is(err, ErrNotFound):
		return d, false, err
	}
	if d.Created.IsZero() {
		d.Created = now
	}
	d.Updated = now
	return d, true, nil
}

// same compares documents as files have them.
func same(a, b Document) bool {
	x, err := Encode(a)
	y, err2 := Encode(b)
	return err == nil && err2 == nil && string(x) == string(y)
}

// maxMarked is how many marks make a write take off the old ones.
const maxMarked = 1024

// write marks, writes and indexes documents. The caller holds mu. What could
// not be done wholly is looked at again before the next write.
func (s *Store) write(docs ...Document) error {
	if len(docs) == 0 {
		return nil
	}
	if len(s.marked) > maxMarked {
		if err := s.flush(); err != nil {
			return err
		}
	}
	var ids []string
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	if err := s.mark(ids...); err != nil {
		return err
	}
	var entries []entry
	var failed error
	for _, d := range docs {
		s.uncertain[d.ID] = true
		info, err := s.store(d)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		entries = append(entries, entry{d, info})
	}
	if err := s.record(entries...); err != nil {
		return errors.Join(failed, err)
	}
	for _, e := range entries {
		delete(s.uncertain, e.doc.ID)
	}
	return failed
}

// Delete removes a document; one that is not there is no error.
func (s *Store) Delete(ctx context.Context, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return fmt.Errorf("delete document %s: %w", id, err)
	}
	defer s.mu.Unlock()
	if err := s.remove(id); err != nil {
		return fmt.Errorf("delete document %s: %w", id, err)
	}
	return nil
}

func (s *Store) remove(id string) error {
	path := s.file(id)
	if _, err := s.fs.Lstat(path); missing(err) {
		return s.forget(id)
	}
	if err := s.mark(id); err != nil {
		return err
	}
	s.uncertain[id] = true
	if err := s.fs.Remove(path); err != nil {
		return err
	}
	s.syncs.Add(1)
	if err := s.fs.SyncDir(filepath.Dir(path)); err != nil {
		return err
	}
	if err := s.forget(id); err != nil {
		return err
	}
	delete(s.uncertain, id)
	return nil
}

// Archive notes that a document's facts are in the graph: it is never cold
// again. A second time writes nothing. Errors wrap ErrNotFound, ErrDamaged or
// what the system said.
func (s *Store) Archive(ctx context.Context, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return fmt.Errorf("archive document %s: %w", id, err)
	}
	defer s.mu.Unlock()
	d, err := s.open1(id)
	if err == nil && !d.Archived {
		d.Archived = true
		err = s.write(d)
	}
	if err != nil {
		return fmt.Errorf("archive document %s: %w", id, err)
	}
	return nil
}

// open1 loads a document for a writer: a bad file is set aside, a missing one
// leaves the index. The caller holds mu.
func (s *Store) open1(id string) (Document, error) {
	d, _, err := s.load(id)
	if bad(err) {
		if aerr := s.setAside(id, err); aerr != nil {
			return Document{}, errors.Join(err, aerr)
		}
	}
	if bad(err) || errors.Is(err, ErrNotFound) {
		err = errors.Join(err, s.forget(id))
	}
	return d, err
}
