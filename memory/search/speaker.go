package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"homeagent/memory/token"
)

const (
	// maxNameWords and maxNameSigns bound what may stand before a colon and be
	// a name: words of an alphabet, signs of a script without spaces.
	maxNameWords, maxNameSigns = 3, 8
	// maxSpeakers is how many speakers a query is compared with, the busiest first.
	maxSpeakers = 256
)

// spoken parts a passage into who says it and what is said. A text that begins
// "Anna: " or "妈妈：", as a group chat hands it on, names its speaker itself.
func (p Passage) spoken() (speaker, text string) {
	text = p.words()
	i := strings.IndexAny(text, ":：\n")
	if i <= 0 || i > 80 || text[i] == '\n' {
		return p.Speaker, text
	}
	name := text[:i]
	colon, n := utf8.DecodeRuneInString(text[i:])
	rest := text[i+n:]
	if colon == ':' && !strings.HasPrefix(rest, " ") && !token.HasHan(name) {
		return p.Speaker, text // 12:30, a URL
	}
	if !isName(name) {
		return p.Speaker, text
	}
	return name, strings.TrimSpace(rest)
}

// isName tells whether a text has the form of a person's name.
func isName(s string) bool {
	if token.HasHan(s) {
		for _, r := range s {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '·' {
				return false
			}
		}
		return utf8.RuneCountInString(s) <= maxNameSigns
	}
	fields := strings.Fields(s)
	for _, f := range fields {
		r, _ := utf8.DecodeRuneInString(f)
		if !unicode.IsUpper(r) {
			return false
		}
		for _, r := range f {
			if !unicode.IsLetter(r) && r != '.' && r != '-' && r != '\'' {
				return false
			}
		}
	}
	return len(fields) >= 1 && len(fields) <= maxNameWords
}

// nameTerms are the terms by which a query names a speaker: the first word of
// a name in an alphabet, the pairs of signs of another (a name of one sign is
// that sign).
func nameTerms(name string) []string {
	terms := token.Set(name, 16)
	var pairs []string
	for _, t := range terms {
		if !single(t) {
			pairs = append(pairs, t)
		}
	}
	switch {
	case len(pairs) == 0:
		return terms
	case token.HasHan(name):
		return pairs
	}
	return pairs[:1]
}

// single tells whether a term is one sign of a script without spaces.
func single(term string) bool {
	r, n := utf8.DecodeRuneInString(term)
	return n == len(term) && r >= 0x0e00 && unicode.IsLetter(r)
}

// parts of the flags of a passage.
const (
	flagAsks = 1 << iota // it has a question
	flagTime             // it speaks of a time
)

func flagsOf(text string) int {
	f := 0
	if strings.ContainsAny(text, "?？") || strings.HasSuffix(strings.TrimRight(text, "。！!~ "), "吗") {
		f |= flagAsks
	}
	if speaksOfTime(text) {
		f |= flagTime
	}
	return f
}
