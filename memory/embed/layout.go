package embed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"math"
)

// The file's measures, see the package's description. A change of any of them
// is a new version.
const (
	magic     = "HAvec\x00\x00\x01"
	page      = 4096
	marks     = 2 // pages that hold the mark in turns
	groupSize = 256
	// MaxID bounds an id, in bytes.
	MaxID = 126
	// maxEmbedder bounds an embedder's name, in bytes.
	maxEmbedder = 1024
	// headFixed and recordFixed are what stands beside sketch and values.
	headFixed   = 8 + 4 + 4
	recordFixed = 2 + MaxID + 8 + 4
)

var errDamaged = errors.New("the check sum does not fit")

// layout computes places for one length of vectors.
type layout struct {
	dim, words int
}

func newLayout(dim int) layout { return layout{dim, sketchWords(dim)} }

func (l layout) headSize() int   { return headFixed + 8*l.words }
func (l layout) recordSize() int { return recordFixed + l.dim }

// groupAt is where the heads of a group begin, its records behind them.
func (l layout) groupAt(group int) int64 {
	return (1+marks)*page + int64(group)*groupSize*int64(l.headSize()+l.recordSize())
}

func (l layout) headAt(slot int) int64 {
	return l.groupAt(slot/groupSize) + int64(slot%groupSize)*int64(l.headSize())
}

func (l layout) recordAt(slot int) int64 {
	return l.groupAt(slot/groupSize) + groupSize*int64(l.headSize()) + int64(slot%groupSize)*int64(l.recordSize())
}

// head is the part of an entry that is kept in memory.
type head struct {
	key    uint64 // of the id; 0 is none
	record uint32 // check sum
	sketch []uint64
}

// keyOf is an id as a number. Of two ids with the same one, which happens once
// in 10^9 indexes of 100,000, the later one is kept.
func keyOf(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return max(1, mix(h.Sum64()))
}

func (l layout) putHead(h head) []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, l.headSize()), h.key)
	b = binary.LittleEndian.AppendUint32(b, h.record)
	for _, w := range h.sketch {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// getHead reads a head; one that is all zero is an empty place.
func (l layout) getHead(b []byte) (h head, empty bool, err error) {
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		for _, x := range b {
			if x != 0 {
				return h, false, errDamaged
			}
		}
		return h, true, nil
	}
	h.key, h.record = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:])
	h.sketch = make([]uint64, l.words)
	for i := range h.sketch {
		h.sketch[i] = binary.LittleEndian.Uint64(b[12+8*i:])
	}
	return h, h.key == 0, nil
}

// record is the part of an entry that stays in the file.
type record struct {
	id     string
	sum    uint64 // of the text
	scale  float32
	values []byte // int8
}

func (l layout) putRecord(r record) []byte {
	b := make([]byte, l.recordSize())
	binary.LittleEndian.PutUint16(b, uint16(len(r.id)))
	copy(b[2:2+MaxID], r.id)
	binary.LittleEndian.PutUint64(b[2+MaxID:], r.sum)
	binary.LittleEndian.PutUint32(b[2+MaxID+8:], math.Float32bits(r.scale))
	copy(b[recordFixed:], r.values)
	return b
}

// getRecord reads a record whose check sum is known.
func (l layout) getRecord(b []byte, sum uint32) (r record, err error) {
	n := int(binary.LittleEndian.Uint16(b))
	if crc32.ChecksumIEEE(b) != sum || n > MaxID {
		return r, errDamaged
	}
	r.id = string(b[2 : 2+n])
	r.sum = binary.LittleEndian.Uint64(b[2+MaxID:])
	r.scale = math.Float32frombits(binary.LittleEndian.Uint32(b[2+MaxID+8:]))
	r.values = b[recordFixed:]
	return r, nil
}

// sealed is a page with its content's length and check sum.
func sealed(content []byte) []byte {
	b := make([]byte, 0, page)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(content))
	return append(b, content...)[:page]
}

// opened is the content of a page.
func opened(b []byte) ([]byte, error) {
	n := binary.LittleEndian.Uint32(b)
	if n > page-8 || crc32.ChecksumIEEE(b[8:8+n]) != binary.LittleEndian.Uint32(b[4:]) {
		return nil, errDamaged
	}
	return b[8 : 8+n], nil
}

// title is the first page: what the file is.
func title(dim int, embedder string) []byte {
	return sealed(fmt.Appendf(nil, "%s%d %s", magic, dim, embedder))
}
