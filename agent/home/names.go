package home

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// First is how the agent calls the thing in lang, else in any language that
// has a name, "zh" before "en"; "" if there is none.
func (n Names) First(lang string) string {
	for _, l := range []string{lang, "zh", "en"} {
		if len(n[l]) > 0 {
			return n[l][0]
		}
	}
	return ""
}

// Called is how the agent calls the room in lang, its id with blanks if it has no name.
func (r Room) Called(lang string) string { return called(r.Aliases, r.Name, lang) }

// Called is how the agent calls the device in lang, its id with blanks if it has no name.
func (d Device) Called(lang string) string { return called(d.Aliases, d.Name, lang) }

func called(n Names, id, lang string) string {
	if len(n[lang]) > 0 {
		return n[lang][0]
	}
	if lang == "en" {
		return strings.ReplaceAll(id, "_", " ")
	}
	if s := n.First(lang); s != "" {
		return s
	}
	return strings.ReplaceAll(id, "_", " ")
}

// Fold is a name in the form in which two names are compared: compatibility
// forms and case folded, everything that is neither letter nor digit left out.
// "Living-room Lamp" and "livingroom lamp" are the same name.
func Fold(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKC.String(name) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}
