package card

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Remounted is an Options.Writable for a boot partition that is mounted
// read-only at dir: it is writable only while write runs. A folder that is no
// mount point is taken as it is.
func Remounted(dir string) func(write func() error) error {
	return func(write func() error) (err error) {
		var s unix.Statfs_t
		if err := unix.Statfs(dir, &s); err != nil {
			return fmt.Errorf("look at %s: %w", dir, err)
		}
		if s.Flags&unix.ST_RDONLY == 0 {
			return write()
		}
		// What the mount says otherwise stays: a remount sets all flags anew.
		keep := uintptr(s.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME)
		if err := unix.Mount("", dir, "", unix.MS_REMOUNT|keep, ""); err != nil {
			return fmt.Errorf("make %s writable: %w", dir, err)
		}
		defer func() {
			if rerr := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY|keep, ""); rerr != nil && err == nil {
				err = fmt.Errorf("make %s read-only again: %w", dir, rerr)
			}
		}()
		return write()
	}
}
