package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// rule is a line of the manifest: what one package gives.
type rule struct {
	line    int
	pkg     string
	take    []string
	without []string
	rename  map[string]string // pattern to name
}

// parseManifest reads manifest.txt; its head describes the form.
func parseManifest(text string) ([]rule, error) {
	var out []rule
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		r := rule{line: n, pkg: f[0], rename: map[string]string{}}
		for _, w := range f[1:] {
			bare, not := strings.CutPrefix(w, "-")
			from, to, renamed := strings.Cut(bare, "->")
			for _, p := range []string{from, to} {
				if strings.HasPrefix(p, "/") || slices.Contains(strings.Split(p, "/"), "..") || (p == "" && (renamed || p == from)) {
					return nil, fmt.Errorf("manifest, line %d: bad path %q", n, w)
				}
			}
			if _, err := path.Match(from, ""); err != nil {
				return nil, fmt.Errorf("manifest, line %d: bad pattern %q", n, w)
			}
			switch {
			case not && renamed:
				return nil, fmt.Errorf("manifest, line %d: %q both leaves out and renames", n, w)
			case not:
				r.without = append(r.without, from)
			default:
				r.take = append(r.take, from)
				if renamed {
					r.rename[from] = to
				}
			}
		}
		if len(r.take) == 0 {
			return nil, fmt.Errorf("manifest, line %d: nothing is taken from %s", n, r.pkg)
		}
		out = append(out, r)
	}
	return out, nil
}

func matches(pattern, name string) bool {
	if strings.HasSuffix(pattern, "/") {
		return strings.HasPrefix(name, pattern)
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// pick returns which of a package's files the rule takes: name in the root to
// name in the package. A pattern that finds nothing is an error.
func (r rule) pick(files []string) (map[string]string, error) {
	out := map[string]string{}
	for _, pattern := range r.take {
		found := false
		for _, f := range files {
			if !matches(pattern, f) {
				continue
			}
			found = true
			if slices.ContainsFunc(r.without, func(p string) bool { return matches(p, f) }) {
				continue
			}
			to := f
			if name := r.rename[pattern]; name != "" {
				to = name
			}
			if was, twice := out[to]; twice && was != f {
				return nil, fmt.Errorf("manifest, line %d: %s is both %s and %s", r.line, to, was, f)
			}
			out[to] = f
		}
		if !found {
			return nil, fmt.Errorf("manifest, line %d: %s has no %s", r.line, r.pkg, pattern)
		}
	}
	return out, nil
}

// canonical is a path in a tree where /bin, /sbin and /lib are parts of /usr
// and /usr/sbin is /usr/bin.
func canonical(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	for _, top := range []string{"bin", "sbin", "lib"} {
		if name == top || strings.HasPrefix(name, top+"/") {
			name = "usr/" + name
		}
	}
	if name == "usr/sbin" || strings.HasPrefix(name, "usr/sbin/") {
		name = "usr/bin" + strings.TrimPrefix(name, "usr/sbin")
	}
	return name
}
