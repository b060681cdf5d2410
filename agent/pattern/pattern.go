// Package pattern holds regular expressions that are compiled when they are
// first used. The rules of a language are a hundred and more of them: compiled
// at the start they cost a Pi a good part of its first second, and memory for as
// long as the house says nothing that they are for.
//
// It is regexp otherwise; what regexp says of its methods is true here.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression. It is safe for concurrent use.
type Pattern struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

// New takes a pattern down. One that does not compile panics at its first use, as
// regexp.MustCompile does at once; Must tells earlier.
func New(text string) *Pattern { return &Pattern{text: text} }

// Must compiles the pattern now.
func (p *Pattern) Must() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.text) })
	return p.re
}

// String is the text that New was given.
func (p *Pattern) String() string { return p.text }

func (p *Pattern) MatchString(s string) bool            { return p.Must().MatchString(s) }
func (p *Pattern) FindString(s string) string           { return p.Must().FindString(s) }
func (p *Pattern) FindStringIndex(s string) []int       { return p.Must().FindStringIndex(s) }
func (p *Pattern) FindStringSubmatch(s string) []string { return p.Must().FindStringSubmatch(s) }
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	return p.Must().FindStringSubmatchIndex(s)
}
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.Must().FindAllStringSubmatchIndex(s, n)
}
func (p *Pattern) ReplaceAllString(s, with string) string { return p.Must().ReplaceAllString(s, with) }
func (p *Pattern) ReplaceAllStringFunc(s string, with func(string) string) string {
	return p.Must().ReplaceAllStringFunc(s, with)
}
func (p *Pattern) Split(s string, n int) []string { return p.Must().Split(s, n) }
