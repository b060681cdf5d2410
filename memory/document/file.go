package document

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"homeagent/memory/disk"
)

// FS is a file system with folders. All that must survive goes through it.
type FS interface {
	disk.FS
	disk.Lister
	MkdirAll(path string, perm os.FileMode) error
	// Lstat is os.Lstat.
	Lstat(path string) (fs.FileInfo, error)
}

// OS is the machine's own file system.
type OS struct{ disk.OS }

var _ FS = OS{}

// MkdirAll is os.MkdirAll.
func (OS) MkdirAll(path string, perm os.FileMode) error { return os.MkdirAll(path, perm) }

// Lstat is os.Lstat.
func (OS) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

const (
	// shards is the number of folders.
	shards = 256
	// ending is that of a document's file.
	ending = ".json"
	// maxFile is the largest file that is read, in bytes: MaxText of the worst
	// text, each byte of which takes six in JSON.
	maxFile = 6*MaxText + 1<<20
)

func shardOf(id string) int {
	h := fnv.New32a()
	io.WriteString(h, id) // a hash takes everything
	return int(h.Sum32() % shards)
}

func (s *Store) shardDir(shard int) string { return filepath.Join(s.dir, fmt.Sprintf("%02x", shard)) }

func (s *Store) file(id string) string { return filepath.Join(s.shardDir(shardOf(id)), id+ending) }

// idOf is the document's id in the name of a file, "" if it is none's.
func idOf(name string) string {
	id, ok := strings.CutSuffix(name, ending)
	if !ok || checkID(id) != nil {
		return ""
	}
	return id
}

// load reads and decodes a file. Errors wrap ErrNotFound, ErrDamaged, ErrNewer
// or what the system said.
func (s *Store) load(id string) (Document, fs.FileInfo, error) {
	path := s.file(id)
	info, err := s.fs.Lstat(path)
	if missing(err) {
		return Document{}, nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	if err != nil {
		return Document{}, nil, err
	}
	if !info.Mode().IsRegular() {
		return Document{}, nil, fmt.Errorf("%w: it is no file", ErrDamaged)
	}
	if info.Size() > maxFile {
		return Document{}, nil, fmt.Errorf("%w: %d bytes, at most %d", ErrDamaged, info.Size(), int64(maxFile))
	}
	f, err := s.fs.OpenFile(path, os.O_RDONLY, 0)
	if missing(err) {
		return Document{}, nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	if err != nil {
		return Document{}, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	f.Close()
	if err != nil {
		return Document{}, nil, err
	}
	d, err := Decode(data)
	if err == nil && d.ID != id {
		err = fmt.Errorf("%w: it says it is %q", ErrDamaged, d.ID)
	}
	return d, info, err
}

func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func bad(err error) bool { return errors.Is(err, ErrDamaged) || errors.Is(err, ErrNewer) }

// store writes a file; it is durable when store returns nil.
func (s *Store) store(d Document) (fs.FileInfo, error) {
	data, err := Encode(d)
	if err != nil {
		return nil, err
	}
	shard := shardOf(d.ID)
	if err := s.makeShard(shard); err != nil {
		return nil, fmt.Errorf("write document %s: %w", d.ID, err)
	}
	path := s.file(d.ID)
	s.syncs.Add(2)
	if err := disk.WriteFileFS(s.fs, path, data, 0o600); err != nil {
		return nil, err
	}
	return s.fs.Lstat(path)
}

// makeShard makes a folder and its name durable. The caller holds mu.
func (s *Store) makeShard(shard int) error {
	if s.made[shard] {
		return nil
	}
	dir := s.shardDir(shard)
	if _, err := s.fs.Lstat(dir); missing(err) {
		if err := s.fs.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		s.syncs.Add(1)
		if err := s.fs.SyncDir(s.dir); err != nil {
			return err
		}
	}
	s.made[shard] = true
	return nil
}

// setAside renames a bad file and tells of it. The caller holds mu.
func (s *Store) setAside(id string, cause error) error {
	path := s.file(id)
	aside, err := s.freeName(path)
	if err == nil {
		err = s.fs.Rename(path, aside)
	}
	if err == nil {
		err = s.fs.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("set %s aside: %w", path, err)
	}
	s.opts.Notify(Notice{Path: path, Aside: aside, Err: cause})
	return nil
}

// freeName is a name for a bad file that no other has.
func (s *Store) freeName(path string) (string, error) {
	stamp := s.opts.Now().UTC().Format("20060102T150405")
	for i := 1; ; i++ {
		to := path + ".bad-" + stamp
		if i > 1 {
			to = fmt.Sprintf("%s-%d", to, i)
		}
		if _, err := s.fs.Lstat(to); err != nil {
			if missing(err) {
				return to, nil
			}
			return "", err
		}
	}
}

// Notice says that a file was set aside.
type Notice struct {
	// Path is the file, Aside where its content lies now, "" where nothing of
	// it was worth keeping.
	Path, Aside string
	// Index is set where it was the index, which has been made anew.
	Index bool
	// Err says what was wrong; it wraps ErrDamaged or ErrNewer for a document,
	// an error of package sqlfile for the index.
	Err error
}

// stamp is a file's time in the index.
func stamp(t time.Time) int64 { return t.UnixNano() }
