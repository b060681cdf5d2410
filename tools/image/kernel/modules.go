package kernel

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Modules are the modules of one kernel.
type Modules struct {
	files   map[string]string   // name to path below the modules folder
	needs   map[string][]string // path to paths, the first to be loaded last
	soft    map[string][]string // name to names that want to be there before it
	builtin map[string]bool
}

// Name is a module's name in the kernel: of the path's last part, without
// suffixes and with underscores.
func Name(file string) string {
	base, _, _ := strings.Cut(path.Base(file), ".ko")
	return strings.ReplaceAll(base, "-", "_")
}

// ReadModules reads modules.dep, modules.builtin and modules.softdep of a
// folder lib/modules/VERSION that depmod has seen.
func ReadModules(dir string) (*Modules, error) {
	var text [3][]byte
	for i, name := range []string{"modules.dep", "modules.builtin", "modules.softdep"} {
		var err error
		if text[i], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("read the kernel's modules: %w", err)
		}
	}
	return ParseModules(text[0], text[1], text[2]), nil
}

// ParseModules reads the three tables. Lines that are none are passed over.
func ParseModules(dep, builtin, softdep []byte) *Modules {
	m := &Modules{files: map[string]string{}, needs: map[string][]string{}, soft: map[string][]string{}, builtin: map[string]bool{}}
	for line := range bytes.Lines(dep) {
		file, needs, ok := strings.Cut(strings.TrimSpace(string(line)), ":")
		if ok && file != "" {
			m.files[Name(file)] = file
			m.needs[file] = strings.Fields(needs)
		}
	}
	for line := range bytes.Lines(builtin) {
		if f := strings.TrimSpace(string(line)); f != "" {
			m.builtin[Name(f)] = true
		}
	}
	for line := range bytes.Lines(softdep) {
		f := strings.Fields(string(line))
		if len(f) < 3 || f[0] != "softdep" {
			continue
		}
		name, pre := Name(f[1]), false
		for _, w := range f[2:] {
			switch {
			case strings.HasSuffix(w, ":"):
				pre = w == "pre:"
			case pre:
				m.soft[name] = append(m.soft[name], Name(w))
			}
		}
	}
	return m
}

// Has says whether a module is there, as a file or built in.
func (m *Modules) Has(name string) bool {
	name = Name(name)
	return m.files[name] != "" || m.builtin[name]
}

// Builtin says whether a module is part of the kernel itself.
func (m *Modules) Builtin(name string) bool { return m.builtin[Name(name)] }

// Select returns the files of the named modules and of what they need, in an
// order in which they can be loaded, and the names that the kernel lacks.
func (m *Modules) Select(names []string) (files, absent []string) {
	seen := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		name = Name(name)
		file := m.files[name]
		if file == "" || seen[file] {
			return
		}
		seen[file] = true
		for _, s := range m.soft[name] {
			add(s)
		}
		needs := m.needs[file]
		for i := len(needs) - 1; i >= 0; i-- {
			add(needs[i])
		}
		files = append(files, file)
	}
	for _, n := range names {
		if !m.Has(n) {
			absent = append(absent, n)
			continue
		}
		add(n)
	}
	return files, absent
}

// ParseList reads a list of module names, one a line, with comments.
func ParseList(text []byte) []string {
	var out []string
	for line := range bytes.Lines(text) {
		s, _, _ := strings.Cut(string(line), "#")
		if f := strings.Fields(s); len(f) > 0 {
			out = append(out, f[0])
		}
	}
	return out
}
