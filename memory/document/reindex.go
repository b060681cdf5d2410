package document

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Report is what Reindex found.
type Report struct {
	// Changed are documents that were new or differed from the index, Gone those
	// whose files were missing or bad: search must learn of both.
	Changed, Gone []string
}

// batch is how many documents are held in memory at once.
const batch = 32

// Reindex compares all files with the index, by size and time, and reads those
// that differ. It holds up writers for one folder of 256 at a time. Bad files
// are set aside.
func (s *Store) Reindex(ctx context.Context) (Report, error) {
	var r Report
	for shard := range shards {
		if err := s.begin(ctx); err != nil {
			return r, fmt.Errorf("reindex documents: %w", err)
		}
		err := s.reindexShard(shard, &r)
		s.mu.Unlock()
		if err != nil {
			return r, fmt.Errorf("reindex documents: %w", err)
		}
	}
	return r, nil
}

func (s *Store) reindexShard(shard int, r *Report) error {
	known, err := s.indexed(shard)
	if err != nil {
		return err
	}
	dir := s.shardDir(shard)
	names, err := s.fs.List(dir)
	if err != nil && !missing(err) {
		return err
	}
	var fresh []entry
	for _, name := range names {
		id := idOf(name)
		if id == "" || shardOf(id) != shard {
			continue
		}
		info, err := s.fs.Lstat(filepath.Join(dir, name))
		if missing(err) {
			continue
		}
		if err != nil {
			return err
		}
		was, ok := known[id]
		delete(known, id)
		if ok && was == seenAs(info) {
			continue
		}
		d, info, err := s.load(id)
		switch {
		case err == nil:
			fresh = append(fresh, entry{d, info})
			r.Changed = append(r.Changed, id)
			if len(fresh) == batch {
				if err := s.record(fresh...); err != nil {
					return err
				}
				fresh = fresh[:0]
			}
		case bad(err):
			if err := s.setAside(id, err); err != nil {
				return err
			}
			known[id] = was
		default:
			return err
		}
	}
	if err := s.record(fresh...); err != nil {
		return err
	}
	var lost []string
	for id := range known {
		lost = append(lost, id)
	}
	r.Gone = append(r.Gone, lost...)
	return s.forget(lost...)
}

// seen is how the index knows a file.
type seen struct{ size, mtime int64 }

func seenAs(info fs.FileInfo) seen { return seen{info.Size(), stamp(info.ModTime())} }

// indexed lists the documents of a folder as the index has them.
func (s *Store) indexed(shard int) (map[string]seen, error) {
	rows, err := s.index.Read.Query("SELECT id, size, mtime FROM docs WHERE shard = ?", shard)
	if err != nil {
		return nil, s.index.Plain(err)
	}
	defer rows.Close()
	known := map[string]seen{}
	for rows.Next() {
		var id string
		var f seen
		if err := rows.Scan(&id, &f.size, &f.mtime); err != nil {
			return nil, s.index.Plain(err)
		}
		known[id] = f
	}
	return known, s.index.Plain(rows.Err())
}
