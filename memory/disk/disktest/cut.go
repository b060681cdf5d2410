package disktest

import (
	"os"

	"homeagent/memory/disk"
)

// Cut is the real file system of a machine that loses its power at the n-th
// step: opening, writing, syncing, renaming, syncing a folder. The write that it
// hits is torn in the middle, and nothing happens any more after it. It is for
// programs that also touch files by other ways than a disk.FS; Disk models what
// is durable and is stricter.
type Cut struct {
	disk.OS
	// Left is how many steps are left; below zero the power is gone.
	Left int
	// Err is what every step fails with then.
	Err error
}

var _ disk.FS = (*Cut)(nil)

func (c *Cut) step() error {
	if c.Left--; c.Left < 0 {
		return c.Err
	}
	return nil
}

// OpenFile is os.OpenFile, one step.
func (c *Cut) OpenFile(path string, flag int, perm os.FileMode) (disk.File, error) {
	if err := c.step(); err != nil {
		return nil, err
	}
	f, err := c.OS.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return cutFile{f, c}, nil
}

// Rename is os.Rename, one step.
func (c *Cut) Rename(from, to string) error {
	if err := c.step(); err != nil {
		return err
	}
	return c.OS.Rename(from, to)
}

// Remove is os.Remove; it is no step of its own, because it only tidies up.
func (c *Cut) Remove(path string) error {
	if c.Left < 0 {
		return c.Err
	}
	return c.OS.Remove(path)
}

// SyncDir syncs the folder, one step.
func (c *Cut) SyncDir(path string) error {
	if err := c.step(); err != nil {
		return err
	}
	return c.OS.SyncDir(path)
}

type cutFile struct {
	disk.File
	cut *Cut
}

func (f cutFile) Write(p []byte) (int, error) {
	if err := f.cut.step(); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f cutFile) Sync() error {
	if err := f.cut.step(); err != nil {
		return err
	}
	return f.File.Sync()
}
