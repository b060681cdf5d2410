package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// partSuffix marks a file that is being written. Such a file is never used;
// the next run overwrites it.
const partSuffix = ".part"

// Store is the models folder. All names are resolved inside it, symbolic links
// included, so that neither lock file nor tarball can write elsewhere.
type Store struct {
	dir  string
	root *os.Root
	lock *os.File
}

// OpenStore opens the folder, making it if need be, and locks it against
// another run of this program.
func OpenStore(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("models folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("models folder: %w", err)
	}
	lock, err := root.OpenFile(".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("models folder %s is not writable: %w", dir, err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		root.Close()
		return nil, fmt.Errorf("models folder %s is in use by another run: %w", dir, err)
	}
	return &Store{dir: dir, root: root, lock: lock}, nil
}

// Close unlocks the folder.
func (s *Store) Close() error {
	return errors.Join(s.lock.Close(), s.root.Close())
}

// Missing lists those of files that are absent from the folder or differ.
func Missing(dir string, files []File) ([]File, error) {
	var out []File
	for _, f := range files {
		ok, err := same(dir, f)
		if err != nil {
			return nil, err
		}
		if !ok {
			out = append(out, f)
		}
	}
	return out, nil
}

func same(dir string, f File) (bool, error) {
	r, err := os.Open(dir + "/" + f.Target)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer r.Close()
	if st, err := r.Stat(); err != nil || !st.Mode().IsRegular() {
		return false, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return false, fmt.Errorf("read %s: %w", f.Target, err)
	}
	return hex.EncodeToString(h.Sum(nil)) == f.want(), nil
}

// Put writes one file of a package: r gives its bytes as in the tarball.
// Whatever goes wrong, the old file stays and no half-written one gets its name.
func (s *Store) Put(f File, r io.Reader) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", f.Path, err)
		}
	}()
	if dir := path.Dir(f.Target); dir != "." {
		if err := s.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	part := f.Target + partSuffix
	w, err := s.root.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.root.Remove(part) // best effort: the next run truncates it
		}
	}()
	err = fill(w, f, r)
	if err == nil {
		err = w.Sync()
	}
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err = s.root.Rename(part, f.Target); err != nil {
		return err
	}
	return s.syncDir(path.Dir(f.Target))
}

// fill copies or derives the target's bytes into w and checks the hashes.
func fill(w io.Writer, f File, r io.Reader) error {
	h := sha256.New()
	var derived bytes.Buffer
	sink := w
	if f.Derive != "" {
		sink = &derived
	}
	n, err := io.Copy(io.MultiWriter(sink, h), io.LimitReader(r, f.Size+1))
	if err != nil {
		return err
	}
	if n != f.Size {
		return fmt.Errorf("%w: its size is not the %d bytes of the lock file", errMismatch, f.Size)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != f.SHA256 {
		return fmt.Errorf("%w: sha256 is %s, the lock file says %s", errMismatch, got, f.SHA256)
	}
	if f.Derive == "" {
		return nil
	}
	out, err := derivations()[f.Derive](derived.Bytes())
	if err != nil {
		return fmt.Errorf("derive %s: %w", f.Target, err)
	}
	sum := sha256.Sum256(out)
	if got := hex.EncodeToString(sum[:]); got != f.TargetSHA256 {
		return fmt.Errorf("%w: derived %s has sha256 %s, the lock file says %s", errMismatch, f.Target, got, f.TargetSHA256)
	}
	_, err = w.Write(out)
	return err
}

func (s *Store) syncDir(name string) error {
	d, err := s.root.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}
