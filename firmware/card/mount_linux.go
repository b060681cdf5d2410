package card

import (
	"errors"

	"homeagent/firmware/remount"
)

// Remounted is an Options.Writable for a boot partition that is mounted
// read-only at dir: it is writable only while write runs.
func Remounted(dir string) func(write func() error) error {
	return func(write func() error) error {
		restore, err := remount.Writable(dir)
		if err != nil {
			return err
		}
		return errors.Join(write(), restore())
	}
}
