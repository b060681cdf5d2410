package debian

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Index is what the suites offer.
type Index struct {
	binaries  map[string][]candidate
	providers map[string][]string
	sources   map[string][]sourcePackage
}

type candidate struct {
	Pin
	depends string
}

type sourcePackage struct {
	version, suite string
	files          []Pin
}

// NewIndex returns an index of nothing.
func NewIndex() *Index {
	return &Index{binaries: map[string][]candidate{}, providers: map[string][]string{}, sources: map[string][]sourcePackage{}}
}

// AddPackages adds the packages of a suite's Packages file.
func (x *Index) AddPackages(suite string, r io.Reader) error {
	for s := range stanzas(r) {
		size, err := strconv.ParseInt(s["size"], 10, 64)
		if err != nil {
			return fmt.Errorf("%s: package %s: size %q", suite, s["package"], s["size"])
		}
		c := candidate{
			Pin:     Pin{Name: s["package"], Version: s["version"], Suite: suite, Path: s["filename"], Size: size, SHA256: s["sha256"]},
			depends: strings.Trim(s["pre-depends"]+", "+s["depends"], ", "),
		}
		if !slices.ContainsFunc(x.binaries[c.Name], func(o candidate) bool { return o.Pin == c.Pin }) {
			x.binaries[c.Name] = append(x.binaries[c.Name], c)
		}
		for _, p := range alternatives(s["provides"]) {
			if !slices.Contains(x.providers[p[0]], c.Name) {
				x.providers[p[0]] = append(x.providers[p[0]], c.Name)
			}
		}
	}
	return nil
}

// AddSources adds the packages of a suite's Sources file.
func (x *Index) AddSources(suite string, r io.Reader) error {
	for s := range stanzas(r) {
		p := sourcePackage{version: s["version"], suite: suite}
		for line := range strings.Lines(s["checksums-sha256"]) {
			f := strings.Fields(line)
			if len(f) != 3 {
				continue
			}
			size, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				return fmt.Errorf("%s: source %s: size %q", suite, s["package"], f[1])
			}
			p.files = append(p.files, Pin{For: ForSource, Name: s["package"], Version: p.version, Suite: suite,
				Path: s["directory"] + "/" + f[2], Size: size, SHA256: f[0]})
		}
		x.sources[s["package"]] = append(x.sources[s["package"]], p)
	}
	return nil
}

// MissingPackageError says that no suite has a package.
type MissingPackageError struct {
	Name  string
	Suite string // empty: any of the release
	By    string // what needs it
}

// Error names the package and what asked for it.
func (e *MissingPackageError) Error() string {
	where := "the release"
	if e.Suite != "" {
		where = e.Suite
	}
	return fmt.Sprintf("no package %s in %s, needed by %s", e.Name, where, e.By)
}

// Resolve closes the seeds over their dependencies.
func (x *Index) Resolve(seeds Seeds) (Lock, error) {
	root, err := x.closure(seeds, seeds.Root, nil)
	if err != nil {
		return nil, err
	}
	sysroot, err := x.closure(seeds, seeds.Sysroot, root)
	if err != nil {
		return nil, err
	}
	var l Lock
	for _, p := range root {
		p.For = ForRoot
		l = append(l, p)
	}
	for name, p := range sysroot {
		if _, there := root[name]; !there {
			p.For = ForSysroot
			l = append(l, p)
		}
	}
	for _, s := range seeds.Sources {
		files, err := x.source(s)
		if err != nil {
			return nil, err
		}
		l = append(l, files...)
	}
	for _, s := range seeds.Tarballs {
		files, err := x.source(s)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if strings.Contains(f.Path, ".orig.tar.") {
				f.For = ForTarball
				l = append(l, f)
			}
		}
	}
	slices.SortFunc(l, order)
	return l, nil
}

// closure walks from the seeds; a package of done satisfies an alternative
// first, so that both sets agree.
func (x *Index) closure(seeds Seeds, from []Seed, done map[string]Pin) (map[string]Pin, error) {
	suites := map[string]string{}
	for _, s := range slices.Concat(seeds.Root, seeds.Sysroot) {
		suites[s.Name] = s.Suite
	}
	chosen := map[string]Pin{}
	type want struct{ name, by string }
	var queue []want
	for _, s := range from {
		queue = append(queue, want{s.Name, "seeds.txt"})
	}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		if _, there := chosen[w.name]; there {
			continue
		}
		c, err := x.best(w.name, suites[w.name], seeds.Release, w.by)
		if err != nil {
			return nil, err
		}
		chosen[w.name] = c.Pin
		for _, alts := range alternatives(c.depends) {
			if slices.ContainsFunc(alts, func(n string) bool { return slices.Contains(seeds.Without, n) }) {
				continue
			}
			name := x.pick(alts, chosen, done, suites)
			queue = append(queue, want{name, w.name})
		}
	}
	return chosen, nil
}

// pick chooses one of the alternatives: what is there already, what a seed
// names, else the first that exists, by itself or provided.
func (x *Index) pick(alts []string, chosen, done map[string]Pin, seeds map[string]string) string {
	var exist []string
	for _, a := range alts {
		if len(x.binaries[a]) > 0 {
			exist = append(exist, a)
		} else {
			exist = append(exist, slices.Sorted(slices.Values(x.providers[a]))...)
		}
	}
	for _, n := range exist {
		if _, ok := chosen[n]; ok {
			return n
		}
	}
	for _, n := range exist {
		_, a := done[n]
		_, b := seeds[n]
		if a || b {
			return n
		}
	}
	if len(exist) > 0 {
		return exist[0]
	}
	return alts[0]
}

// best is the newest version that a package has in its suite; without a suite,
// in the suites of the release.
func (x *Index) best(name, suite, release, by string) (candidate, error) {
	var best candidate
	for _, c := range x.binaries[name] {
		fits := c.Suite == suite
		if suite == "" {
			fits = c.Suite == release || c.Suite == release+"-security" || c.Suite == release+"-updates"
		}
		if fits && (best.Name == "" || CompareVersions(c.Version, best.Version) > 0) {
			best = c
		}
	}
	if best.Name == "" {
		return candidate{}, &MissingPackageError{name, suite, by}
	}
	return best, nil
}

// source returns the tarballs of a source package's newest version.
func (x *Index) source(s Seed) (Lock, error) {
	var best sourcePackage
	for _, p := range x.sources[s.Name] {
		if p.suite == s.Suite && (best.version == "" || CompareVersions(p.version, best.version) > 0) {
			best = p
		}
	}
	if best.version == "" {
		return nil, &MissingPackageError{"source " + s.Name, s.Suite, "seeds.txt"}
	}
	var l Lock
	for _, f := range best.files {
		if strings.Contains(f.Path, ".tar.") && !strings.HasSuffix(f.Path, ".asc") {
			l = append(l, f)
		}
	}
	return l, nil
}

// alternatives reads a dependency field: groups of names, without versions
// and architectures.
func alternatives(field string) [][]string {
	var out [][]string
	for group := range strings.SplitSeq(field, ",") {
		var names []string
		for alt := range strings.SplitSeq(group, "|") {
			name, _, _ := strings.Cut(strings.TrimSpace(alt), " ")
			name, _, _ = strings.Cut(name, "(")
			name, _, _ = strings.Cut(name, ":")
			if name != "" {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			out = append(out, names)
		}
	}
	return out
}
