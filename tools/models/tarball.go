package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// errMismatch is wrapped by every error that means "these are not the bytes
// the lock file was written for".
var errMismatch = errors.New("not the file of the lock")

// maxUnpacked bounds what a tarball may grow to while it is read.
const maxUnpacked = 2 << 30

// Verify checks a whole tarball against the package's integrity.
func Verify(p Package, tarball string) error {
	want, err := p.sum()
	if err != nil {
		return err
	}
	f, err := os.Open(tarball)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha512.New()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(tarball), err)
	}
	if !bytes.Equal(h.Sum(nil), want) {
		return fmt.Errorf("%s: %w: the tarball's sha512 differs", p.Spec(), errMismatch)
	}
	return nil
}

// Unpack writes files of a verified tarball into the store. Entries that are
// not asked for are passed over; one whose name leaves the package, or a wanted
// one that is no regular file, is an error, since npm makes no such tarball.
func Unpack(s *Store, p Package, files []File, tarball string) error {
	if err := Verify(p, tarball); err != nil {
		return err
	}
	f, err := os.Open(tarball)
	if err != nil {
		return err
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Spec(), err)
	}
	left := map[string][]File{}
	for _, w := range files {
		left[w.Path] = append(left[w.Path], w)
	}
	tr := tar.NewReader(io.LimitReader(zr, maxUnpacked))
	for len(left) > 0 {
		h, err := tr.Next()
		if err == io.EOF {
			return fmt.Errorf("%s: the tarball has no %s", p.Spec(), anyKey(left))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Spec(), err)
		}
		if !filepath.IsLocal(h.Name) || !strings.HasPrefix(filepath.Clean(h.Name), "package") {
			return fmt.Errorf("%s: the tarball names %q, outside the package", p.Spec(), h.Name)
		}
		want, ok := left[h.Name]
		if !ok {
			continue
		}
		delete(left, h.Name)
		if h.Typeflag != tar.TypeReg {
			return fmt.Errorf("%s: %s is not a regular file", p.Spec(), h.Name)
		}
		if err := putAll(s, want, tr); err != nil {
			return fmt.Errorf("%s: %w", p.Spec(), err)
		}
	}
	return nil
}

// putAll stores one entry under each of its targets. One target is streamed;
// only an entry with several is held in memory.
func putAll(s *Store, want []File, r io.Reader) error {
	if len(want) == 1 {
		return s.Put(want[0], r)
	}
	data, err := io.ReadAll(io.LimitReader(r, want[0].Size+1))
	if err != nil {
		return err
	}
	for _, f := range want {
		if err := s.Put(f, bytes.NewReader(data)); err != nil {
			return err
		}
	}
	return nil
}

func anyKey(m map[string][]File) string {
	least := ""
	for k := range m {
		if least == "" || k < least {
			least = k
		}
	}
	return least
}
