package buildroot

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// builtins of busybox ash: there with every shell.
var builtins = strings.Fields(`. : alias bg break cd command continue echo eval exec exit export false fg getopts
	hash jobs kill let local printf pwd read readonly return set shift sleep source test times trap true type ulimit
	umask unalias unset wait [`)

// overlayFolder is the root file system that both images share.
const overlayFolder = "overlay"

// firstStage runs before the root is there: it has Debian's busybox and nothing else.
const firstStage = "board/common/initramfs"

// Commands checks what the scripts of the box call against both images.
func Commands(root fs.FS) ([]Problem, error) {
	list, out, err := readListed(root)
	if err != nil {
		return nil, err
	}
	unset, err := unsetOptions(root, list)
	if err != nil {
		return nil, err
	}
	out = append(out, unset...)
	ours, err := buildroot(root)
	if err != nil {
		return nil, err
	}
	for _, place := range []struct {
		folder string
		boxes  map[string]applets
		list   []listed
	}{
		{overlayFolder, map[string]applets{"Debian's": debian(), "Buildroot's": ours}, list},
		{firstStage, map[string]applets{"Debian's": debian()}, nil},
	} {
		all, bad, err := scripts(root, place.folder)
		if err != nil {
			return nil, err
		}
		out = append(out, bad...)
		own := functions(all)
		for _, s := range all {
			for _, c := range calls(s) {
				if own[c.name] || slices.Contains(builtins, c.name) {
					continue
				}
				if text := absent(root, c.name, place.boxes, place.list); text != "" {
					out = append(out, Problem{s.name, c.line, text})
				}
			}
		}
	}
	return sorted(out), nil
}

// absent says where a command is lacking, "" for nowhere.
func absent(root fs.FS, name string, boxes map[string]applets, list []listed) string {
	base := path.Base(name)
	for _, l := range list {
		if l.path == name || path.Base(l.path) == name {
			return ""
		}
	}
	if strings.HasPrefix(name, "/") {
		if _, err := fs.Stat(root, path.Join(overlayFolder, name)); err == nil {
			return ""
		}
		switch path.Dir(name) {
		case "/bin", "/sbin", "/usr/bin", "/usr/sbin":
		default:
			return name + " is not in the overlay"
		}
	}
	var lack []string
	for whose, has := range boxes {
		if !has[base] && base != "busybox" {
			lack = append(lack, whose)
		}
	}
	if len(lack) == 0 {
		return ""
	}
	slices.Sort(lack)
	return fmt.Sprintf("%s is no applet of %s busybox; if it is a package's program, it belongs in %s",
		name, strings.Join(lack, " nor of "), commandsList)
}

// unsetOptions checks that every board's defconfig sets the options of the list.
func unsetOptions(root fs.FS, list []listed) ([]Problem, error) {
	boards, err := Boards(root)
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, board := range boards {
		settings, _, err := readSettings(root, defconfig(board), "BR2_")
		if err != nil {
			return nil, err
		}
		for _, l := range list {
			if !slices.ContainsFunc(settings, func(s setting) bool { return s.name == l.option && s.value == "y" }) {
				out = append(out, Problem{commandsList, l.line, fmt.Sprintf("board %s does not set %s: no %s there", board, l.option, l.path)})
			}
		}
	}
	return out, nil
}
