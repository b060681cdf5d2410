package sparse

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Copy writes n bytes of in from an offset to the beginning of out, which is
// empty, and makes out n bytes long. What is a hole in the one is a hole in the
// other. It reads without moving what others read from in.
func Copy(out, in *os.File, offset, n int64) error {
	if err := out.Truncate(n); err != nil {
		return err
	}
	end := offset + n
	for at := offset; at < end; {
		data, err := unix.Seek(int(in.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) || err == nil && data >= end {
			return nil // only a hole is left
		}
		if err != nil {
			return fmt.Errorf("find data: %w", err)
		}
		hole, err := unix.Seek(int(in.Fd()), data, unix.SEEK_HOLE)
		if err != nil {
			return fmt.Errorf("find a hole: %w", err)
		}
		at = min(hole, end)
		if _, err := io.Copy(io.NewOffsetWriter(out, data-offset), io.NewSectionReader(in, data, at-data)); err != nil {
			return err
		}
	}
	return nil
}
