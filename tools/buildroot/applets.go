package buildroot

import (
	_ "embed"
	"fmt"
	"io/fs"
	"regexp"
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

// listed is a line of board/common/commands.list: a program, or an applet that is
// not on by default and is named with its busybox option.
type listed struct {
	path, debian, option string
	line                 int
}

const commandsList = "board/common/commands.list"

// applet says whether the line is about busybox.
func (l listed) applet() bool { return strings.HasPrefix(l.option, "CONFIG_") }

// readListed reads the list: full path, Debian package ("-" for ours), Buildroot
// option; or an applet's name, Debian package, busybox option.
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
		program := len(f) == 3 && f[0][0] == '/' && strings.HasPrefix(f[2], "BR2_")
		applet := len(f) == 3 && !strings.Contains(f[0], "/") && strings.HasPrefix(f[2], "CONFIG_")
		if !program && !applet {
			bad = append(bad, Problem{commandsList, l.no, "want: /full/path or applet, Debian package or -, BR2_ or CONFIG_ option"})
			continue
		}
		out = append(out, listed{f[0], f[1], f[2], l.no})
	}
	return out, bad, nil
}

// linkLine is a call of the function link of post-build.sh: link TO NAME.
var linkLine = regexp.MustCompile(`^\s*link (/\S+) (\S+)$`)

// links are the links that post-build.sh makes in both images: path and where to.
func links(root fs.FS) (map[string]string, error) {
	lines, err := readLines(root, "board/common/post-build.sh")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, l := range lines {
		if m := linkLine.FindStringSubmatch(l.text); m != nil {
			out["/"+m[2]] = m[1]
		}
	}
	return out, nil
}
