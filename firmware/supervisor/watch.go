package supervisor

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// watch tells when an entry of a folder comes, goes or is replaced, until ctx
// ends. Several changes may be told as one. With an error the channel is nil.
func watch(ctx context.Context, dir, name string) (<-chan struct{}, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	f := os.NewFile(uintptr(fd), "inotify") // non-blocking: Close ends a Read
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_MOVED_FROM|unix.IN_DELETE|unix.IN_ONLYDIR); err != nil {
		f.Close()
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	changed := make(chan struct{}, 1)
	stop := context.AfterFunc(ctx, func() { f.Close() })
	go func() {
		defer stop()
		defer f.Close()
		buf := make([]byte, 8<<10)
		for {
			n, err := f.Read(buf)
			if err != nil {
				return
			}
			if names(buf[:n], name) {
				select {
				case changed <- struct{}{}:
				default: // it is to be told anyway
				}
			}
		}
	}()
	return changed, nil
}

// names tells whether one of the kernel's events is about the name, or says
// that events were lost.
func names(buf []byte, name string) bool {
	for len(buf) >= unix.SizeofInotifyEvent {
		mask := binary.NativeEndian.Uint32(buf[4:])
		size := int(binary.NativeEndian.Uint32(buf[12:]))
		if size > len(buf)-unix.SizeofInotifyEvent {
			return true
		}
		if mask&unix.IN_Q_OVERFLOW != 0 ||
			strings.TrimRight(string(buf[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+size]), "\x00") == name {
			return true
		}
		buf = buf[unix.SizeofInotifyEvent+size:]
	}
	return false
}
