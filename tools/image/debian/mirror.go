package debian

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Mirrors are the addresses that the machine's apt sources name.
type Mirrors struct {
	Main     string // of Debian itself
	Security string // of its security suites
}

// NoMirrorError says that the machine's apt sources name no Debian mirror.
type NoMirrorError struct {
	Dir string
}

// Error says in both languages what is missing and what to do.
func (e *NoMirrorError) Error() string {
	return fmt.Sprintf("%s 里没有 Debian 软件源；请在其中写入 Debian 12 的软件源后重试。no Debian mirror is named in %s; "+
		"name one of Debian 12 there and try again", e.Dir, e.Dir)
}

// FindMirrors reads sources.list and sources.list.d of dir (/etc/apt). A
// mirror of Debian is one that serves the component main of a suite named
// release, and its security archive one that serves release-security.
func FindMirrors(dir, release string) (Mirrors, error) {
	files, err := filepath.Glob(filepath.Join(dir, "sources.list.d", "*"))
	if err != nil {
		return Mirrors{}, fmt.Errorf("list apt's sources: %w", err)
	}
	var m Mirrors
	for _, f := range append([]string{filepath.Join(dir, "sources.list")}, files...) {
		b, err := os.ReadFile(f)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Mirrors{}, fmt.Errorf("read apt's sources: %w", err)
		}
		var entries []sourceEntry
		switch filepath.Ext(f) {
		case ".list":
			entries = parseList(string(b))
		case ".sources":
			entries = parseSources(string(b))
		}
		for _, e := range entries {
			if !slices.Contains(e.components, "main") {
				continue
			}
			if m.Main == "" && (slices.Contains(e.suites, release) || slices.Contains(e.suites, "stable")) {
				m.Main = e.uri
			}
			if m.Security == "" && (slices.Contains(e.suites, release+"-security") || slices.Contains(e.suites, "stable-security")) {
				m.Security = e.uri
			}
		}
	}
	if m.Main == "" {
		return Mirrors{}, &NoMirrorError{dir}
	}
	if m.Security == "" {
		// Every full mirror of Debian has its security archive beside it.
		m.Security = m.Main + "-security"
	}
	return m, nil
}

// Of is the mirror that serves a suite.
func (m Mirrors) Of(suite string) string {
	if strings.HasSuffix(suite, "-security") {
		return m.Security
	}
	return m.Main
}

// sourceEntry is one address of apt's sources with what it serves.
type sourceEntry struct {
	uri        string
	suites     []string
	components []string
}

// parseList reads the form "deb [options] URI suite component...".
func parseList(text string) []sourceEntry {
	var out []sourceEntry
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "deb" {
			continue
		}
		f = f[1:]
		if strings.HasPrefix(f[0], "[") {
			end := slices.IndexFunc(f, func(s string) bool { return strings.HasSuffix(s, "]") })
			f = f[end+1:]
		}
		if len(f) >= 3 {
			out = append(out, sourceEntry{strings.TrimRight(f[0], "/"), f[1:2], f[2:]})
		}
	}
	return out
}

// parseSources reads the form with a field a line.
func parseSources(text string) []sourceEntry {
	var out []sourceEntry
	for s := range stanzas(strings.NewReader(text)) {
		if !slices.Contains(strings.Fields(s["types"]), "deb") || strings.TrimSpace(s["enabled"]) == "no" {
			continue
		}
		for _, uri := range strings.Fields(s["uris"]) {
			out = append(out, sourceEntry{strings.TrimRight(uri, "/"), strings.Fields(s["suites"]), strings.Fields(s["components"])})
		}
	}
	return out
}
