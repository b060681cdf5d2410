package queue

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"homeagent/agent/plugin"
	"homeagent/agent/tool"
	"homeagent/memory/disk"
)

// Queue is the durable queue of inputs.
type Queue struct {
	path string
	fs   disk.FS
	slog *slog.Logger

	mu    sync.Mutex
	log   *disk.Log
	items map[string]*item
	user  []*item // waiting, in order of arrival
	inner []*item // internal ones
	aside []plugin.Input
	seq   int64
	live  int64 // bytes of records that still count
	held  int64 // bytes of text and media in memory
	bad   int   // records that Open could not read
	least int64 // size below which the log is not compacted
	wake  chan struct{}
}

// NewID makes an id that sorts by time and does not repeat.
func NewID(now time.Time) string {
	var b [13]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16)
	rand.Read(b[6:]) // never fails
	return idEncoding.EncodeToString(b[:])
}

var idEncoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// Put makes an input durable. Its ID must be new. The error is a *plugin.Fault
// in the input's language and wraps ErrInput, ErrFull or ErrClosed, or what the
// file layer said; then the input has not been taken. accepted, if not nil, is
// called once the input is durable and before Next can return it; it must not
// call the queue.
func (q *Queue) Put(in plugin.Input, accepted func()) error {
	if in.Type == "" {
		in.Type = plugin.Text
	}
	if err := check(in); err != nil {
		return err
	}
	it := &item{Entry: Entry{Input: in}, media: heldBytes(in)}
	q.mu.Lock()
	defer q.mu.Unlock()
	limit := MaxQueued
	if it.internal() {
		limit -= reserved
	}
	if len(q.user)+len(q.inner) >= limit || q.held+it.media > MaxHeld {
		return fullFault(in)
	}
	if in.ID == "" || q.items[in.ID] != nil {
		return fault(in, 400, fmt.Errorf("%w: id %q is empty or taken", ErrInput, in.ID),
			"这条消息的编号重复了。请重发。", "The id of this message is taken. Send it again.")
	}
	if err := q.write(it, record{Kind: kInput, ID: in.ID, Input: &in}, true); err != nil {
		return writeFault(in, err)
	}
	if accepted != nil {
		accepted()
	}
	q.add(it)
	q.signal()
	return nil
}

// add takes a new item into memory. The caller holds mu.
func (q *Queue) add(it *item) {
	q.seq++
	it.seq = q.seq
	q.items[it.Input.ID] = it
	q.held += it.media
	q.enqueue(it)
}

// enqueue puts it where it belongs by arrival. The caller holds mu.
func (q *Queue) enqueue(it *item) {
	list := &q.user
	if it.internal() {
		list = &q.inner
	}
	at := len(*list)
	for at > 0 && (*list)[at-1].seq > it.seq {
		at--
	}
	*list = append(*list, nil)
	copy((*list)[at+1:], (*list)[at:])
	(*list)[at] = it
}

// signal wakes Next.
func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Next waits for an input, takes it out of the waiting ones and notes that its
// turn starts. Entry.Starts does not count this start. One goroutine calls it.
func (q *Queue) Next(ctx context.Context) (*Entry, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err // before looking: Pause has put back what was running
		}
		q.mu.Lock()
		it := q.pop()
		if it == nil {
			q.mu.Unlock()
			select {
			case <-q.wake:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		e := it.clone()
		// Not being able to write the start down only means that it will not count.
		if err := q.write(it, record{Kind: kStart, ID: it.Input.ID}, false); err != nil {
			q.slog.Warn("the start of a turn was not written down", "input", it.Input.ID, "err", err)
		} else {
			it.Starts++
		}
		q.mu.Unlock()
		return e, nil
	}
}

// pop removes the next waiting item. The caller holds mu.
func (q *Queue) pop() *item {
	for _, list := range []*[]*item{&q.user, &q.inner} {
		if len(*list) > 0 {
			it := (*list)[0]
			(*list)[0] = nil
			*list = (*list)[1:]
			return it
		}
	}
	return nil
}

// Round notes what the provider asked for. Calls of a round whose note failed
// must not act: after a crash nobody would know them.
func (q *Queue) Round(id string, r Round) error {
	return q.step(record{Kind: kRound, ID: id, Round: &r}, false)
}

// Begin makes durable that a call is about to run. On an error it must not.
func (q *Queue) Begin(id string, c tool.Call) error {
	return q.step(record{Kind: kBegin, ID: id, Call: &c}, true)
}

// End notes how a call ended; raw as long as after_toolcall has not seen it.
// Of several notes the last counts.
func (q *Queue) End(id string, r tool.Result, raw bool) error {
	return q.step(record{Kind: kEnd, ID: id, Result: &r, Raw: raw}, false)
}

// Final makes an answer durable before it is sent.
func (q *Queue) Final(id string, f Final) error {
	return q.step(record{Kind: kFinal, ID: id, Final: &f}, true)
}

// Sent notes that the channel has taken the answer.
func (q *Queue) Sent(id string) error { return q.step(record{Kind: kSent, ID: id}, false) }

