package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// File is the part of *os.File that the layer uses.
type File interface {
	io.Reader
	io.Writer
	io.Seeker
	io.Closer
	Sync() error
	Truncate(size int64) error
}

// FS is a file system. Paths are those of the operating system.
type FS interface {
	OpenFile(path string, flag int, perm os.FileMode) (File, error)
	Rename(from, to string) error
	Remove(path string) error
	// SyncDir makes the entries of a folder durable.
	SyncDir(path string) error
}

// Lister is an FS that can name the files of a folder.
type Lister interface {
	// List returns the names, without the folder, sorted.
	List(dir string) ([]string, error)
}

// OS is the machine's own file system.
type OS struct{}

var (
	_ FS     = OS{}
	_ Lister = OS{}
)

// List is os.ReadDir without folders.
func (OS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// OpenFile is os.OpenFile.
func (OS) OpenFile(path string, flag int, perm os.FileMode) (File, error) {
	return os.OpenFile(path, flag, perm)
}

// Rename is os.Rename.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove is os.Remove.
func (OS) Remove(path string) error { return os.Remove(path) }

// SyncDir opens the folder and syncs it.
func (OS) SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

// WriteFile replaces path with data so that a crash leaves the old or the new
// content: temporary file beside it, sync, rename, sync of the folder.
func WriteFile(path string, data []byte, perm os.FileMode) error {
	return WriteFileFS(OS{}, path, data, perm)
}

// WriteFileFS is WriteFile on another file system.
func WriteFileFS(fs FS, path string, data []byte, perm os.FileMode) (err error) {
	tmp := path + ".new"
	f, err := fs.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			fs.Remove(tmp) // best effort: the next write truncates it anyway
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err = fs.Rename(tmp, path); err != nil {
		return err
	}
	return fs.SyncDir(filepath.Dir(path))
}

// Create makes a file that is not there yet so that a crash leaves none or the
// whole one, for files that a database writes itself: write makes it under a
// temporary name beside its place and has closed it when it returns. companions
// are suffixes of further files that a write which was cut may have left. The
// errors are those of write and of the operating system, as they are.
func Create(path string, write func(tmp string) error, companions ...string) error {
	tmp := path + ".new"
	for _, suffix := range append(companions, "") {
		if err := os.Remove(tmp + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := write(tmp); err != nil {
		return err
	}
	f, err := os.OpenFile(tmp, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return OS{}.SyncDir(filepath.Dir(path))
}

// SetAside renames a damaged file to "<path>.bad-<time>" and returns the new
// name, so that nothing is lost and the house can start without it.
func SetAside(path string, now time.Time) (string, error) {
	to := fmt.Sprintf("%s.bad-%s", path, now.UTC().Format("20060102T150405"))
	for i := 2; ; i++ {
		if _, err := os.Lstat(to); os.IsNotExist(err) {
			break
		}
		to = fmt.Sprintf("%s.bad-%s-%d", path, now.UTC().Format("20060102T150405"), i)
	}
	if err := os.Rename(path, to); err != nil {
		return "", fmt.Errorf("set %s aside: %w", path, err)
	}
	return to, OS{}.SyncDir(filepath.Dir(path))
}
