package disktest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"homeagent/memory/disk"
)

// Fault is what happens at the chosen call.
type Fault int

const (
	// Fail: the call returns EIO without effect; later calls work.
	Fail Fault = iota
	// Full: this and every later write returns ENOSPC, having written half;
	// other calls work.
	Full
	// Stop: this and every later call returns ErrStopped without effect, as
	// if the power had gone just before it.
	Stop
	// Tear: the call does half of its work (a write its first half; any other
	// call all of it) and then the power goes.
	Tear
)

// Faults lists all faults.
var Faults = []Fault{Fail, Full, Stop, Tear}

func (f Fault) String() string { return [...]string{"fail", "full", "stop", "tear"}[f] }

// ErrStopped is returned once the power has gone.
var ErrStopped = errors.New("the power is gone")

// Keep is what a power cut leaves of the things that were not yet durable.
type Keep int

const (
	// Synced keeps only what was synced.
	Synced Keep = iota
	// Half keeps the names, and of each file the unsynced growth by half.
	Half
	// All keeps everything written.
	All
)

// Keeps lists all outcomes of a power cut.
var Keeps = []Keep{Synced, Half, All}

func (k Keep) String() string { return [...]string{"synced", "half", "all"}[k] }

type inode struct{ live, durable []byte }

// Disk implements disk.FS. It is safe for concurrent use.
type Disk struct {
	mu      sync.Mutex
	names   map[string]*inode // as seen by the program
	durable map[string]*inode // as found after a power cut
	calls   int
	at      int // 0: no fault
	fault   Fault
	off     bool
}

var (
	_ disk.FS     = (*Disk)(nil)
	_ disk.Lister = (*Disk)(nil)
)

// New is an empty disk without a fault.
func New() *Disk {
	return &Disk{names: map[string]*inode{}, durable: map[string]*inode{}}
}

// FaultAt arms a fault at the n-th counted call from now, the first being 1.
// Counted are those that change something: opening with O_CREATE or O_TRUNC,
// Write, Truncate, Sync, Rename, Remove, SyncDir.
func (d *Disk) FaultAt(n int, f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls, d.at, d.fault = 0, n, f
}

// Calls is the number of counted calls since New or FaultAt.
func (d *Disk) Calls() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls
}

// Reboot returns the disk as it is found after a power cut at this moment,
// without a fault. The old one is not changed.
func (d *Disk) Reboot(keep Keep) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := New()
	from := d.durable
	if keep != Synced {
		from = d.names
	}
	for name, in := range from {
		data := in.durable
		switch keep {
		case All:
			data = in.live
		case Half:
			data = half(in)
		}
		fresh := &inode{slices.Clone(data), slices.Clone(data)}
		n.names[name], n.durable[name] = fresh, fresh
	}
	return n
}

// half is a file between its durable and its live state.
func half(in *inode) []byte {
	if len(in.live) <= len(in.durable) {
		return in.live
	}
	n := len(in.durable) + (len(in.live)-len(in.durable))/2
	return in.live[:n]
}

// Names lists the files, sorted.
func (d *Disk) Names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.names))
}

// List returns the names of one folder's files, sorted.
func (d *Disk) List(dir string) ([]string, error) {
	var names []string
	for _, path := range d.Names() {
		if filepath.Dir(path) == filepath.Clean(dir) {
			names = append(names, filepath.Base(path))
		}
	}
	return names, nil
}

// ReadFile returns a file's content as the program sees it.
func (d *Disk) ReadFile(path string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	in := d.names[path]
	if in == nil {
		return nil, fmt.Errorf("read %s: %w", path, fs.ErrNotExist)
	}
	return slices.Clone(in.live), nil
}

