package disk

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// A record on disk is
//
//	length   uint32, little endian, of the payload
//	checksum uint32, little endian, CRC-32C of the length's bytes and the payload
//	payload
//
// The checksum covers the length so that a run of zeros, which is what a file
// system may leave where a write did not arrive, is no valid empty record.
const frameHead = 8

// MaxRecord is the largest payload of a Log's record, in bytes.
const MaxRecord = 16 << 20

// castagnoli is a table and never changed; amd64 and arm64 compute it in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errFrame ends reading: what follows is no whole record.
var errFrame = errors.New("no whole record")

// appendFrame adds a record with its head to buf.
func appendFrame(buf, rec []byte) []byte {
	at := len(buf)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(rec)))
	sum := crc32.Update(crc32.Checksum(buf[at:at+4], castagnoli), castagnoli, rec)
	buf = binary.LittleEndian.AppendUint32(buf, sum)
	return append(buf, rec...)
}

// readFrame reads one record, of which no more than left bytes can be there.
// It returns io.EOF at a clean end, errFrame where bytes are no record, and
// any other error of r as it is.
func readFrame(r *bufio.Reader, left int64) ([]byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errFrame
		}
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(head[:4]))
	if n > MaxRecord || n > left-frameHead {
		// Checked before anything is allocated: the length may be garbage.
		return nil, errFrame
	}
	rec := make([]byte, n)
	if _, err := io.ReadFull(r, rec); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, errFrame
		}
		return nil, err
	}
	sum := crc32.Update(crc32.Checksum(head[:4], castagnoli), castagnoli, rec)
	if sum != binary.LittleEndian.Uint32(head[4:]) {
		return nil, errFrame
	}
	return rec, nil
}
