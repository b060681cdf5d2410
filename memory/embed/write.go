package embed

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
)

// Put adds entries or replaces those of the same ids. They are found at once and
// durable after Sync. A vector that is zero, or has what is no number, is as none:
// its entry is removed. An error wraps ErrDim or ErrID before anything is done, or
// is the system's; then entries before the failing one are in.
func (x *Index) Put(ctx context.Context, entries ...Entry) error {
	for _, e := range entries {
		if len(e.Vector) != x.layout.dim {
			return fmt.Errorf("put vectors: %w: %d, not %d", ErrDim, len(e.Vector), x.layout.dim)
		}
		if e.ID == "" || len(e.ID) > MaxID {
			return fmt.Errorf("put vectors: %w: %.40q", ErrID, e.ID)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.f == nil {
		return ErrClosed
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := x.put(e); err != nil {
			return fmt.Errorf("put vectors: %w", err)
		}
	}
	return nil
}

// put writes one entry: the record, then the head that has its check sum.
func (x *Index) put(e Entry) error {
	v := slices.Clone(e.Vector)
	if slices.ContainsFunc(v, func(f float32) bool { return math.IsNaN(float64(f)) }) || !Normalize(v) {
		return x.remove(e.ID)
	}
	q := quantize(v)
	values := make([]byte, len(v))
	for i, n := range q.values {
		values[i] = byte(n)
	}
	b := x.layout.putRecord(record{id: e.ID, sum: e.Sum, scale: q.scale, values: values})
	h := head{key: keyOf(e.ID), record: crc32.ChecksumIEEE(b), sketch: sketch(v)}
	slot, known := x.slots[h.key]
	switch {
	case known:
		// Until the new one is whole there is none.
		x.drop(slot)
		x.free = x.free[:len(x.free)-1]
	case len(x.free) > 0:
		slot = x.free[len(x.free)-1]
		x.free = x.free[:len(x.free)-1]
	default:
		slot = x.end
		x.end++
	}
	_, err := x.f.WriteAt(b, x.layout.recordAt(slot))
	if err == nil {
		_, err = x.f.WriteAt(x.layout.putHead(h), x.layout.headAt(slot))
	}
	if err != nil {
		x.group(slot / groupSize)
		x.free = append(x.free, slot)
		return err
	}
	x.group(slot/groupSize).set(slot%groupSize, h)
	x.slots[h.key] = slot
	return nil
}

// Remove takes entries out; ids that are not there are no error.
func (x *Index) Remove(ctx context.Context, ids ...string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.f == nil {
		return ErrClosed
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := x.remove(id); err != nil {
			return fmt.Errorf("remove vectors: %w", err)
		}
	}
	return nil
}

// remove writes zeros over an entry, so that nothing of it can be read either.
func (x *Index) remove(id string) error {
	slot, ok := x.slots[keyOf(id)]
	if !ok {
		return nil
	}
	if _, err := x.f.WriteAt(make([]byte, x.layout.headSize()), x.layout.headAt(slot)); err != nil {
		return err
	}
	x.drop(slot)
	_, err := x.f.WriteAt(make([]byte, x.layout.recordSize()), x.layout.recordAt(slot))
	return err
}

// Sync makes all that was put and removed durable, and then mark, which tells
// how far the index has followed its source. It waits for the disk twice, or
// once where the mark is what it was.
func (x *Index) Sync(ctx context.Context, mark int64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.f == nil {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := x.f.Sync(); err != nil {
		return fmt.Errorf("sync vectors: %w", err)
	}
	if mark == x.mark && x.turn > 0 {
		return nil
	}
	turn := x.turn + 1
	c := binary.LittleEndian.AppendUint64(nil, turn)
	c = binary.LittleEndian.AppendUint64(c, uint64(mark))
	_, err := x.f.WriteAt(sealed(c), int64(1+turn%marks)*page)
	if err == nil {
		err = x.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("sync vectors: %w", err)
	}
	x.turn, x.mark = turn, mark
	return nil
}