// step counts a call. half asks the caller to do half of its work and to
// return err; a plain err asks for no work at all. The caller holds mu.
func (d *Disk) step(write bool) (half bool, err error) {
	if d.off {
		return false, ErrStopped
	}
	d.calls++
	switch {
	case d.at == 0 || d.calls < d.at:
		return false, nil
	case d.fault == Full:
		if write {
			return true, syscall.ENOSPC
		}
		return false, nil
	case d.calls > d.at:
		return false, nil
	case d.fault == Fail:
		return false, syscall.EIO
	case d.fault == Stop:
		d.off = true
		return false, ErrStopped
	default:
		d.off = true
		return true, ErrStopped
	}
}

// change runs one counted call that cannot be done by half.
func (d *Disk) change(work func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	half, err := d.step(false)
	if err != nil && !half {
		return err
	}
	if werr := work(); werr != nil {
		return werr
	}
	return err
}

// OpenFile knows O_RDONLY, O_WRONLY, O_RDWR, O_CREATE, O_TRUNC and O_APPEND.
func (d *Disk) OpenFile(path string, flag int, _ os.FileMode) (disk.File, error) {
	var f *file
	open := func() error {
		in := d.names[path]
		if in == nil {
			if flag&os.O_CREATE == 0 {
				return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
			}
			in = &inode{}
			d.names[path] = in
		}
		if flag&os.O_TRUNC != 0 {
			in.live = nil
		}
		f = &file{d: d, in: in, append: flag&os.O_APPEND != 0}
		return nil
	}
	var err error
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		err = d.change(open)
	} else {
		d.mu.Lock()
		if err = open(); d.off {
			err = ErrStopped
		}
		d.mu.Unlock()
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Rename is durable after SyncDir.
func (d *Disk) Rename(from, to string) error {
	return d.change(func() error {
		in := d.names[from]
		if in == nil {
			return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
		}
		delete(d.names, from)
		d.names[to] = in
		return nil
	})
}

// Remove is durable after SyncDir.
func (d *Disk) Remove(path string) error {
	return d.change(func() error {
		if d.names[path] == nil {
			return &fs.PathError{Op: "remove", Path: path, Err: fs.ErrNotExist}
		}
		delete(d.names, path)
		return nil
	})
}

// SyncDir makes the names in one folder durable.
func (d *Disk) SyncDir(dir string) error {
	return d.change(func() error {
		maps.DeleteFunc(d.durable, func(name string, _ *inode) bool { return filepath.Dir(name) == filepath.Clean(dir) })
		for name, in := range d.names {
			if filepath.Dir(name) == filepath.Clean(dir) {
				d.durable[name] = in
			}
		}
		return nil
	})
}

type file struct {
	d      *Disk
	in     *inode
	at     int64
	append bool
}

func (f *file) Read(p []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.d.off {
		return 0, ErrStopped
	}
	if f.at >= int64(len(f.in.live)) {
		return 0, io.EOF
	}
	n := copy(p, f.in.live[f.at:])
	f.at += int64(n)
	return n, nil
}

func (f *file) Write(p []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	half, err := f.d.step(true)
	if err != nil {
		if !half {
			return 0, err
		}
		p = p[:len(p)/2]
	}
	if f.append {
		f.at = int64(len(f.in.live))
	}
	end := f.at + int64(len(p))
	// A durable slice may share memory with the live one, so never write in place.
	live := make([]byte, max(end, int64(len(f.in.live))))
	copy(live, f.in.live)
	copy(live[f.at:], p)
	f.in.live, f.at = live, end
	return len(p), err
}

func (f *file) Seek(offset int64, whence int) (int64, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += int64(len(f.in.live))
	}
	if offset < 0 {
		return 0, syscall.EINVAL
	}
	f.at = offset
	return offset, nil
}

func (f *file) Truncate(size int64) error {
	return f.d.change(func() error {
		live := make([]byte, size)
		copy(live, f.in.live)
		f.in.live = live
		return nil
	})
}

func (f *file) Sync() error {
	return f.d.change(func() error {
		f.in.durable = f.in.live
		return nil
	})
}

func (f *file) Close() error { return nil }
