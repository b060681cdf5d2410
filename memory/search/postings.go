package search

import (
	"encoding/binary"
	"errors"
)

// blockSize is the number of postings in a full block; a posting takes about
// four bytes.
const blockSize = 256

var errBlock = errors.New("postings do not parse")

// posting is a passage that has a term: how often, and how many terms the
// passage has in all, so that scoring reads nothing else.
type posting struct {
	id     int64
	tf     uint32
	length uint32
}

// appendBlock writes postings, ascending by id, as differences.
func appendBlock(b []byte, list []posting) []byte {
	var prev int64
	for _, p := range list {
		b = binary.AppendUvarint(b, uint64(p.id-prev))
		b = binary.AppendUvarint(b, uint64(p.tf))
		b = binary.AppendUvarint(b, uint64(p.length))
		prev = p.id
	}
	return b
}

// readBlock appends the postings of a block to list.
func readBlock(list []posting, b []byte) ([]posting, error) {
	var prev int64
	for len(b) > 0 {
		d, n := binary.Uvarint(b)
		if n <= 0 || d == 0 || d > 1<<62 || prev+int64(d) <= prev {
			return list, errBlock
		}
		tf, m := binary.Uvarint(b[n:])
		if m <= 0 || tf == 0 || tf > 1<<31 {
			return list, errBlock
		}
		length, k := binary.Uvarint(b[n+m:])
		if k <= 0 || length > 1<<31 {
			return list, errBlock
		}
		prev += int64(d)
		list = append(list, posting{prev, uint32(tf), uint32(length)})
		b = b[n+m+k:]
	}
	return list, nil
}
