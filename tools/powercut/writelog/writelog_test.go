package writelog_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"homeagent/tools/powercut/writelog"
)

// made is a log made by hand.
type made struct {
	bytes.Buffer
	sector int
	n      uint64
}

func newLog(sector int) *made {
	m := &made{sector: sector}
	m.Write(make([]byte, sector))
	return m
}

func (m *made) entry(sector, n, flags uint64, data []byte) *made {
	b := make([]byte, m.sector)
	for i, v := range []uint64{sector, n, flags, 0} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	m.Write(b)
	m.Write(data)
	m.n++
	return m
}

// done is the log with a superblock that counts more entries than there are.
func (m *made) done(more uint64) []byte {
	b := m.Bytes()
	for i, v := range []uint64{writelog.Magic, 1, m.n + more} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	binary.LittleEndian.PutUint32(b[24:], uint32(m.sector))
	return b
}

// sample is what QEMU 10's qemu-io logs for a write, a flush, a discard and zeroes.
func sample() *made {
	return newLog(512).entry(8, 2, 0, bytes.Repeat([]byte{0xaa}, 1024)).entry(0, 0, writelog.Flush, nil).
		entry(16, 1, writelog.Flush, bytes.Repeat([]byte{0xbb}, 512)).entry(32, 8, writelog.Discard, nil).
		entry(64, 8, 0, make([]byte, 4096)).entry(0, 0, writelog.Flush, nil)
}

func TestOpen(t *testing.T) {
	whole := []writelog.Entry{
		{Offset: 4096, Length: 1024, Data: 1024}, {Flags: writelog.Flush},
		{Offset: 8192, Length: 512, Flags: writelog.Flush, Data: 3072}, {Offset: 16384, Length: 4096, Flags: writelog.Discard},
		{Offset: 32768, Length: 4096, Data: 4608}, {Flags: writelog.Flush},
	}
	cut := func(n int) []byte { b := sample().done(0); return b[:len(b)-n] }
	for _, row := range []struct {
		name string
		log  []byte
		want []writelog.Entry
		err  bool
	}{
		{"as QEMU writes it", sample().done(0), whole, false},
		{"more counted than there", sample().done(7), whole, false},
		{"less counted than there", sample().done(^uint64(1)), whole[:4], false},
		{"cut behind the last data", cut(512), whole[:5], false},
		{"cut within the last data", cut(513), whole[:4], false},
		{"no entries", newLog(512).done(0), nil, false},
		{"4K sectors", newLog(4096).entry(1, 1, 0, make([]byte, 4096)).done(0), []writelog.Entry{{Offset: 4096, Length: 4096, Data: 8192}}, false},
		{"empty", nil, nil, true},
		{"half a superblock", sample().done(0)[:20], nil, true},
		{"zeroes", make([]byte, 4096), nil, true},
		{"unknown flags", newLog(512).entry(0, 1, 64, nil).done(0), nil, true},
		{"beyond every disk", newLog(512).entry(1<<62, 1, 0, nil).done(0), nil, true},
		{"more data than numbers", newLog(512).entry(0, 1<<60, 0, nil).done(0), nil, true},
		{"sector of odd size", newLog(1000).done(0), nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			l, err := writelog.Open(bytes.NewReader(row.log), int64(len(row.log)))
			if row.err {
				if !errors.Is(err, writelog.ErrFormat) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil || !slices.Equal(l.Entries, row.want) {
				t.Fatalf("%+v, %v, want %+v", l, err, row.want)
			}
		})
	}
}

func TestReadData(t *testing.T) {
	b := sample().done(0)
	l, err := writelog.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]byte{bytes.Repeat([]byte{0xaa}, 1024), nil, bytes.Repeat([]byte{0xbb}, 512), nil, make([]byte, 4096), nil} {
		if got, err := l.ReadData(l.Entries[i]); err != nil || !bytes.Equal(got, want) {
			t.Errorf("entry %d: %x, %v", i, got, err)
		}
	}
}

// Whatever the bytes are, an entry that Open returns lies inside them.
func FuzzOpen(f *testing.F) {
	f.Add(sample().done(0))
	f.Add(sample().done(9)[:3000])
	f.Add(newLog(4096).entry(1, 1, 0, make([]byte, 4096)).entry(1<<55, 3, writelog.Discard, nil).done(0))
	f.Add(newLog(512).entry(0, 1<<52, 0, nil).done(0))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := writelog.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if !errors.Is(err, writelog.ErrFormat) {
				t.Fatalf("an error without a kind: %v", err)
			}
			return
		}
		for _, e := range l.Entries {
			if e.Offset < 0 || e.Length < 0 || e.Writes() && e.Data+e.Length > int64(len(b)) {
				t.Fatalf("%+v of %d bytes", e, len(b))
			}
			if d, err := l.ReadData(e); err != nil || e.Writes() && int64(len(d)) != e.Length {
				t.Fatalf("%+v: %d bytes, %v", e, len(d), err)
			}
		}
	})
}
