package document

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"
)

// PutEvents moves events into documents. moved tells where they are: documents
// with their ID, and of Events those of this call only, which is what Passages
// needs to index them anew. Everything in moved is durable. Events that were in
// a document before are in moved as well, so a caller that repeats a move after
// a crash gets the same answer. With an error, moved may hold a part, which is
// done; an event that cannot be kept (ErrInvalid, ErrTooBig) does not keep the
// others back.
func (s *Store) PutEvents(ctx context.Context, events []Event) (moved []Document, err error) {
	if len(events) == 0 {
		return nil, nil
	}
	var good []Event
	var refused error
	seen := map[string]bool{}
	for _, e := range events {
		switch {
		case e.ID == "":
			refused = errors.Join(refused, fmt.Errorf("%w: an event without an id", ErrInvalid))
		case e.size() > MaxText:
			refused = errors.Join(refused, fmt.Errorf("%w: event %s has %d bytes, at most %d", ErrTooBig, e.ID, e.size(), MaxText))
		case !seen[e.ID]:
			seen[e.ID] = true
			good = append(good, e)
		}
	}
	err = s.Ready(ctx)
	if err == nil {
		err = s.begin(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("move events: %w", err)
	}
	defer s.mu.Unlock()
	moved, err = s.move(good)
	if err != nil {
		err = fmt.Errorf("move events: %w", err)
	}
	return moved, errors.Join(err, refused)
}

// group is what shares documents.
type group struct{ stream, day string }

// move writes what is not there yet. The caller holds mu.
func (s *Store) move(events []Event) (moved []Document, err error) {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	held, err := s.holders(context.Background(), ids)
	if err != nil {
		return nil, err
	}
	var order []group
	units := map[group][][]Event{}
	for _, u := range unitsOf(events, func(id string) bool { return held[id] != "" }) {
		g := group{u[0].Stream, s.day(u[0].Time)}
		if units[g] == nil {
			order = append(order, g)
		}
		units[g] = append(units[g], u)
	}
	var failed error
	for _, g := range order {
		docs, err := s.fill(g, units[g])
		if err == nil {
			err = s.write(docs...)
		}
		if err != nil {
			// Other days may still find room; what was written of this one is
			// found again by the next call.
			failed = errors.Join(failed, err)
			continue
		}
		for _, d := range docs {
			for i := range d.Events {
				held[d.Events[i].ID] = d.ID
			}
		}
	}
	return gather(events, held), failed
}

// gather sorts events into the documents that hold them.
func gather(events []Event, held map[string]string) []Document {
	var docs []Document
	at := map[string]int{}
	for _, e := range events {
		id := held[e.ID]
		if id == "" {
			continue
		}
		i, ok := at[id]
		if !ok {
			i = len(docs)
			at[id] = i
			docs = append(docs, Document{ID: id, Origin: Context, Stream: e.Stream})
		}
		docs[i].Events = append(docs[i].Events, e)
	}
	return docs
}

// unitsOf puts a call and its answers together, leaving out events to skip.
func unitsOf(events []Event, skip func(id string) bool) [][]Event {
	var units [][]Event
	byCall := map[string]int{}
	for _, e := range events {
		if skip(e.ID) {
			continue
		}
		if i, ok := byCall[e.CallID]; ok && e.CallID != "" {
			units[i] = append(units[i], e)
			continue
		}
		for _, c := range e.Calls {
			byCall[c.ID] = len(units)
		}
		units = append(units, []Event{e})
	}
	return units
}

func (s *Store) day(t time.Time) string {
	if t.IsZero() {
		t = s.opts.Now()
	}
	return t.In(s.opts.Location).Format(time.DateOnly)
}

// fill adds units to the group's open document and, where it is full, to new
// ones, and returns those that changed, not yet written.
func (s *Store) fill(g group, units [][]Event) ([]Document, error) {
	open, size, err := s.openDoc(g)
	if err != nil {
		return nil, err
	}
	var docs []Document
	next := 0
	changed := false
	for _, u := range units {
		n, err := encodedSize(u)
		if err != nil {
			return nil, err
		}
		if open.ID == "" || len(open.Events) > 0 && (len(open.Events)+len(u) > MaxEvents || size+n > MaxBytes) {
			if changed {
				docs = append(docs, open)
			}
			id, err := s.newID(g, &next)
			if err != nil {
				return nil, err
			}
			open = Document{ID: id, Title: title(g), Origin: Context, Stream: g.stream, Day: g.day, Created: s.opts.Now()}
			size = 0
		}
		open.Events = append(open.Events, u...)
		open.Updated = s.opts.Now()
		size += n
		changed = true
	}
	if changed {
		docs = append(docs, open)
	}
	for i := range docs {
		slices.SortStableFunc(docs[i].Events, func(a, b Event) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	return docs, nil
}

func title(g group) string {
	if g.stream == "" {
		return g.day
	}
	t := g.day + " " + g.stream
	if len(t) > MaxTitle {
		return g.day
	}
	return t
}

func encodedSize(events []Event) (int, error) {
	b, err := json.Marshal(events)
	if err != nil {
		return 0, fmt.Errorf("%w: event %s: %w", ErrInvalid, events[0].ID, err)
	}
	return len(b), nil
}

// openDoc is the newest document of a group that may still grow, and the size
// of its events; without an ID where there is none.
func (s *Store) openDoc(g group) (Document, int, error) {
	var id string
	err := s.index.Read.QueryRow(`SELECT id FROM docs WHERE origin = 'context' AND archived = 0
		AND stream = ? AND day = ? ORDER BY n DESC LIMIT 1`, g.stream, g.day).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return Document{}, 0, nil
	}
	if err != nil {
		return Document{}, 0, s.index.Plain(err)
	}
	d, err := s.open1(id)
	if errors.Is(err, ErrNotFound) || bad(err) {
		return Document{}, 0, nil // a new one is begun
	}
	if err != nil {
		return Document{}, 0, err
	}
	size, err := encodedSize(d.Events)
	return d, size, err
}

// newID is an id that no file has: c<day>-<hash of the stream>-<number>. next
// is the number to begin with, 0 to look.
func (s *Store) newID(g group, next *int) (string, error) {
	if *next == 0 {
		err := s.index.Read.QueryRow("SELECT count(*) + 1 FROM docs WHERE origin = 'context' AND stream = ? AND day = ?",
			g.stream, g.day).Scan(next)
		if err != nil {
			return "", s.index.Plain(err)
		}
	}
	h := fnv.New32a()
	h.Write([]byte(g.stream))
	for ; ; *next++ {
		id := fmt.Sprintf("c%s-%08x-%03d", compact(g.day), h.Sum32(), *next)
		_, err := s.fs.Lstat(s.file(id))
		if missing(err) {
			*next++
			return id, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// compact is a day without its dashes.
func compact(day string) string {
	b := []byte(day)
	return string(slices.DeleteFunc(b, func(c byte) bool { return c == '-' }))
}
