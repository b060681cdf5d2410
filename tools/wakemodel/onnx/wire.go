package onnx

import (
	"encoding/binary"
	"errors"
)

// errWire is any violation of the protocol buffer encoding.
var errWire = errors.New("not a protocol buffer")

// Wire types of the protocol buffer encoding.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

// field is one decoded field: number holds varints and fixed values, bytes the rest.
type field struct {
	id     uint64
	wire   int
	number uint64
	bytes  []byte
}

// each calls f for every field of a message and stops at the first error.
func each(msg []byte, f func(field) error) error {
	for len(msg) > 0 {
		key, n := binary.Uvarint(msg)
		if n <= 0 || key>>3 == 0 {
			return errWire
		}
		msg = msg[n:]
		fl := field{id: key >> 3, wire: int(key & 7)}
		switch fl.wire {
		case wireVarint:
			fl.number, n = binary.Uvarint(msg)
			if n <= 0 {
				return errWire
			}
		case wire64:
			if n = 8; len(msg) < n {
				return errWire
			}
			fl.number = binary.LittleEndian.Uint64(msg)
		case wire32:
			if n = 4; len(msg) < n {
				return errWire
			}
			fl.number = uint64(binary.LittleEndian.Uint32(msg))
		case wireBytes:
			size, m := binary.Uvarint(msg)
			if m <= 0 || size > uint64(len(msg)-m) {
				return errWire
			}
			n = m + int(size)
			fl.bytes = msg[m:n]
		default:
			return errWire
		}
		msg = msg[n:]
		if err := f(fl); err != nil {
			return err
		}
	}
	return nil
}

// ints appends a repeated integer field, which may be packed or not.
func ints(to []int64, f field) ([]int64, error) {
	if f.wire == wireVarint {
		return append(to, int64(f.number)), nil
	}
	if f.wire != wireBytes {
		return nil, errWire
	}
	for b := f.bytes; len(b) > 0; {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errWire
		}
		to, b = append(to, int64(v)), b[n:]
	}
	return to, nil
}
