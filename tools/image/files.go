package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// writeFile writes beside the place and renames: a half-written file never
// bears the name.
func writeFile(name string, data []byte) error {
	tmp := name + ".new"
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(name), err)
	}
	if err := os.Rename(tmp, name); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(name), err)
	}
	return nil
}

// copyFile copies a file's content with the given mode.
func copyFile(from, to string, mode os.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	_, err = io.Copy(out, in)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(to, mode) // whatever the umask is
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", filepath.Base(from), err)
	}
	return nil
}

// key names a stage's result by everything that it is made from.
type key struct{ parts []string }

func (k *key) text(s ...string) { k.parts = append(k.parts, s...) }

// file adds a file's name, mode and content, a link's target, or a whole folder.
func (k *key) file(name string) error {
	return filepath.Walk(name, func(p string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(filepath.Dir(name), p)
		if err != nil {
			return err
		}
		k.text(rel, info.Mode().Type().String(), strconv.FormatBool(info.Mode()&0o100 != 0))
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			to, err := os.Readlink(p)
			k.text(to)
			return err
		case info.Mode().IsRegular():
			sum, err := hashFile(p)
			k.text(sum)
			return err
		}
		return nil
	})
}

// sum is the key as a short word.
func (k *key) sum() string {
	h := sha256.New()
	for _, p := range k.parts {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

func hashFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// staged returns the cache's folder of a stage with this key, made by fill
// where it is not there. It appears by a rename: a folder that is there is
// whole. Others of the same stage are removed but the newest few.
func (b *builder) staged(stage, sum string, fill func(dir string) error) (string, error) {
	parent := filepath.Join(b.cache, "image", stage)
	dir := filepath.Join(parent, sum)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	tmp, err := os.MkdirTemp(parent, "new-")
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	if err := fill(tmp); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, there := os.Stat(dir); there != nil {
			return "", fmt.Errorf("cache: %w", err)
		}
		// Another run was quicker; its result is the same.
	}
	return dir, prune(parent, sum)
}

// keepStages bounds how many results of one stage the cache keeps.
const keepStages = 4

func prune(parent, keep string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	type old struct {
		name string
		at   int64
	}
	var all []old
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() != keep {
			all = append(all, old{e.Name(), info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(all, func(a, b old) int { return int(min(1, max(-1, b.at-a.at))) })
	for i := keepStages - 1; i < len(all); i++ {
		if err := os.RemoveAll(filepath.Join(parent, all[i].name)); err != nil {
			return fmt.Errorf("cache: %w", err)
		}
	}
	return nil
}
