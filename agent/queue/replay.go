package queue

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"homeagent/memory/disk"
)

const (
	compactAt = 4 << 20 // bytes of log below which nothing is rewritten
	asideKept = 16      // inputs set aside that are kept
	frame     = 8       // bytes of a record's head in the log
	badKept   = 1 << 20 // bytes of unreadable records that are kept for a look
)

// Open opens or creates the queue at path. Records it cannot read are kept
// beside it as "<path>.bad-<time>" and logged; a file that cannot be opened as
// a log at all is an error.
func Open(fsys disk.FS, path string, log *slog.Logger) (*Queue, error) {
	q := &Queue{path: path, fs: fsys, slog: log, least: compactAt, items: map[string]*item{}, wake: make(chan struct{}, 1)}
	var bad bytes.Buffer
	l, err := disk.OpenLog(fsys, path, func(b []byte) error {
		r, err := decode(b)
		if err != nil {
			q.bad++
			if bad.Len()+len(b) < badKept {
				bad.Write(append(b, '\n'))
			}
			return nil
		}
		q.replay(r, int64(len(b))+frame)
		return nil
	})
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("queue %s: the data folder is not writable for this user: %w", path, err)
		}
		return nil, fmt.Errorf("queue: %w", err)
	}
	q.log = l
	if n := l.Dropped(); n > 0 {
		log.Warn("the queue's log ended in the middle of a record, as after a power cut; the rest was cut off", "bytes", n)
	}
	if q.bad > 0 {
		aside := path + ".bad-" + time.Now().UTC().Format("20060102T150405")
		err := disk.WriteFileFS(fsys, aside, bad.Bytes(), 0o600)
		log.Error("the queue's log holds records that are none of ours", "records", q.bad, "kept", aside, "err", err)
	}
	if l.Size() > compactAt && q.live < l.Size()/2 {
		if err := q.rewrite(); err != nil {
			log.Warn("the queue's log could not be compacted", "err", err)
		}
	}
	if len(q.user)+len(q.inner) > 0 {
		q.signal()
	}
	return q, nil
}

// replay takes one record of the file over. A step of an input that is not
// known (any more) changes nothing.
func (q *Queue) replay(r record, size int64) {
	it := q.items[r.ID]
	switch {
	case r.Kind == kInput:
		if it == nil {
			it = &item{Entry: Entry{Input: *r.Input}, media: heldBytes(*r.Input)}
			q.add(it)
		}
	case it == nil:
		// An aside record of a compacted log carries its input.
		if r.Kind == kAside && r.Input != nil {
			q.setAside(*r.Input)
		}
		return
	case r.Kind == kDone:
		q.drop(it)
		return
	case r.Kind == kAside:
		q.drop(it)
		q.setAside(it.Input)
		return
	default:
		it.apply(r)
	}
	it.size += size
	q.live += size
}

// rewrite replaces the log by what still counts. The caller holds mu.
func (q *Queue) rewrite() error {
	var recs [][]byte
	put := func(r record) (int64, error) {
		b, err := encode(r)
		if err != nil {
			return 0, err
		}
		recs = append(recs, b)
		return int64(len(b)) + frame, nil
	}
	for i := range q.aside {
		if _, err := put(record{Kind: kAside, ID: q.aside[i].ID, Input: &q.aside[i]}); err != nil {
			return err
		}
	}
	items := make([]*item, 0, len(q.items))
	for _, it := range q.items {
		items = append(items, it)
	}
	sortBySeq(items)
	var live int64
	for _, it := range items {
		size := int64(0)
		for _, r := range it.records() {
			n, err := put(r)
			if err != nil {
				return err
			}
			size += n
		}
		it.size = size
		live += size
	}
	q.live = live
	if err := q.log.Rewrite(recs); err != nil {
		return fmt.Errorf("queue: rewrite: %w", err)
	}
	return nil
}
