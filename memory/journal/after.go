package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// afterBytes is how many bytes of lines After returns at most, but one line always.
const afterBytes = 8 << 20

// errEnough ends reading a file.
var errEnough = errors.New("enough")

// After returns the lines behind number seq in the order of their numbers, at
// most limit of them and about 8 MB: those in files and those that wait. None
// are left out in between, so a reader that goes on from the last number it got
// meets each line once. Lines that do not parse are passed over.
func (j *Journal) After(ctx context.Context, seq uint64, limit int) ([]Line, error) {
	if limit <= 0 {
		return nil, nil
	}
	c := collector{ctx: ctx, last: seq, limit: limit}
	// The outbox is copied first: what a flush moves meanwhile is in both.
	waiting, err := j.outboxAfter(seq, limit)
	if err == nil {
		err = j.filesAfter(seq, c.take)
	}
	for i := 0; err == nil && i < len(waiting); i++ {
		err = c.take(waiting[i])
	}
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("read journal after %d: %w", seq, err)
	}
	return c.lines, nil
}

// collector takes raw lines in order and drops what it has already.
type collector struct {
	ctx   context.Context
	last  uint64
	limit int
	size  int
	lines []Line
}

func (c *collector) take(raw []byte) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if n, ok := peekSeq(raw); ok && n <= c.last {
		return nil
	}
	l, err := Decode(raw)
	if err != nil || l.Seq <= c.last {
		return nil
	}
	if len(c.lines) > 0 && c.size+len(raw) > afterBytes {
		return errEnough
	}
	c.lines, c.last, c.size = append(c.lines, l), l.Seq, c.size+len(raw)
	if len(c.lines) >= c.limit {
		return errEnough
	}
	return nil
}

// seqHead is how Encode begins a line.
const seqHead = `{"seq":`

// peekSeq reads the number at a line's beginning without decoding the rest.
func peekSeq(raw []byte) (n uint64, ok bool) {
	rest, ok := bytes.CutPrefix(raw, []byte(seqHead))
	if !ok {
		return 0, false
	}
	for i, b := range rest {
		if b < '0' || b > '9' {
			return n, i > 0 && b == ','
		}
		if i >= 19 {
			break
		}
		n = n*10 + uint64(b-'0')
	}
	return 0, false
}

// outboxAfter copies lines of the outbox.
func (j *Journal) outboxAfter(seq uint64, limit int) (lines [][]byte, err error) {
	size := 0
	err = j.db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(outboxBucket))
		if b == nil {
			return nil
		}
		c := b.Cursor()
		for k, v := c.Seek(number(seq + 1)); k != nil && len(lines) < limit && size < afterBytes; k, v = c.Next() {
			lines = append(lines, bytes.Clone(v))
			size += len(v)
		}
		return nil
	})
	return lines, err
}

// filesAfter gives f the lines of the files from the one on that may hold the
// number behind seq.
func (j *Journal) filesAfter(seq uint64, f func([]byte) error) error {
	names, err := files(j.opts.FS, j.dir)
	if err != nil {
		return err
	}
	from := 0
	for i, name := range slices.Backward(names) {
		first, err := j.firstSeq(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // swept meanwhile
			return err
		}
		if first > 0 && first <= seq+1 {
			from = i
			break
		}
	}
	for _, name := range names[from:] {
		if err := j.eachRaw(name, f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// firstSeq is the number of a file's first sound line, 0 if it has none.
func (j *Journal) firstSeq(name string) (first uint64, err error) {
	err = j.eachRaw(name, func(raw []byte) error {
		if l, err := Decode(raw); err == nil && l.Seq > 0 {
			first = l.Seq
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return first, err
}

// eachRaw calls f with each whole line of a file, valid until f returns. What
// follows the last newline is no line yet.
func (j *Journal) eachRaw(name string, f func([]byte) error) error {
	file, err := j.opts.FS.OpenFile(filepath.Join(j.dir, name), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := f(line); err != nil {
			return err
		}
	}
}

// DistilledTo marks every closed file whose lines all have numbers up to seq,
// and returns the names of those that were not marked before.
func (j *Journal) DistilledTo(ctx context.Context, seq uint64) (marked []string, err error) {
	names, err := j.Files()
	if err != nil {
		return nil, err
	}
	known, err := j.marks()
	if err != nil {
		return nil, fmt.Errorf("mark journal: %w", err)
	}
	current := j.Current()
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return marked, err
		}
		if name == current || known[name] {
			continue
		}
		last := uint64(0)
		err := j.eachRaw(name, func(raw []byte) error {
			if n, ok := peekSeq(raw); ok {
				last = max(last, n)
			}
			if last > seq {
				return errEnough
			}
			return nil
		})
		switch {
		case errors.Is(err, errEnough), errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return marked, fmt.Errorf("mark journal: %w", err)
		case last == 0:
			continue // nothing sound in it: kept for whoever looks for what was lost
		}
		if err := j.Distilled(name); err != nil {
			return marked, err
		}
		marked = append(marked, name)
	}
	return marked, nil
}

// marks are the names of the files that were marked as distilled.
func (j *Journal) marks() (map[string]bool, error) {
	known := map[string]bool{}
	err := j.db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(distilledBucket))
		if b == nil {
			return nil
		}
		return b.ForEach(func(k, _ []byte) error {
			known[string(k)] = true
			return nil
		})
	})
	return known, err
}
