package sqlfile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// checkWhole is the size up to which a file is read whole when it is opened,
// in bytes; a MiB takes some milliseconds. A larger file is read whole only
// after damage was met in it: then a mark lies beside it.
const checkWhole = 4 << 20

// magic begins every SQLite file, which is never shorter than minFile.
const (
	magic   = "SQLite format 3\x00"
	minFile = 512
)

// header looks at the first bytes before SQLite does, which takes a file of
// nothing, or of one byte, for a new one: nobody would hear of the loss. A file
// shorter than it says it is was truncated. What cannot be read is left to the
// opening proper, which says why.
func header(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, minFile)
	n, err := io.ReadFull(f, b)
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the file is empty", ErrDamaged)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: only %d bytes are there", ErrDamaged, n)
	case err != nil:
		return nil
	case string(b[:len(magic)]) != magic:
		return fmt.Errorf("%w: not a database", ErrDamaged)
	}
	// File format, https://www.sqlite.org/fileformat2.html: page size at 16
	// (1 is 65536), pages at 28, which count if the counters at 24 and 92 agree.
	page, pages := int64(binary.BigEndian.Uint16(b[16:])), int64(binary.BigEndian.Uint32(b[28:]))
	if page == 1 {
		page = 65536
	}
	info, err := f.Stat()
	if err == nil && binary.BigEndian.Uint32(b[24:]) == binary.BigEndian.Uint32(b[92:]) && info.Size() < page*pages {
		return fmt.Errorf("%w: %d bytes of %d are there", ErrDamaged, info.Size(), page*pages)
	}
	return nil
}

// mark is the file that asks for a whole check at the next open.
func (f *File) mark() string { return f.path + ".check" }

// check reads the file whole where it is small or was marked.
func (f *File) check(ctx context.Context, upTo int64) error {
	info, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	_, merr := os.Stat(f.mark())
	if info.Size() > upTo && merr != nil {
		return nil
	}
	var answer string
	if err := f.Write.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&answer); err != nil {
		return err
	}
	if merr == nil {
		// Sound, or about to be set aside: either way the question is answered.
		os.Remove(f.mark())
	}
	if answer != "ok" {
		return fmt.Errorf("%w: %s", ErrDamaged, answer)
	}
	return nil
}

// Plain is the function Plain; damage met while running leaves a mark, so that
// the next Open looks at the whole file.
func (f *File) Plain(err error) error {
	err = Plain(err)
	if errors.Is(err, ErrDamaged) {
		// Without the mark, as on a full disk, the damage is met and said again.
		if m, merr := os.OpenFile(f.mark(), os.O_WRONLY|os.O_CREATE, 0o600); merr == nil {
			m.Close()
		}
	}
	return err
}
