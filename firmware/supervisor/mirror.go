package supervisor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/remount"
	"homeagent/memory/disk"
)

// Remounter lets a folder be written for a moment that is read-only otherwise.
type Remounter interface {
	// Writable makes the file system of the folder writable; restore makes it
	// read-only again if it was.
	Writable(dir string) (restore func() error, err error)
}

// Mounted is the Remounter of real mount points.
type Mounted struct{}

var _ Remounter = Mounted{}

// Writable remounts the folder, see package remount.
func (Mounted) Writable(dir string) (func() error, error) { return remount.Writable(dir) }

// mirror keeps a copy of the setup code where people can read it by putting
// the card into another computer, as long as the box is unclaimed.
type mirror struct {
	from, to string // folders
	mounts   Remounter
	log      *slog.Logger
}

// mirrorRetry is when a failed copy is tried again, and the pace where the
// kernel tells of no changes.
const mirrorRetry = time.Minute

// run copies at each change until ctx ends. It sleeps in between.
func (m mirror) run(ctx context.Context) {
	changed, err := watch(ctx, m.from, setupFile)
	if err != nil {
		m.log.Warn("changes of the data folder are not told; the setup code is looked for once a minute", "err", err)
	}
	told := ""
	for ctx.Err() == nil {
		var again <-chan time.Time
		syncErr := m.sync()
		if syncErr != nil || err != nil {
			again = time.After(mirrorRetry)
		}
		if syncErr != nil && syncErr.Error() != told {
			told = syncErr.Error()
			m.log.Warn("the setup code cannot be copied to the card's setup partition", "err", syncErr)
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-again:
		}
	}
}

// setupText is what the door writes; nothing else is carried to where other
// computers read it.
var setupText = regexp.MustCompile(`^[0-9A-Z-]{4,32}\r?\n?$`)

const maxSetupText = 64

// sync makes the copy equal to the original, or removes it where there is no original.
func (m mirror) sync() error {
	want, err := readSmall(filepath.Join(m.from, setupFile))
	if err != nil {
		return err
	}
	if want != nil && !setupText.Match(want) {
		return errors.New("setup-code.txt holds no code")
	}
	to := filepath.Join(m.to, setupFile)
	have, err := readSmall(to)
	if err == nil && bytes.Equal(want, have) && (want == nil) == (have == nil) {
		return nil
	}
	restore, err := m.mounts.Writable(m.to)
	if err != nil {
		return err
	}
	if want == nil {
		if err = os.Remove(to); err == nil || errors.Is(err, os.ErrNotExist) {
			err = disk.OS{}.SyncDir(m.to)
		}
	} else {
		err = writeOwn(to, want)
	}
	return errors.Join(err, restore())
}

// readSmall reads a small regular file, nil if there is none.
func readSmall(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSetupText+1))
	if text == nil {
		text = []byte{}
	}
	return text, err
}
