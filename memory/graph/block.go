package graph

import (
	"encoding/binary"
	"errors"
	"slices"
)

// blockSize is the number of ids in a full block of postings. A block of
// neighbouring ids takes one to two bytes an id.
const blockSize = 256

var errBlock = errors.New("postings do not parse")

// encodeBlock writes ascending ids as the differences between them.
func encodeBlock(ids []int64) []byte {
	b := make([]byte, 0, len(ids)*2+8)
	var prev int64
	for _, id := range ids {
		b = binary.AppendUvarint(b, uint64(id-prev))
		prev = id
	}
	return b
}

// decodeBlock appends the ids of a block to ids.
func decodeBlock(ids []int64, b []byte) ([]int64, error) {
	var prev int64
	for len(b) > 0 {
		d, n := binary.Uvarint(b)
		id := prev + int64(d)
		if n <= 0 || id <= prev {
			return ids, errBlock
		}
		ids = append(ids, id)
		prev, b = id, b[n:]
	}
	return ids, nil
}

// merge returns the union of two ascending lists.
func merge(a, b []int64) []int64 {
	if len(a) > 0 && len(b) > 0 && a[len(a)-1] < b[0] {
		return append(a, b...)
	}
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}
