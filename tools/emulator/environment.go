package emulator

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
)

// ErrNoEnvironment is a copy of U-Boot's environment whose checksum is wrong, as
// on a card that was never saved to.
var ErrNoEnvironment = errors.New("the checksum of U-Boot's environment is wrong")

// environmentHead is a checksum and the counter that tells which copy is newer.
const environmentHead = 5

// ParseEnvironment reads one copy of a redundant U-Boot environment.
func ParseEnvironment(b []byte) (vars map[string]string, counter byte, err error) {
	if len(b) < environmentHead+2 || crc32.ChecksumIEEE(b[environmentHead:]) != binary.LittleEndian.Uint32(b) {
		return nil, 0, ErrNoEnvironment
	}
	vars = map[string]string{}
	for _, entry := range bytes.Split(b[environmentHead:], []byte{0}) {
		if len(entry) == 0 {
			break // the end of the list
		}
		if key, value, ok := strings.Cut(string(entry), "="); ok && key != "" {
			vars[key] = value
		}
	}
	return vars, b[4], nil
}

// FormatEnvironment makes one copy of the given size.
func FormatEnvironment(vars map[string]string, counter byte, size int) ([]byte, error) {
	b := make([]byte, environmentHead, max(size, environmentHead))
	b[4] = counter
	for _, key := range slices.Sorted(maps.Keys(vars)) {
		if key == "" || strings.ContainsAny(key, "=\x00") || strings.Contains(vars[key], "\x00") {
			return nil, fmt.Errorf("%q cannot stand in U-Boot's environment", key)
		}
		b = append(b, key+"="+vars[key]+"\x00"...)
	}
	if len(b)+1 > size {
		return nil, fmt.Errorf("the variables do not fit into %d bytes", size)
	}
	b = append(b, make([]byte, size-len(b))...)
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[environmentHead:]))
	return b, nil
}
