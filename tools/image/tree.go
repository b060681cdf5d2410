package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"homeagent/tools/image/elfs"
)

// node is one file of the root: a link, given bytes, or a file of this machine.
type node struct {
	by   string // who brought it
	from string // file to copy
	data []byte
	link string
	mode fs.FileMode
}

// tree is the root file system before it is a folder: paths to files. Folders
// are made for what is in them.
type tree map[string]node

// TwiceError says that two sources bring a file of the same name.
type TwiceError struct{ Name, First, Second string }

// Error names the file and both.
func (e *TwiceError) Error() string {
	return fmt.Sprintf("%s comes twice, from %s and from %s", e.Name, e.First, e.Second)
}

// add puts a file in. The same name twice is an error.
func (t tree) add(name string, n node) error {
	name = canonical(name)
	if was, there := t[name]; there {
		return &TwiceError{name, was.by, n.by}
	}
	t[name] = n
	return nil
}

// addFile puts a file of this machine in, a link as a link. Modes are made
// plain: what somebody's umask was does not matter.
func (t tree) addFile(name, from, by string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return fmt.Errorf("%s: %w", by, err)
	}
	n := node{by: by, from: from, mode: 0o644}
	if info.Mode()&0o111 != 0 {
		n.mode = 0o755
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(from)
		if err != nil {
			return fmt.Errorf("%s: %w", by, err)
		}
		n = node{by: by, link: to}
	} else if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %s is no file", by, from)
	}
	return t.add(name, n)
}

// addFolder puts all files below dir in, under the name to.
func (t tree) addFolder(to, dir, by string) error {
	files, err := listFiles(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := t.addFile(path.Join(to, f), filepath.Join(dir, f), by); err != nil {
			return err
		}
	}
	return nil
}

// listFiles returns the paths of all that is no folder below dir, sorted.
func listFiles(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	return out, nil
}

// find follows links inside the tree; it returns the path of a file, or "".
func (t tree) find(name string) string {
	for range 16 {
		name = canonical(name)
		n, there := t[name]
		if !there {
			return ""
		}
		if n.link == "" {
			return name
		}
		if strings.HasPrefix(n.link, "/") {
			name = n.link
		} else {
			name = path.Join(path.Dir(name), n.link)
		}
	}
	return ""
}

// objects reads what the tree's ELF files need.
func (t tree) objects(skip map[string]elfs.Object) (map[string]elfs.Object, error) {
	out := map[string]elfs.Object{}
	for name, n := range t {
		if o, done := skip[name]; done {
			out[name] = o
			continue
		}
		if n.from == "" {
			continue
		}
		f, err := os.Open(n.from)
		if err != nil {
			return nil, err
		}
		o, err := elfs.Read(name, f)
		f.Close()
		if err == nil {
			out[name] = o
		} else if err != elfs.ErrNotELF {
			return nil, err
		}
	}
	return out, nil
}

// libraries are files that may be taken when something needs them: the path in
// the root to the file.
type libraries map[string]node

// complete takes the libraries that are needed, until none is missing.
func (t tree) complete(libs libraries) error {
	done := map[string]elfs.Object{}
	for {
		objects, err := t.objects(done)
		if err != nil {
			return err
		}
		done = objects
		missing := elfs.Closure(objects, func(name string) bool { return t.find(name) != "" })
		if len(missing) == 0 {
			return nil
		}
		before := len(t)
		for _, m := range missing {
			for _, dir := range m.Dirs {
				if libs.take(t, path.Join(dir, m.Name)) {
					break
				}
			}
		}
		if len(t) == before {
			return &IncompleteError{missing}
		}
	}
}

// take puts a library in with the links that lead to it; false where there is none.
func (l libraries) take(t tree, name string) bool {
	name = canonical(name)
	n, there := l[name]
	if !there {
		return false
	}
	t[name] = n
	if n.link != "" {
		return l.take(t, path.Join(path.Dir(name), n.link))
	}
	return true
}

// IncompleteError says that programs of the root need libraries that no
// pinned package has.
type IncompleteError struct{ Missing []elfs.Missing }

// Error lists them.
func (e *IncompleteError) Error() string {
	var b strings.Builder
	b.WriteString("shared libraries are missing; name their packages in tools/image/seeds.txt and run make image-lock:")
	for _, m := range e.Missing {
		b.WriteString("\n  " + m.String())
	}
	return b.String()
}

// write makes the tree a folder.
func (t tree) write(dir string) error {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		n, to := t[name], filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return fmt.Errorf("write the root: %w", err)
		}
		var err error
		switch {
		case n.link != "":
			err = os.Symlink(n.link, to)
		case n.from != "":
			err = copyFile(n.from, to, n.mode)
		default:
			if err = os.WriteFile(to, n.data, n.mode); err == nil {
				err = os.Chmod(to, n.mode)
			}
		}
		if err != nil {
			return fmt.Errorf("write the root: %w", err)
		}
	}
	return nil
}
