package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"homeagent/tools/emulator"
	"homeagent/tools/powercut/cut"
)

// logicalGap is how far before a logical partition its own table lies at most.
const logicalGap = 1 << 20

// copyTables makes a file of the card's size that holds its partition tables
// alone: the first sector and what stands before each logical partition. It
// returns a sum of them.
func (r *replayer) copyTables(v *cut.View, path string) (sum [sha256.Size]byte, err error) {
	out, err := os.Create(path)
	if err != nil {
		return sum, err
	}
	defer out.Close()
	if err := out.Truncate(r.size); err != nil {
		return sum, err
	}
	before, err := os.Open(filepath.Join(r.run.dir, recordedBefore))
	if err != nil {
		return sum, err
	}
	defer before.Close()
	parts, err := emulator.ReadPartitions(before)
	if err != nil {
		return sum, err
	}
	pieces := []region{{0, 512, ""}}
	for _, p := range parts {
		if p.Number > 4 {
			pieces = append(pieces, region{p.Offset - logicalGap, p.Offset, ""})
		}
	}
	h := sha256.New()
	buf := make([]byte, logicalGap)
	for _, p := range pieces {
		b := buf[:p.to-p.from]
		if _, err := v.ReadAt(b, p.from); err != nil && err != io.EOF {
			return sum, err
		}
		h.Write(b)
		if _, err := out.WriteAt(b, p.from); err != nil {
			return sum, err
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), out.Close()
}

// mendScript is what the box does with the table at each start.
const mendScript = `. "$1/usr/lib/homeagent/table.sh"; . "$2"
wanted=$(table_wants "$3" "$4")
[ "$wanted" != none ] || exit 0
[ "$wanted" != broken ] || { echo broken; exit 1; }
table_mend sfdisk "$3" "$wanted"`

// mendTable has the box's own script mend a table and says what is wrong with it
// then: the data partition must begin where it did and reach the end of the card.
func (r *replayer) mendTable(ctx context.Context, path string) string {
	code, out, err := status(ctx, "sh", "-c", mendScript, "sh", r.overlay, r.layout, path, fmt.Sprint(r.size/512))
	if err != nil || code != 0 {
		return fmt.Sprintf("it cannot be mended (%d, %v): %s", code, err, lastLines(out, 3))
	}
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	parts, err := emulator.ReadPartitions(f)
	if err != nil {
		return err.Error()
	}
	for _, p := range parts {
		switch {
		case p.Number != r.parts.Data:
		case p.Offset != r.start:
			return fmt.Sprintf("the data partition begins at %d, not at %d", p.Offset, r.start)
		case r.size-p.Offset-p.Bytes > 4<<20:
			return fmt.Sprintf("the data partition leaves %d bytes of the card unused", r.size-p.Offset-p.Bytes)
		default:
			return ""
		}
	}
	return "there is no data partition"
}