// Pause puts an input back for the next process, as an orderly stop does. Its
// start does not count.
func (q *Queue) Pause(id string) error {
	err := q.step(record{Kind: kPause, ID: id}, true)
	q.mu.Lock()
	defer q.mu.Unlock()
	if it := q.items[id]; it != nil {
		q.enqueue(it)
	}
	return err
}

// step writes a record of a known input and takes it over.
func (q *Queue) step(r record, sync bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.items[r.ID]
	if it == nil {
		return fmt.Errorf("queue: input %s is not known", r.ID)
	}
	if err := q.write(it, r, sync); err != nil {
		return fmt.Errorf("queue: %s of input %s: %w", r.Kind, r.ID, err)
	}
	it.apply(r)
	return nil
}

// write appends a record. A log that an earlier error has broken is first
// written anew from what is known. The caller holds mu.
func (q *Queue) write(it *item, r record, sync bool) error {
	b, err := encode(r)
	if err != nil {
		return err
	}
	err = q.log.Append(b, sync)
	if errors.Is(err, disk.ErrBroken) {
		if rerr := q.rewrite(); rerr != nil {
			return errors.Join(err, rerr)
		}
		err = q.log.Append(b, sync)
	}
	if err != nil {
		return err
	}
	n := int64(len(b)) + frame
	it.size += n
	q.live += n
	return nil
}

// Done ends an input; it is forgotten. An error means that it may come back at
// the next start. One without memory leaves the file at once, others when it is
// next written anew.
func (q *Queue) Done(id string) error { return q.finish(record{Kind: kDone, ID: id}, false) }

// Aside ends an input that cannot be dealt with. Its text is kept among the
// last asideKept of them, unless it is one without memory.
func (q *Queue) Aside(id string) error { return q.finish(record{Kind: kAside, ID: id}, true) }

func (q *Queue) finish(r record, sync bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.items[r.ID]
	if it == nil {
		return fmt.Errorf("queue: input %s is not known", r.ID)
	}
	err := q.write(it, r, sync)
	q.drop(it)
	private := it.Input.NoMemory
	if r.Kind == kAside && !private {
		q.setAside(it.Input)
	}
	if err != nil {
		return fmt.Errorf("queue: %s of input %s: %w", r.Kind, r.ID, err)
	}
	if private || q.log.Size() > q.least && q.live < q.log.Size()/2 {
		if err := q.rewrite(); err != nil {
			q.slog.Warn("the queue's log could not be compacted", "err", err)
		}
	}
	return nil
}

// drop forgets an item. The caller holds mu.
func (q *Queue) drop(it *item) {
	delete(q.items, it.Input.ID)
	q.live -= it.size
	q.held -= it.media
	for _, list := range []*[]*item{&q.user, &q.inner} {
		for i, x := range *list {
			if x == it {
				*list = append((*list)[:i], (*list)[i+1:]...)
				break
			}
		}
	}
}

// setAside keeps an input without the bytes of its media. The caller holds mu.
func (q *Queue) setAside(in plugin.Input) {
	q.aside = append(q.aside, withoutMedia(in))
	if len(q.aside) > asideKept {
		q.aside = q.aside[len(q.aside)-asideKept:]
	}
}

// Forget takes inputs that were set aside, and for which keep is false, out of
// the list, and everything that has ended out of the file. Inputs that still wait
// stay: nobody has answered them.
func (q *Queue) Forget(keep func(plugin.Input) bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.aside = slices.DeleteFunc(slices.Clone(q.aside), func(in plugin.Input) bool { return !keep(in) })
	return q.rewrite()
}

// Stats is the queue's part of the agent's status.
type Stats struct {
	User     int `json:"user"`     // inputs of users that wait
	Internal int `json:"internal"` // internal inputs that wait
	// Aside are the inputs last set aside, oldest first, without their media.
	Aside []plugin.Input `json:"aside,omitempty"`
	// Unreadable is the number of records that Open could not read, CutBytes
	// what it cut off behind the last whole record.
	Unreadable int   `json:"unreadable,omitempty"`
	CutBytes   int64 `json:"cut_bytes,omitempty"`
	LogBytes   int64 `json:"log_bytes"`
}

// Stats tells what waits.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Stats{User: len(q.user), Internal: len(q.inner), Aside: append([]plugin.Input(nil), q.aside...),
		Unreadable: q.bad, CutBytes: q.log.Dropped(), LogBytes: q.log.Size()}
}

// Close syncs and closes the log. Closing twice is harmless.
func (q *Queue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	err := q.log.Sync()
	if errors.Is(err, disk.ErrClosed) {
		return nil
	}
	return errors.Join(err, q.log.Close())
}

// heldBytes is what an input takes in memory, roughly.
func heldBytes(in plugin.Input) int64 {
	n := int64(len(in.Payload))
	for _, m := range in.Media {
		n += int64(len(m.Data))
	}
	return n
}

// withoutMedia is the input with the names and types of its media alone.
func withoutMedia(in plugin.Input) plugin.Input {
	if len(in.Media) > 0 {
		in.Media = append(in.Media[:0:0], in.Media...)
		for i := range in.Media {
			in.Media[i].Data = nil
		}
	}
	return in
}
