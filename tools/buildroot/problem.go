package buildroot

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Problem is one broken rule.
type Problem struct {
	File string // from the project's root
	Line int    // from 1; 0 where it is about the whole file
	Text string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// sorted orders problems by place and drops repetitions.
func sorted(ps []Problem) []Problem {
	slices.SortFunc(ps, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Text, b.Text))
	})
	return slices.Compact(ps)
}

// line is a line of a text file that says something.
type line struct {
	no   int
	text string
}

// readLines returns a file's lines without those that are empty.
func readLines(root fs.FS, name string) ([]line, error) {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	var out []line
	for i, text := range strings.Split(string(data), "\n") {
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, line{no: i + 1, text: text})
		}
	}
	return out, nil
}

// isComment says whether a line is one, as opposed to "# OPTION is not set".
func isComment(text string) bool {
	return strings.HasPrefix(text, "#") && !strings.HasSuffix(text, " is not set")
}
