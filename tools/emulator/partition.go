package emulator

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Partition is one entry of the table: its number, its type and where it lies,
// in bytes.
type Partition struct {
	Number        int
	Type          byte
	Offset, Bytes int64
}

const (
	sector        = 512
	typeExtended  = 0x05
	typeExtended2 = 0x0f
	maxPartitions = 60 // a chain that is longer goes in a circle
)

// ErrNoTable is a disk without a partition table.
var ErrNoTable = errors.New("there is no MBR partition table")

// ReadPartitions reads an MBR with its chain of logical partitions. The extended
// partition itself is in the list; logical ones begin with number 5.
func ReadPartitions(disk io.ReaderAt) ([]Partition, error) {
	table, err := readTable(disk, 0)
	if err != nil {
		return nil, err
	}
	var all []Partition
	var extended int64
	for i, e := range table {
		if e.Type == 0 || e.Bytes == 0 {
			continue
		}
		e.Number = i + 1
		all = append(all, e)
		if e.Type == typeExtended || e.Type == typeExtended2 {
			extended = e.Offset
		}
	}
	// Each link of the chain is a table of two entries: a logical partition,
	// counted from the link, and the next link, counted from the extended one.
	for link, n := extended, 5; link != 0; n++ {
		if n > maxPartitions {
			return nil, errors.New("the chain of logical partitions does not end")
		}
		table, err := readTable(disk, link)
		if err != nil {
			return nil, fmt.Errorf("logical partition %d: %w", n, err)
		}
		if e := table[0]; e.Type != 0 && e.Bytes != 0 {
			e.Number, e.Offset = n, e.Offset+link
			all = append(all, e)
		}
		if table[1].Type == 0 || table[1].Offset == 0 {
			break
		}
		link = extended + table[1].Offset
	}
	return all, nil
}

func readTable(disk io.ReaderAt, at int64) (table [4]Partition, err error) {
	var b [sector]byte
	if _, err := disk.ReadAt(b[:], at); err != nil {
		return table, fmt.Errorf("read the table at %d: %w", at, err)
	}
	if b[510] != 0x55 || b[511] != 0xaa {
		return table, ErrNoTable
	}
	for i := range table {
		e := b[446+16*i:]
		table[i] = Partition{Type: e[4],
			Offset: int64(binary.LittleEndian.Uint32(e[8:])) * sector,
			Bytes:  int64(binary.LittleEndian.Uint32(e[12:])) * sector}
	}
	return table, nil
}

// lastLink is where the sector lies that names the last logical partition as the
// next one, if that has the number.
func lastLink(disk io.ReaderAt, number int) (int64, error) {
	table, err := readTable(disk, 0)
	if err != nil {
		return 0, err
	}
	var extended, before, link int64
	for _, e := range table {
		if e.Type == typeExtended || e.Type == typeExtended2 {
			extended, link = e.Offset, e.Offset
		}
	}
	n := 5
	for ; link != 0 && n <= maxPartitions; n++ {
		if table, err = readTable(disk, link); err != nil {
			return 0, err
		}
		if table[1].Type == 0 || table[1].Offset == 0 {
			break
		}
		before, link = link, extended+table[1].Offset
	}
	if n != number || before == 0 {
		return 0, fmt.Errorf("partition %d is not the last logical one of several", number)
	}
	return before, nil
}
