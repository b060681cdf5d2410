package disk

import (
	"errors"
	"io"
	"os"
)

// Own puts a copy that may be written in the place of a file that may only be
// read, as one that was copied in by another user. A crash leaves the one or the
// other. The errors are those of the operating system; the folder must be
// writable.
func Own(path string) error {
	return Create(path, func(tmp string) (err error) {
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		return errors.Join(err, out.Close())
	})
}
