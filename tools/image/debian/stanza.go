package debian

import (
	"bufio"
	"io"
	"iter"
	"strings"
)

// stanza is one paragraph of a control file: fields by their names in lower
// case. The lines of a longer field are joined by newlines.
type stanza map[string]string

// stanzas reads paragraph after paragraph. Lines that are no field are passed
// over, as apt does; an unreadable rest ends the sequence.
func stanzas(r io.Reader) iter.Seq[stanza] {
	return func(yield func(stanza) bool) {
		sc := bufio.NewScanner(r)
		sc.Buffer(make([]byte, 64<<10), 16<<20)
		s, last := stanza{}, ""
		for sc.Scan() {
			line := sc.Text()
			switch {
			case strings.TrimSpace(line) == "":
				if len(s) > 0 && !yield(s) {
					return
				}
				s, last = stanza{}, ""
			case line[0] == '#':
			case line[0] == ' ' || line[0] == '\t':
				if last != "" {
					s[last] += "\n" + strings.TrimSpace(line)
				}
			default:
				name, value, ok := strings.Cut(line, ":")
				if !ok {
					last = ""
					continue
				}
				last = strings.ToLower(name)
				s[last] = strings.TrimSpace(value)
			}
		}
		if len(s) > 0 {
			yield(s)
		}
	}
}
