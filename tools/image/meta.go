package main

import (
	"fmt"
	"path"
	"strings"

	"homeagent/tools/image/kernel"
)

// meta is a board's file of plain variables.
type meta map[string]string

// parseMeta reads NAME=VALUE lines as the shell would: a value may stand in
// double quotes. Nothing is expanded, so a dollar sign is refused.
func parseMeta(text string) (meta, error) {
	m := meta{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		} else if strings.ContainsAny(value, " \t") {
			ok = false
		}
		if !ok || name == "" || strings.ContainsAny(name, " \t\"") || strings.ContainsAny(value, "\"$`\\") {
			return nil, fmt.Errorf("line %d is no NAME=VALUE", n)
		}
		m[name] = value
	}
	return m, nil
}

// words splits a variable.
func (m meta) words(name string) []string { return strings.Fields(m[name]) }

// MissingError says which drivers and firmware files a board was promised and
// the root lacks.
type MissingError struct{ Modules, Firmware []string }

// Error names them.
func (e *MissingError) Error() string {
	return fmt.Sprintf("the root lacks the drivers [%s] and the firmware files [%s]", strings.Join(e.Modules, " "), strings.Join(e.Firmware, " "))
}

// promised holds the root to the board's MODULES and WIFI: what docs/hardware.md
// calls checked.
func (m meta) promised(t tree, modules *kernel.Modules) error {
	there := map[string]bool{}
	for name := range t {
		if strings.HasPrefix(name, "usr/lib/modules/") {
			there[kernel.Name(name)] = true
		}
	}
	var e MissingError
	for _, name := range m.words("MODULES") {
		if !there[kernel.Name(name)] && !modules.Builtin(name) {
			e.Modules = append(e.Modules, name)
		}
	}
	for _, name := range m.words("WIFI") {
		if !t.reaches(path.Join("usr/lib/firmware", name)) {
			e.Firmware = append(e.Firmware, name)
		}
	}
	if e.Modules != nil || e.Firmware != nil {
		return &e
	}
	return nil
}

// reaches says whether a name leads to a file of the tree, through links.
func (t tree) reaches(name string) bool {
	for range 8 {
		n, there := t[canonical(name)]
		if !there || n.link == "" {
			return there
		}
		to := n.link
		if !path.IsAbs(to) {
			to = path.Join(path.Dir(name), to)
		}
		name = strings.TrimPrefix(to, "/")
	}
	return false
}
