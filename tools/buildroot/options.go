package buildroot

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Option is one configuration option of Buildroot.
type Option struct {
	Type   string // bool, string, int, hex; "?" where it is not known
	Fixed  bool   // has no prompt: a line of a defconfig cannot set it
	Legacy bool   // was removed; setting it stops the build
}

// ParseOptions reads a list of options: name, type (with "*" behind it where the
// option has no prompt), and "legacy" where it is one; a line each.
func ParseOptions(r io.Reader) (map[string]Option, error) {
	out := map[string]Option{}
	s := bufio.NewScanner(r)
	for no := 1; s.Scan(); no++ {
		f := strings.Fields(s.Text())
		if len(f) == 0 || f[0][0] == '#' {
			continue
		}
		if len(f) < 2 || len(f) > 3 || len(f) == 3 && f[2] != "legacy" {
			return nil, fmt.Errorf("options: line %d: want NAME TYPE [legacy], not %q", no, s.Text())
		}
		kind, fixed := strings.CutSuffix(f[1], "*")
		out[f[0]] = Option{Type: kind, Fixed: fixed, Legacy: len(f) == 3}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	return out, nil
}

// externalSymbols are the options that our own Config.in files define, with where.
func externalSymbols(root fs.FS) (map[string]Problem, error) {
	files, err := fs.Glob(root, "buildroot/package/*/Config.in*")
	if err != nil {
		return nil, err
	}
	out := map[string]Problem{}
	for _, file := range files {
		lines, err := readLines(root, file)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			if name, ok := strings.CutPrefix(l.text, "config "); ok {
				out[strings.TrimSpace(name)] = Problem{File: file, Line: l.no}
			}
		}
	}
	return out, nil
}

// Symbols checks our own options' names against Buildroot's.
func Symbols(root fs.FS, options map[string]Option) ([]Problem, error) {
	own, err := externalSymbols(root)
	if err != nil {
		return nil, err
	}
	var out []Problem
	for name, at := range own {
		o, taken := options[name]
		switch {
		case taken && o.Legacy:
			at.Text = name + " is a name that Buildroot once had: whoever sets it stops the build"
		case taken:
			at.Text = name + " is an option of Buildroot itself"
		default:
			continue
		}
		out = append(out, at)
	}
	return sorted(out), nil
}

// Boards are the boards that have a defconfig, by name.
func Boards(root fs.FS) ([]string, error) {
	files, err := fs.Glob(root, "buildroot/configs/homeagent_*_defconfig")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range files {
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(path.Base(f), "homeagent_"), "_defconfig"))
	}
	return out, nil
}

func defconfig(board string) string {
	return "buildroot/configs/homeagent_" + board + "_defconfig"
}

// setting is one line of a defconfig or of a fragment; "n" stands for "is not set".
type setting struct {
	name, value string
	line        int
}

// readSettings reads PREFIX…=value and "# PREFIX… is not set"; what is neither nor a comment is a problem.
func readSettings(root fs.FS, file, prefix string) ([]setting, []Problem, error) {
	lines, err := readLines(root, file)
	if err != nil {
		return nil, nil, err
	}
	var out []setting
	var bad []Problem
	seen := map[string]bool{}
	for _, l := range lines {
		if isComment(l.text) {
			continue
		}
		name, value, ok := strings.Cut(l.text, "=")
		if unset, is := strings.CutSuffix(l.text, " is not set"); is {
			name, value, ok = strings.TrimPrefix(unset, "# "), "n", true
		} else if value == "n" {
			bad = append(bad, Problem{file, l.no, "write `# " + name + " is not set`: a line with =n is passed over"})
			continue
		}
		if !ok || !strings.HasPrefix(name, prefix) || strings.ContainsAny(name, " \t") {
			bad = append(bad, Problem{file, l.no, fmt.Sprintf("%q is no setting", l.text)})
			continue
		}
		if seen[name] {
			bad = append(bad, Problem{file, l.no, name + " is set twice"})
		}
		seen[name] = true
		out = append(out, setting{name, value, l.no})
	}
	return out, bad, nil
}

// Defconfigs checks every board's lines against Buildroot's options and our own.
func Defconfigs(root fs.FS, options map[string]Option) ([]Problem, error) {
	boards, err := Boards(root)
	if err != nil {
		return nil, err
	}
	own, err := externalSymbols(root)
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, board := range boards {
		settings, bad, err := readSettings(root, defconfig(board), "BR2_")
		if err != nil {
			return nil, err
		}
		out = append(out, bad...)
		for _, s := range settings {
			if _, ours := own[s.name]; ours {
				continue
			}
			o, known := options[s.name]
			if text := misuse(s, o, known); text != "" {
				out = append(out, Problem{defconfig(board), s.line, text})
			}
		}
	}
	return sorted(out), nil
}

// misuse says what is wrong with a setting, "" for nothing.
func misuse(s setting, o Option, known bool) string {
	quoted := len(s.value) >= 2 && strings.HasPrefix(s.value, `"`) && strings.HasSuffix(s.value, `"`)
	switch {
	case !known:
		return s.name + " is no option of this Buildroot: it would be dropped without a word"
	case o.Legacy:
		return s.name + " was removed from Buildroot: it stops the build"
	case o.Fixed:
		return s.name + " has no prompt: it would be dropped without a word"
	case o.Type == "bool" && s.value != "y" && s.value != "n":
		return s.name + " is yes or no, not " + s.value
	case o.Type == "string" && !quoted:
		return s.name + " wants quotes around its value"
	case (o.Type == "int" || o.Type == "hex") && (quoted || s.value == "n"):
		return s.name + " is a number, not " + s.value
	}
	return ""
}

// Fragments checks the form of the configuration fragments that boards share or have.
func Fragments(root fs.FS) ([]Problem, error) {
	files := []string{"buildroot/busybox.config", "board/common/uboot/uboot.config"}
	for _, pattern := range []string{"board/common/linux*.config", "board/*/linux.config"} {
		more, err := fs.Glob(root, pattern)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	var out []Problem
	for _, f := range files {
		_, bad, err := readSettings(root, f, "CONFIG_")
		if err != nil {
			return nil, err
		}
		out = append(out, bad...)
	}
	return sorted(out), nil
}
