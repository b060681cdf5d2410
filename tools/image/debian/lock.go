package debian

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// What a pinned file is for.
const (
	// ForRoot marks a package that the root file system or the boot
	// partitions take files from.
	ForRoot = "root"
	// ForSysroot marks a package that only the cross build links against.
	ForSysroot = "sysroot"
	// ForSource marks a file of a source package.
	ForSource = "source"
	// ForTarball marks the makers' tarball of a source package, which Buildroot
	// builds from; Debian's own image has no use for it.
	ForTarball = "tarball"
)

// Pin is one file of the archive.
type Pin struct {
	For     string // ForRoot, ForSysroot, ForSource or ForTarball
	Name    string // the package
	Version string // with its epoch
	Suite   string // where the resolver found it
	Path    string // below the mirror
	Size    int64
	SHA256  string // in hexadecimal
}

// File is the pin's name in a folder: the last part of its path.
func (p Pin) File() string { return path.Base(p.Path) }

func (p Pin) String() string {
	return fmt.Sprintf("%s %s %s %s %s %d %s", p.For, p.Name, p.Version, p.Suite, p.Path, p.Size, p.SHA256)
}

// Lock is the content of a lock file, sorted.
type Lock []Pin

const lockHead = `# What the image takes from Debian, one file a line: what for, package, version,
# suite, path below the mirror, size, SHA-256. Written by "make image-lock" from seeds.txt.
`

// LockError names a line of a lock file that cannot be used.
type LockError struct {
	Line   int
	Reason string
}

// Error says where and why.
func (e *LockError) Error() string { return fmt.Sprintf("lock file, line %d: %s", e.Line, e.Reason) }

// ParseLock reads a lock file. Lines must be complete, sorted and unique, so
// that a bad merge is found here and not in the image.
func ParseLock(b []byte) (Lock, error) {
	var l Lock
	sc := bufio.NewScanner(bytes.NewReader(b))
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		p, err := parsePin(line)
		if err != nil {
			return nil, &LockError{n, err.Error()}
		}
		if len(l) > 0 && order(l[len(l)-1], p) >= 0 {
			return nil, &LockError{n, p.Name + " is out of order or twice"}
		}
		l = append(l, p)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("lock file: %w", err)
	}
	return l, nil
}

func parsePin(line string) (Pin, error) {
	f := strings.Fields(line)
	if len(f) != 7 {
		return Pin{}, fmt.Errorf("%d words instead of 7", len(f))
	}
	size, err := strconv.ParseInt(f[5], 10, 64)
	if err != nil || size <= 0 {
		return Pin{}, fmt.Errorf("%q is no size", f[5])
	}
	p := Pin{For: f[0], Name: f[1], Version: f[2], Suite: f[3], Path: f[4], Size: size, SHA256: f[6]}
	switch p.For {
	case ForRoot, ForSysroot, ForSource, ForTarball:
	default:
		return Pin{}, fmt.Errorf("unknown purpose %q", p.For)
	}
	if sum, err := hex.DecodeString(p.SHA256); err != nil || len(sum) != 32 || strings.ToLower(p.SHA256) != p.SHA256 {
		return Pin{}, fmt.Errorf("%q is no SHA-256", p.SHA256)
	}
	if path.Clean(p.Path) != p.Path || !strings.HasPrefix(p.Path, "pool/") {
		return Pin{}, fmt.Errorf("%q is no path in the pool", p.Path)
	}
	return p, nil
}

func order(a, b Pin) int {
	return strings.Compare(a.For+" "+a.Name+" "+a.Path, b.For+" "+b.Name+" "+b.Path)
}

// Bytes is the lock file's text; ParseLock reads it back.
func (l Lock) Bytes() []byte {
	var b bytes.Buffer
	b.WriteString(lockHead)
	for _, p := range slices.SortedFunc(slices.Values(l), order) {
		fmt.Fprintln(&b, p)
	}
	return b.Bytes()
}

// Of returns the pins with one of the purposes.
func (l Lock) Of(purposes ...string) Lock {
	var out Lock
	for _, p := range l {
		if slices.Contains(purposes, p.For) {
			out = append(out, p)
		}
	}
	return out
}

// Package returns the pins of one package.
func (l Lock) Package(name string) Lock {
	var out Lock
	for _, p := range l {
		if p.Name == name {
			out = append(out, p)
		}
	}
	return out
}
