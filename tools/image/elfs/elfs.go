package elfs

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// Dirs are the loader's own folders, as paths in a tree with a merged /usr.
func Dirs() []string { return []string{"usr/lib/aarch64-linux-gnu", "usr/lib"} }

// Object is what one ELF file asks of the loader.
type Object struct {
	Needed []string // sonames
	Search []string // RUNPATH, as paths in the tree
	Interp string   // the loader, as a path in the tree; empty for a library
}

// ErrNotELF is returned for files of another kind.
var ErrNotELF = errors.New("not an ELF file")

// ErrMachine is returned for a program of another machine type.
var ErrMachine = errors.New("not for arm64")

// Read reads one file that lies at name in the tree.
func Read(name string, r io.ReaderAt) (Object, error) {
	magic := make([]byte, 4)
	if n, err := r.ReadAt(magic, 0); n < 4 || !bytes.Equal(magic, []byte(elf.ELFMAG)) {
		if err != nil && !errors.Is(err, io.EOF) {
			return Object{}, err
		}
		return Object{}, ErrNotELF
	}
	f, err := elf.NewFile(r)
	if err != nil {
		return Object{}, fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	if f.Machine != elf.EM_AARCH64 {
		return Object{}, fmt.Errorf("%s: %w but for %s", name, ErrMachine, f.Machine)
	}
	if f.Type == elf.ET_REL {
		return Object{}, ErrNotELF // a kernel module asks nothing of the loader
	}
	var o Object
	if o.Needed, err = f.ImportedLibraries(); err != nil {
		return Object{}, fmt.Errorf("%s: %w", name, err)
	}
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		paths, err := f.DynString(tag)
		if err != nil {
			continue // a static program has no such table
		}
		for _, p := range paths {
			for dir := range strings.SplitSeq(p, ":") {
				dir = strings.ReplaceAll(dir, "$ORIGIN", "/"+path.Dir(name))
				o.Search = append(o.Search, strings.TrimPrefix(path.Clean(dir), "/"))
			}
		}
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		b, err := io.ReadAll(io.LimitReader(p.Open(), 4096))
		if err != nil {
			return Object{}, fmt.Errorf("%s: %w", name, err)
		}
		o.Interp = strings.Trim(string(b), "\x00/")
	}
	return o, nil
}

// Missing is a library that nothing in the tree provides.
type Missing struct {
	Name string // soname, or the loader's path
	By   string // the file that needs it
	Dirs []string
}

func (m Missing) String() string { return fmt.Sprintf("%s needs %s", m.By, m.Name) }

// Closure returns what is missing, sorted. has tells whether the tree has a
// file of that path.
func Closure(objects map[string]Object, has func(name string) bool) []Missing {
	var out []Missing
	for by, o := range objects {
		dirs := slices.Concat(o.Search, Dirs())
		for _, soname := range o.Needed {
			if !slices.ContainsFunc(dirs, func(d string) bool { return has(path.Join(d, soname)) }) {
				out = append(out, Missing{soname, by, dirs})
			}
		}
		if o.Interp != "" && !has(o.Interp) {
			out = append(out, Missing{o.Interp, by, []string{""}})
		}
	}
	slices.SortFunc(out, func(a, b Missing) int { return strings.Compare(a.Name+" "+a.By, b.Name+" "+b.By) })
	return out
}
