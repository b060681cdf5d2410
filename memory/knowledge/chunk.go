package knowledge

import (
	"strings"

	"homeagent/memory/document/cut"
)

const (
	// chunking counts changes of how texts are cut; other numbers mean that
	// everything is cut anew.
	chunking = 1
	// chunkSize is the longest text of a passage, in bytes.
	chunkSize = 1500
	// maxHeading is how much of a heading is kept, in bytes.
	maxHeading = 200
	// pathSign stands between headings.
	pathSign = " › "
)

// chunk is a piece of a text, and the headings above it.
type chunk struct{ path, text string }

// chunks cuts a text in Markdown. Headings are lines that begin with '#', or
// are underlined; those inside fenced code are none. A heading with nothing
// below it is a chunk of its own.
func chunks(text string) []chunk {
	var c chunker
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if f := fence(line); f != "" {
			switch c.fence {
			case "":
				c.fence = f
			case f:
				c.fence = ""
			}
		}
		if c.fence == "" {
			if level, title := heading(line); level > 0 {
				c.head(level, title)
				continue
			}
			if level := underline(lines, i); level > 0 {
				c.head(level, strings.TrimSpace(line))
				i++
				continue
			}
		}
		c.body.WriteString(line)
		c.body.WriteByte('\n')
	}
	c.flush(0)
	return c.out
}

// chunker collects the text under the headings it stands under.
type chunker struct {
	out    []chunk
	titles [6]string
	level  int // of the innermost heading, 0 if none
	body   strings.Builder
	fence  string
}

func (c *chunker) head(level int, title string) {
	c.flush(level)
	if len(title) > maxHeading {
		title = cut.Pieces(title, maxHeading)[0]
	}
	c.titles[level-1] = title
	clear(c.titles[level:])
	c.level = level
}

// flush ends a section; next is the level of the heading that follows, 0 at
// the end.
func (c *chunker) flush(next int) {
	pieces := cut.Pieces(c.body.String(), chunkSize)
	c.body.Reset()
	var path []string
	for _, t := range c.titles[:c.level] {
		if t != "" {
			path = append(path, t)
		}
	}
	if len(pieces) == 0 {
		if c.level == 0 || next > c.level || c.titles[c.level-1] == "" {
			return
		}
		pieces = []string{c.titles[c.level-1]}
		path = path[:len(path)-1]
	}
	for _, p := range pieces {
		c.out = append(c.out, chunk{strings.Join(path, pathSign), p})
	}
}

// fence is the sign of a fence of code, "" where line is none.
func fence(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, f := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, f) {
			return f
		}
	}
	return ""
}

// heading is the level and the text of a heading line, level 0 for others.
func heading(line string) (level int, title string) {
	if len(line)-len(strings.TrimLeft(line, " ")) > 3 {
		return 0, ""
	}
	line = strings.TrimSpace(line)
	title = strings.TrimLeft(line, "#")
	level = len(line) - len(title)
	if level < 1 || level > 6 || title != "" && title[0] != ' ' && title[0] != '\t' {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(title), "#"))
}

// underline is the level of line i where the next underlines it: one line of
// text with nothing before it.
func underline(lines []string, i int) int {
	if i+1 >= len(lines) || strings.TrimSpace(lines[i]) == "" || i > 0 && strings.TrimSpace(lines[i-1]) != "" {
		return 0
	}
	under := strings.TrimRight(lines[i+1], " \t")
	switch {
	case len(under) < 3:
	case strings.Trim(under, "=") == "":
		return 1
	case strings.Trim(under, "-") == "":
		return 2
	}
	return 0
}
