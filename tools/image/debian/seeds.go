package debian

import (
	"fmt"
	"strings"
)

// Seed is a package that the lock starts from.
type Seed struct {
	Name  string
	Suite string // empty: the release with its security and updates
}

// Seeds is the content of seeds.txt.
type Seeds struct {
	Release string
	Root    []Seed
	Sysroot []Seed
	Sources []Seed
	// Tarballs are source packages of which only the makers' tarball is pinned.
	Tarballs []Seed
	Without  []string // packages that a dependency does not bring
}

// ParseSeeds reads seeds.txt: a line "release NAME", and lines "root", "sysroot",
// "source", "tarball" and "without" with packages, each NAME or NAME/SUITE.
func ParseSeeds(text string) (Seeds, error) {
	var s Seeds
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		var seeds []Seed
		for _, w := range f[1:] {
			name, suite, _ := strings.Cut(w, "/")
			seeds = append(seeds, Seed{name, suite})
		}
		switch f[0] {
		case "release":
			if len(f) != 2 {
				return Seeds{}, fmt.Errorf("seeds, line %d: one release, not %d", n, len(f)-1)
			}
			s.Release = f[1]
		case "root":
			s.Root = append(s.Root, seeds...)
		case "sysroot":
			s.Sysroot = append(s.Sysroot, seeds...)
		case "source":
			s.Sources = append(s.Sources, seeds...)
		case "tarball":
			s.Tarballs = append(s.Tarballs, seeds...)
		case "without":
			s.Without = append(s.Without, f[1:]...)
		default:
			return Seeds{}, fmt.Errorf("seeds, line %d: unknown word %q", n, f[0])
		}
	}
	if s.Release == "" {
		return Seeds{}, fmt.Errorf("seeds: no release")
	}
	return s, nil
}

// Suites are all suites that the seeds speak of, the release's own first.
func (s Seeds) Suites() []string {
	out := []string{s.Release, s.Release + "-updates", s.Release + "-security"}
	have := map[string]bool{"": true}
	for _, o := range out {
		have[o] = true
	}
	for _, list := range [][]Seed{s.Root, s.Sysroot, s.Sources, s.Tarballs} {
		for _, seed := range list {
			if !have[seed.Suite] {
				have[seed.Suite] = true
				out = append(out, seed.Suite)
			}
		}
	}
	return out
}
