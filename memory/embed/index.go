package embed

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("the index of vectors is closed")

// ErrID is wrapped where an id is empty or longer than MaxID.
var ErrID = errors.New("not an id of a vector")

// Notice tells that something of the file was lost. It is a cache: what is
// missing is embedded again, since Mark begins anew.
type Notice struct {
	// Lost is the number of damaged entries, 0 where the whole file was replaced.
	Lost int
	Err  error
}

// Entry is a vector with what it was made of.
type Entry struct {
	ID string
	// Sum is a check sum of the text, by which a text that has not changed is known.
	Sum    uint64
	Vector []float32
}

// file is what the index needs of *os.File.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
}

// Index is a file of vectors; see the package's description. It is safe for
// concurrent use.
type Index struct {
	layout layout

	mu     sync.RWMutex
	f      file // nil when closed
	groups []*group
	slots  map[uint64]int // by key
	free   []int
	end    int // slots in use or free
	mark   int64
	turn   uint64 // of the mark's pages
	pool   sync.Pool
}

// group is what is in memory of groupSize entries.
type group struct {
	keys     [groupSize]uint64 // 0 is none
	records  [groupSize]uint32
	sketches []uint64
}

// Open opens or creates an index of vectors of a length, made by an embedder of
// that name. A file of another embedder, length or version is replaced without a
// word. A damaged one is replaced, or its damaged entries are left out, and the
// notice tells; Mark is 0 then. An error is the system's, or that of a dim not in
// 1 to MaxDim.
func Open(path string, dim int, embedder string) (*Index, *Notice, error) {
	if dim < 1 || dim > MaxDim {
		return nil, nil, fmt.Errorf("open vectors: %d dimensions are not 1 to %d", dim, MaxDim)
	}
	if embedder == "" || len(embedder) > maxEmbedder {
		return nil, nil, fmt.Errorf("open vectors: an embedder's name has %d bytes", len(embedder))
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open vectors: %w", err)
	}
	x, notice, err := openFile(f, dim, embedder, f.Truncate)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open vectors: %w", err), f.Close())
	}
	return x, notice, nil
}

// openFile reads an index from f; clear empties it.
func openFile(f file, dim int, embedder string, clear func(size int64) error) (*Index, *Notice, error) {
	x := &Index{layout: newLayout(dim), f: f, slots: map[uint64]int{}}
	var notice *Notice
	ours, err := x.isOurs(embedder)
	if err != nil && !errors.Is(err, errDamaged) {
		return nil, nil, err
	}
	if ours {
		lost, err := x.load()
		if err != nil {
			return nil, nil, err
		}
		if lost > 0 {
			x.mark = 0
			notice = &Notice{Lost: lost, Err: errDamaged}
		}
		return x, notice, nil
	}
	if err != nil {
		notice = &Notice{Err: err}
	}
	if err := clear(0); err != nil {
		return nil, nil, err
	}
	if _, err := f.WriteAt(title(dim, embedder), 0); err != nil {
		return nil, nil, err
	}
	return x, notice, f.Sync()
}

// isOurs tells whether the file holds such vectors; errDamaged if it is not
// empty and cannot be read.
func (x *Index) isOurs(embedder string) (bool, error) {
	b := make([]byte, page)
	n, err := x.f.ReadAt(b, 0)
	switch {
	case n == 0 && err == io.EOF:
		return false, nil
	case err == io.EOF:
		return false, errDamaged
	case err != nil:
		return false, err
	}
	if _, err := opened(b); err != nil {
		return false, err
	}
	return string(b) == string(title(x.layout.dim, embedder)), nil
}

// load reads marks and heads. lost is the number of damaged heads.
func (x *Index) load() (lost int, err error) {
	b := make([]byte, page)
	for i := range marks {
		if n, err := x.f.ReadAt(b, int64(1+i)*page); err == io.EOF && n < page {
			break
		} else if err != nil && err != io.EOF {
			return 0, err
		}
		c, err := opened(b)
		if err != nil || len(c) != 16 {
			continue // cut, or never written; the other one stands
		}
		if turn := binary.LittleEndian.Uint64(c); turn > x.turn {
			x.turn, x.mark = turn, int64(binary.LittleEndian.Uint64(c[8:]))
		}
	}
	size := x.layout.headSize()
	heads := make([]byte, groupSize*size)
	for n := 0; ; n++ {
		got, err := x.f.ReadAt(heads, x.layout.groupAt(n))
		if err != nil && err != io.EOF {
			return lost, err
		}
		if got < size {
			break
		}
		g := x.group(n)
		for i := range got / size {
			h, empty, err := x.layout.getHead(heads[i*size : (i+1)*size])
			slot := n*groupSize + i
			x.end = slot + 1
			if err != nil {
				lost++
			}
			if err != nil || empty {
				x.free = append(x.free, slot)
				continue
			}
			if old, twice := x.slots[h.key]; twice {
				x.drop(old)
			}
			g.set(i, h)
			x.slots[h.key] = slot
		}
	}
	return lost, nil
}

// group is group n, made if it is not there.
func (x *Index) group(n int) *group {
	for len(x.groups) <= n {
		x.groups = append(x.groups, &group{sketches: make([]uint64, groupSize*x.layout.words)})
	}
	return x.groups[n]
}

func (g *group) set(i int, h head) {
	g.keys[i], g.records[i] = h.key, h.record
	copy(g.sketches[i*len(h.sketch):], h.sketch)
}

// drop forgets a slot in memory; x.mu is held.
func (x *Index) drop(slot int) {
	g := x.groups[slot/groupSize]
	delete(x.slots, g.keys[slot%groupSize])
	g.keys[slot%groupSize] = 0
	x.free = append(x.free, slot)
}

// Len is the number of vectors.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.slots)
}

// Mark is what Sync was last given, 0 at the beginning and after damage.
func (x *Index) Mark() int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.mark
}

// Sum is that of the id's entry, false where there is none.
func (x *Index) Sum(ctx context.Context, id string) (sum uint64, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return 0, false, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.f == nil {
		return 0, false, ErrClosed
	}
	slot, ok := x.slots[keyOf(id)]
	if !ok {
		return 0, false, nil
	}
	r, err := x.read(slot, make([]byte, x.layout.recordSize()))
	if errors.Is(err, errDamaged) || err == nil && r.id != id {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("read a vector: %w", err)
	}
	return r.sum, true, nil
}

// read reads the record of a slot into buf; x.mu is held.
func (x *Index) read(slot int, buf []byte) (record, error) {
	if _, err := x.f.ReadAt(buf, x.layout.recordAt(slot)); err == io.EOF {
		return record{}, errDamaged
	} else if err != nil {
		return record{}, err
	}
	return x.layout.getRecord(buf, x.groups[slot/groupSize].records[slot%groupSize])
}

// Close closes the file without waiting for the disk. Closing twice is harmless.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.f == nil {
		return nil
	}
	err := x.f.Close()
	x.f = nil
	return err
}
