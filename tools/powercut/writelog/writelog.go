package writelog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Magic begins every log.
const Magic = 0x6a736677736872

// Flags of an Entry.
const (
	Flush   = 1 << 0
	FUA     = 1 << 1
	Discard = 1 << 2
	Mark    = 1 << 3
)

// Bounds of what is believed.
const (
	minSector  = 512
	maxSector  = 64 << 10
	maxEntries = 1 << 26
	headLen    = 32
	superLen   = 28
)

// ErrFormat is wrapped by what is wrong with a log.
var ErrFormat = errors.New("not a log of writes")

// Super is the superblock.
type Super struct {
	// Entries is how many entries were counted when it was last written.
	Entries uint64
	// SectorSize is the unit of all sectors, in bytes.
	SectorSize int64
}

// ReadSuper reads the superblock alone, which a machine that runs may be
// rewriting: it is one small write.
func ReadSuper(r io.ReaderAt) (Super, error) {
	var b [superLen]byte
	if _, err := r.ReadAt(b[:], 0); err != nil {
		return Super{}, fmt.Errorf("%w: superblock: %w", ErrFormat, err)
	}
	if m := binary.LittleEndian.Uint64(b[:]); m != Magic {
		return Super{}, fmt.Errorf("%w: magic %#x", ErrFormat, m)
	}
	if v := binary.LittleEndian.Uint64(b[8:]); v != 1 {
		return Super{}, fmt.Errorf("%w: version %d, 1 is known", ErrFormat, v)
	}
	s := Super{Entries: binary.LittleEndian.Uint64(b[16:]), SectorSize: int64(binary.LittleEndian.Uint32(b[24:]))}
	if s.SectorSize < minSector || s.SectorSize > maxSector || s.SectorSize&(s.SectorSize-1) != 0 {
		return Super{}, fmt.Errorf("%w: sector size %d", ErrFormat, s.SectorSize)
	}
	if s.Entries > maxEntries {
		return Super{}, fmt.Errorf("%w: %d entries", ErrFormat, s.Entries)
	}
	return s, nil
}

// Entry is one request to the disk.
type Entry struct {
	// Offset and Length say in bytes what was written or discarded; both are 0 for a bare flush.
	Offset, Length int64
	Flags          uint64
	// Data is where the data lies in the log; there is none with Discard.
	Data int64
}

// IsFlush reports whether all before the entry is durable once it is done.
func (e Entry) IsFlush() bool { return e.Flags&Flush != 0 }

// Writes reports whether the entry carries data.
func (e Entry) Writes() bool { return e.Length > 0 && e.Flags&(Discard|Mark) == 0 }

// Log is a log that was read.
type Log struct {
	Super   Super
	Entries []Entry
	r       io.ReaderAt
}

// Open reads all entries of a log of size bytes.
func Open(r io.ReaderAt, size int64) (*Log, error) {
	s, err := ReadSuper(r)
	if err != nil {
		return nil, err
	}
	l := &Log{Super: s, r: r}
	at := s.SectorSize
	for i := uint64(0); i < s.Entries; i++ {
		if size-at < s.SectorSize {
			break
		}
		e, next, err := l.entry(at, size)
		if err != nil {
			return nil, fmt.Errorf("entry %d at byte %d: %w", i, at, err)
		}
		if next > size {
			break // its data is not all there
		}
		l.Entries = append(l.Entries, e)
		at = next
	}
	return l, nil
}

// entry reads the head at a byte and says where the next one begins.
func (l *Log) entry(at, size int64) (Entry, int64, error) {
	var b [headLen]byte
	if _, err := l.r.ReadAt(b[:], at); err != nil {
		return Entry{}, 0, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	sector, n := binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	e := Entry{Flags: binary.LittleEndian.Uint64(b[16:])}
	mark := binary.LittleEndian.Uint64(b[24:])
	if e.Flags&^(Flush|FUA|Discard|Mark) != 0 {
		return e, 0, fmt.Errorf("%w: flags %#x", ErrFormat, e.Flags)
	}
	// Beyond this no disk ends and a sum would overflow.
	limit := uint64(math.MaxInt64/4) / uint64(l.Super.SectorSize)
	if sector > limit || n > limit || mark > uint64(l.Super.SectorSize-headLen) {
		return e, 0, fmt.Errorf("%w: sector %d, %d sectors, mark of %d bytes", ErrFormat, sector, n, mark)
	}
	e.Offset, e.Length = int64(sector)*l.Super.SectorSize, int64(n)*l.Super.SectorSize
	next := at + l.Super.SectorSize
	if e.Writes() {
		e.Data = next
		if e.Length > math.MaxInt64/2-next {
			return e, 0, fmt.Errorf("%w: %d sectors", ErrFormat, n)
		}
		next += e.Length
	}
	return e, next, nil
}

// ReadData reads what an entry wrote.
func (l *Log) ReadData(e Entry) ([]byte, error) {
	if !e.Writes() {
		return nil, nil
	}
	b := make([]byte, e.Length)
	if _, err := l.r.ReadAt(b, e.Data); err != nil {
		return nil, fmt.Errorf("read %d bytes of the log at %d: %w", e.Length, e.Data, err)
	}
	return b, nil
}
