package buildroot

import (
	_ "embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed applets-debian-12.txt
var debianApplets string

//go:embed applets-buildroot-2026.05.1.txt
var buildrootApplets string

// applets are the names that a busybox answers to.
type applets map[string]bool

// debian are the applets of Debian's busybox.
func debian() applets {
	out := applets{}
	for name := range strings.SplitSeq(debianApplets, "\n") {
		if name != "" && name[0] != '#' {
			out[name] = true
		}
	}
	return out
}

// buildroot are the applets of Buildroot's busybox with the fragment's changes.
func buildroot(root fs.FS) (applets, error) {
	const fragment = "buildroot/busybox.config"
	settings, _, err := readSettings(root, fragment, "CONFIG_")
	if err != nil {
		return nil, err
	}
	changed := map[string]string{}
	for _, s := range settings {
		changed[strings.TrimPrefix(s.name, "CONFIG_")] = s.value
	}
	out := applets{}
	for row := range strings.SplitSeq(buildrootApplets, "\n") {
		if row == "" || row[0] == '#' {
			continue
		}
		f := strings.Fields(row)
		if len(f) != 3 {
			return nil, fmt.Errorf("list of applets: %q", row)
		}
		option, name, on := f[0], f[1], f[2]
		if value, ok := changed[option]; ok {
			on = value
		}
		if on == "y" {
			out[name] = true
		}
	}
	return out, nil
}

// listed is a line of board/common/commands.list: a program that is no applet.
type listed struct {
	path, debian, option string
	line                 int
}

const commandsList = "board/common/commands.list"

// readListed reads the list: full path, Debian package ("-" for ours), Buildroot option.
func readListed(root fs.FS) ([]listed, []Problem, error) {
	lines, err := readLines(root, commandsList)
	if err != nil {
		return nil, nil, err
	}
	var out []listed
	var bad []Problem
	for _, l := range lines {
		if isComment(l.text) {
			continue
		}
		f := strings.Fields(l.text)
		if len(f) != 3 || !strings.HasPrefix(f[0], "/") || !strings.HasPrefix(f[2], "BR2_") {
			bad = append(bad, Problem{commandsList, l.no, "want: /full/path, Debian package or -, Buildroot option"})
			continue
		}
		out = append(out, listed{f[0], f[1], f[2], l.no})
	}
	return out, bad, nil
}
