package remount

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Writable makes the file system of the folder writable, with the options that
// the mount point has otherwise; restore makes it read-only again. A folder that
// is writable already stays as it is, and so does one that is no mount point of
// its own but lies in a writable file system.
func Writable(dir string) (restore func() error, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return nil, fmt.Errorf("remount %s: %w", dir, err)
	}
	if st.Flags&unix.ST_RDONLY == 0 {
		return func() error { return nil }, nil
	}
	flags := uintptr(unix.MS_REMOUNT) // a remount sets all flags anew
	for st1, ms := range map[int64]uintptr{
		unix.ST_NOSUID: unix.MS_NOSUID, unix.ST_NODEV: unix.MS_NODEV, unix.ST_NOEXEC: unix.MS_NOEXEC,
		unix.ST_NOATIME: unix.MS_NOATIME, unix.ST_RELATIME: unix.MS_RELATIME, unix.ST_SYNCHRONOUS: unix.MS_SYNCHRONOUS,
	} {
		if int64(st.Flags)&st1 != 0 {
			flags |= ms
		}
	}
	if err := unix.Mount("", dir, "", flags, ""); err != nil {
		return nil, fmt.Errorf("remount %s: %w", dir, err)
	}
	return func() error {
		if err := unix.Mount("", dir, "", flags|unix.MS_RDONLY, ""); err != nil {
			return fmt.Errorf("remount %s read-only: %w", dir, err)
		}
		return nil
	}, nil
}
