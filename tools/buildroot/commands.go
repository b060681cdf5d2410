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
	for _, l := range list {
		if l.applet() && !ours[l.path] {
			out = append(out, Problem{commandsList, l.line, l.path + " is off in Buildroot's busybox: " + l.option + " belongs in buildroot/busybox.config"})
		}
	}
	made, err := links(root)
	if err != nil {
		return nil, err
	}
	for _, place := range []struct {
		folder string
		has    box
	}{
		{overlayFolder, box{root, map[string]applets{"Debian's": debian(), "Buildroot's": ours}, list, made}},
		{firstStage, box{root, map[string]applets{"Debian's": debian()}, nil, nil}},
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
				if text := place.has.absent(c.name); text != "" {
					out = append(out, Problem{s.name, c.line, text})
				}
			}
		}
	}
	return sorted(out), nil
}

// box is what a script finds when it runs.
type box struct {
	root    fs.FS
	busybox map[string]applets // by whose it is
	list    []listed
	links   map[string]string // that post-build.sh makes
}

// absent says where a command is lacking, "" for nowhere.
func (b box) absent(name string) string {
	base := path.Base(name)
	for _, l := range b.list {
		if !l.applet() && (l.path == name || path.Base(l.path) == name) {
			return ""
		}
	}
	if strings.HasPrefix(name, "/") {
		if _, err := fs.Stat(b.root, path.Join(overlayFolder, name)); err == nil {
			return ""
		}
		switch dir := path.Dir(name); {
		case path.Base(b.links[name]) == "busybox": // then base must be an applet
		case dir != "/bin" && dir != "/sbin" && dir != "/usr/bin" && dir != "/usr/sbin":
			return name + " is not in the overlay"
		}
	}
	var lack []string
	for whose, has := range b.busybox {
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
			if !l.applet() && !slices.ContainsFunc(settings, func(s setting) bool { return s.name == l.option && s.value == "y" }) {
				out = append(out, Problem{commandsList, l.line, fmt.Sprintf("board %s does not set %s: no %s there", board, l.option, l.path)})
			}
		}
	}
	return out, nil
}
