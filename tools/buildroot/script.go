package buildroot

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// script is a shell script of the box, parsed.
type script struct {
	name string
	file *syntax.File
}

// call is a command that a script runs by a name that stands there.
type call struct {
	name string
	line int
}

// scripts are the shell scripts below a folder: what begins with #! and names a
// shell, what ends in .sh, and the lines of an inittab.
func scripts(root fs.FS, folder string) ([]script, []Problem, error) {
	var out []script
	var bad []Problem
	err := fs.WalkDir(root, folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		first, _, _ := bytes.Cut(data, []byte("\n"))
		switch {
		case path.Base(name) == "inittab":
			data = inittab(data)
		case bytes.HasPrefix(first, []byte("#!")) && bytes.HasSuffix(bytes.TrimSpace(first), []byte("sh")):
		case strings.HasSuffix(name, ".sh"):
		default:
			return nil
		}
		file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(bytes.NewReader(data), name)
		if err != nil {
			bad = append(bad, Problem{name, 0, fmt.Sprintf("is not POSIX shell: %v", err)})
			return nil
		}
		out = append(out, script{name, file})
		return nil
	})
	return out, bad, err
}

// inittab turns the lines "id:levels:action:process" into a script with the
// processes at the same line numbers.
func inittab(data []byte) []byte {
	lines := strings.Split(string(data), "\n")
	for i, l := range lines {
		f := strings.SplitN(l, ":", 4)
		if strings.HasPrefix(l, "#") || len(f) < 4 {
			lines[i] = ""
			continue
		}
		lines[i] = strings.TrimPrefix(f[3], "-")
	}
	return []byte(strings.Join(lines, "\n"))
}

// functions are the names of the functions that scripts define; they source each other.
func functions(all []script) map[string]bool {
	out := map[string]bool{}
	for _, s := range all {
		syntax.Walk(s.file, func(n syntax.Node) bool {
			if f, ok := n.(*syntax.FuncDecl); ok {
				out[f.Name.Value] = true
			}
			return true
		})
	}
	return out
}

// calls are the commands of a script, those behind exec, timeout and the like included.
func calls(s script) []call {
	var out []call
	syntax.Walk(s.file, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		if !ok || len(c.Args) == 0 {
			return true
		}
		words := make([]string, len(c.Args))
		for i, w := range c.Args {
			words[i] = literal(w)
		}
		for len(words) > 0 {
			if words[0] != "" {
				out = append(out, call{words[0], int(c.Pos().Line())})
			}
			words = behind(words)
		}
		return true
	})
	return out
}

// literal is a word's text, "" where some of it is computed.
func literal(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(l.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
}

// behind is the command that a command is given to run, nil for none. tool and
// wait_for are the overlay's own helpers.
func behind(words []string) []string {
	rest := words[1:]
	skip := 0 // arguments of its own that are not options
	switch words[0] {
	case "exec", "nohup", "setsid", "busybox", "tool", "nice", "ionice", "xargs":
	case "timeout", "chroot", "wait_for":
		skip = 1
	case "env":
		for len(rest) > 0 && strings.Contains(rest[0], "=") {
			rest = rest[1:]
		}
	case "start-stop-daemon":
		for i, w := range rest {
			if (w == "-x" || w == "--exec" || w == "-a" || w == "--startas") && i+1 < len(rest) {
				return rest[i+1 : i+2]
			}
		}
		return nil
	default:
		return nil
	}
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		// Options with a value apart: nice -n 5, ionice -c 3, timeout -s KILL, xargs -n 1.
		if len(rest) > 1 && strings.Contains("-n -c -s -k -p", rest[0]) {
			rest = rest[1:]
		}
		rest = rest[1:]
	}
	if len(rest) <= skip {
		return nil
	}
	return rest[skip:]
}
