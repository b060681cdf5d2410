package sphinx

import (
	"fmt"
	"slices"
	"strings"
)

// GrammarWords lists the words that a JSGF grammar can produce, sorted, each
// once. It reads only as much of the language as that takes: an error means
// that the text is no grammar, nil does not mean that the library will take it.
func GrammarWords(grammar string) ([]string, error) {
	s, ok := strings.CutPrefix(strings.TrimSpace(grammar), "#JSGF")
	if !ok {
		return nil, fmt.Errorf("grammar: it does not begin with #JSGF")
	}
	_, s, ok = strings.Cut(s, ";") // the rest of the header: version, encoding
	if !ok {
		return nil, fmt.Errorf("grammar: its header has no end")
	}
	var words []string
	for s != "" {
		stmt, rest, err := statement(s)
		if err != nil {
			return nil, err
		}
		s = rest
		words = append(words, stmt...)
	}
	slices.Sort(words)
	return slices.Compact(words), nil
}

// statement reads up to the next ";" and gives its words; "grammar name;" and
// "import <rule>;" have none, of a rule only what stands right of "=" counts.
func statement(s string) (words []string, rest string, err error) {
	inRule := false
	for s != "" {
		switch c := s[0]; {
		case strings.HasPrefix(s, "//"):
			s = after(s, "\n")
		case strings.HasPrefix(s, "/*"):
			if s, err = past(s[2:], "*/"); err != nil {
				return nil, "", err
			}
		case c == ';':
			return words, s[1:], nil
		case c == '=':
			inRule, words, s = true, nil, s[1:]
		case c == '<':
			if s, err = past(s, ">"); err != nil {
				return nil, "", err
			}
		case c == '{':
			if s, err = past(s, "}"); err != nil {
				return nil, "", err
			}
		case c == '/': // a weight
			if s, err = past(s[1:], "/"); err != nil {
				return nil, "", err
			}
		case strings.IndexByte(" \t\r\n|()[]*+", c) >= 0:
			s = s[1:]
		default:
			var w string
			if w, s, err = word(s); err != nil {
				return nil, "", err
			}
			if inRule {
				words = append(words, w)
			}
		}
	}
	if inRule {
		return nil, "", fmt.Errorf("grammar: its last rule has no end")
	}
	return nil, "", nil
}

// word reads one token, quoted or not.
func word(s string) (w, rest string, err error) {
	if s[0] == '"' {
		w, rest, ok := strings.Cut(s[1:], `"`)
		if !ok {
			return "", "", fmt.Errorf("grammar: a quote has no end")
		}
		return w, rest, nil
	}
	end := strings.IndexAny(s, " \t\r\n|()[]*+;=<>{}/\"")
	switch {
	case end < 0:
		return s, "", nil
	case end == 0:
		return "", "", fmt.Errorf("grammar: unexpected %q", s[0])
	}
	return s[:end], s[end:], nil
}

// after is what follows sep, "" where there is none.
func after(s, sep string) string {
	_, rest, _ := strings.Cut(s, sep)
	return rest
}

// past is after, but sep must be there.
func past(s, sep string) (string, error) {
	_, rest, ok := strings.Cut(s, sep)
	if !ok {
		return "", fmt.Errorf("grammar: no closing %q", sep)
	}
	return rest, nil
}
