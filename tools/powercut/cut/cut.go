package cut

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sort"

	"homeagent/tools/powercut/writelog"
	"homeagent/tools/sparse"
)

// Mode is how the entries behind the last flush are treated.
type Mode string

// Modes.
const (
	Whole   Mode = "whole"
	Torn    Mode = "torn"
	Dropped Mode = "dropped"
)

// Cut is one moment at which the power goes.
type Cut struct {
	// Entry is the last one that may have left a trace.
	Entry int    `json:"entry"`
	Mode  Mode   `json:"mode"`
	Seed  uint64 `json:"seed"`
	// Point names what was being written.
	Point string `json:"point"`
}

func (c Cut) String() string {
	return fmt.Sprintf("entry %d, %s, %s, seed %d", c.Entry, c.Point, c.Mode, c.Seed)
}

// Flushes knows for each number of entries how many of them are durable.
type Flushes []int

// NewFlushes finds the flushes of a log.
func NewFlushes(entries []writelog.Entry) Flushes {
	var f Flushes
	for i, e := range entries {
		if e.IsFlush() {
			f = append(f, i)
		}
	}
	return f
}

// Durable is how many of the first n entries the last flush among them covers,
// itself included.
func (f Flushes) Durable(n int) int {
	i := sort.SearchInts(f, n) // the first flush that is not among them
	if i == 0 {
		return 0
	}
	return f[i-1] + 1
}

// Covers is how many entries are certainly there after a cut.
func (f Flushes) Covers(c Cut) int {
	switch c.Mode {
	case Whole:
		return c.Entry + 1
	case Torn:
		return c.Entry
	}
	return f.Durable(c.Entry + 1)
}

// Disk is the file into which the log is applied.
type Disk struct {
	file    *os.File
	log     *writelog.Log
	flushes Flushes
	applied int
}

// NewDisk takes a copy of the disk as it was before the first entry.
func NewDisk(file *os.File, log *writelog.Log) *Disk {
	return &Disk{file: file, log: log, flushes: NewFlushes(log.Entries)}
}

// Flushes are those of the disk's log.
func (d *Disk) Flushes() Flushes { return d.flushes }

// Make goes forward to a cut. Its entry must not lie before that of the last one.
func (d *Disk) Make(c Cut) (*View, error) {
	if c.Entry < 0 || c.Entry >= len(d.log.Entries) {
		return nil, fmt.Errorf("cut at entry %d of %d", c.Entry, len(d.log.Entries))
	}
	durable := d.flushes.Durable(c.Entry + 1)
	if durable < d.applied {
		return nil, fmt.Errorf("cut at entry %d: the disk is at %d already", c.Entry, d.applied)
	}
	for ; d.applied < durable; d.applied++ {
		b, err := d.log.ReadData(d.log.Entries[d.applied])
		if err == nil {
			_, err = d.file.WriteAt(b, d.log.Entries[d.applied].Offset)
		}
		if err != nil {
			return nil, fmt.Errorf("apply entry %d: %w", d.applied, err)
		}
	}
	v := &View{base: d.file}
	rng := rand.New(rand.NewPCG(c.Seed, uint64(c.Entry)))
	for i := durable; i <= c.Entry; i++ {
		e := d.log.Entries[i]
		if !e.Writes() || c.Mode == Dropped && rng.IntN(2) == 0 {
			continue
		}
		b, err := d.log.ReadData(e)
		if err != nil {
			return nil, err
		}
		if i == c.Entry && c.Mode == Torn || c.Mode == Dropped && rng.IntN(4) == 0 {
			v.tear(e.Offset, b, rng)
			continue
		}
		v.patches = append(v.patches, patch{e.Offset, b})
	}
	// A flush that tells of the entry's own data leaves nothing to tear.
	if e := d.log.Entries[c.Entry]; c.Mode == Torn && durable > c.Entry && e.Writes() {
		return nil, fmt.Errorf("entry %d is durable at once and cannot be torn", c.Entry)
	}
	return v, nil
}

// piece is the unit in which a write comes through, in bytes.
const piece = 512

type patch struct {
	at   int64
	data []byte
}

// View is a disk as a cut left it.
type View struct {
	base    io.ReaderAt
	patches []patch // later ones lie over earlier ones
}

// tear adds some of the sectors of a write: half of the time the first ones, as
// a card that stopped in the middle, else any of them.
func (v *View) tear(at int64, b []byte, rng *rand.Rand) {
	n := len(b) / piece
	if n < 2 {
		return // one sector comes through or not
	}
	first, front := 1+rng.IntN(n-1), rng.IntN(2) == 0
	for i := range n {
		if front && i < first || !front && rng.IntN(2) == 0 {
			v.patches = append(v.patches, patch{at + int64(i*piece), b[i*piece : (i+1)*piece]})
		}
	}
}

// ReadAt reads the disk.
func (v *View) ReadAt(b []byte, at int64) (int, error) {
	n, err := v.base.ReadAt(b, at)
	for _, p := range v.patches {
		from, to := max(p.at, at), min(p.at+int64(len(p.data)), at+int64(n))
		if from < to {
			copy(b[from-at:to-at], p.data[from-p.at:to-p.at])
		}
	}
	return n, err
}

// Extract copies length bytes from an offset into a new file, holes left out.
func (v *View) Extract(path string, offset, length int64) error {
	base, ok := v.base.(*os.File)
	if !ok {
		return fmt.Errorf("extract from %T: want a file", v.base)
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := sparse.Copy(out, base, offset, length); err != nil {
		return err
	}
	for _, p := range v.patches {
		from, to := max(p.at, offset), min(p.at+int64(len(p.data)), offset+length)
		if from < to {
			if _, err := out.WriteAt(p.data[from-p.at:to-p.at], from-offset); err != nil {
				return err
			}
		}
	}
	return out.Close()
}
