package home

import "fmt"

// Problem is one thing wrong in the section `home`, told for the person who
// wrote it. Error gives it in English with its line; Text gives it in "zh" or "en".
type Problem struct {
	// Line is the line in the YAML that was parsed, 0 if unknown.
	Line   int
	zh, en string
}

func (p *Problem) Error() string { return p.Text("en") }

// Text tells the problem in the language "zh" or "en"; any other is English.
func (p *Problem) Text(lang string) string {
	s := p.en
	if lang == "zh" {
		s = p.zh
	}
	switch {
	case p.Line == 0:
		return "home: " + s
	case lang == "zh":
		return fmt.Sprintf("home：第 %d 行：%s", p.Line, s)
	}
	return fmt.Sprintf("home: line %d: %s", p.Line, s)
}

// problems collects what is wrong, up to a bound: the hundredth error helps nobody.
type problems struct{ list []error }

const maxProblems = 50

func (ps *problems) add(line int, zh, en string) {
	if len(ps.list) < maxProblems {
		ps.list = append(ps.list, &Problem{Line: line, zh: zh, en: en})
	}
}
