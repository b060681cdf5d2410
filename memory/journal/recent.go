package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/mind"
)

// Bounds of Recent.
const (
	// MaxRecent is the most turns that Recent returns.
	MaxRecent = 1000
	// maxScan is how many bytes of files Recent reads before it gives up looking.
	maxScan = 64 << 20
	block   = 64 << 10
)

// Recent returns the newest turns, newest first: at most limit of them, and at
// most MaxRecent, from before the turn with the id where before is not "". A
// turn that is not known, or lies further back than 64 MB, has none before it.
// Files are read from their ends and no further than needed; lines that do not
// parse and a line that was cut off are skipped.
func (j *Journal) Recent(ctx context.Context, limit int, before string) ([]mind.Turn, error) {
	r := reader{limit: min(limit, MaxRecent), low: math.MaxUint64, left: maxScan}
	if before != "" {
		r.before = before
		r.quoted, _ = json.Marshal(before) // a string always marshals
	}
	if r.limit <= 0 {
		return nil, nil
	}
	// The outbox goes first: what a flush moves meanwhile is met again in the
	// files, where its number tells.
	err := j.db.View(r.outbox)
	if err != nil || r.full() {
		return r.turns, wrapRecent(err)
	}
	names, err := files(j.opts.FS, j.dir)
	if err != nil {
		return nil, wrapRecent(err)
	}
	for _, name := range slices.Backward(names) {
		err := j.backward(ctx, name, &r)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // swept meanwhile
			return nil, wrapRecent(err)
		}
		if r.full() {
			break
		}
	}
	return r.turns, nil
}

func wrapRecent(err error) error {
	if err != nil {
		return fmt.Errorf("read recent turns: %w", err)
	}
	return nil
}

// reader collects turns from lines that come newest first.
type reader struct {
	limit  int
	before string // looked for, "" once it is found
	quoted []byte // before as it stands in a line
	low    uint64 // numbers from this on were met or are not wanted
	left   int    // bytes that may still be read from files
	turns  []mind.Turn
}

func (r *reader) full() bool { return len(r.turns) >= r.limit || r.left <= 0 }

// outbox takes the lines that wait, and those a flush has left behind.
func (r *reader) outbox(tx *bolt.Tx) error {
	b := tx.Bucket([]byte(outboxBucket))
	if b == nil {
		return nil
	}
	c := b.Cursor()
	for k, v := c.Last(); k != nil && !r.full(); k, v = c.Prev() {
		r.line(v)
	}
	return nil
}

// line takes a line.
func (r *reader) line(raw []byte) {
	if r.before != "" && !bytes.Contains(raw, r.quoted) {
		return // spares decoding what is only passed over
	}
	l, err := Decode(raw)
	if err != nil || l.Seq == 0 || l.Seq >= r.low {
		return
	}
	switch {
	case r.before == "":
		r.low = l.Seq
		r.turns = append(r.turns, l.Turn)
	case l.ID == r.before:
		r.low, r.before = l.Seq, ""
	}
}

// backward gives r the lines of a file from its end on.
func (j *Journal) backward(ctx context.Context, name string, r *reader) error {
	f, err := j.opts.FS.OpenFile(filepath.Join(j.dir, name), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	at, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	var head []byte // of a line whose beginning has not been read
	tail := true    // no newline was met: what follows the last one is no line
	for n := int64(block); at > 0 && !r.full(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		n = min(n, at)
		at -= n
		data := make([]byte, n, n+int64(len(head)))
		if _, err := f.Seek(at, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.ReadFull(f, data); err != nil {
			return err
		}
		r.left -= int(n)
		data = append(data, head...)
		end := bytes.LastIndexByte(data, '\n')
		if end < 0 {
			head, n = data, 2*n // a long line is not copied once a block
			continue
		}
		if tail {
			data, tail = data[:end], false
		}
		for !r.full() {
			end = bytes.LastIndexByte(data, '\n')
			if end < 0 {
				break
			}
			r.line(data[end+1:])
			data = data[:end]
		}
		head, n = data, block
	}
	if at == 0 && !tail && !r.full() {
		r.line(head)
	}
	return nil
}
