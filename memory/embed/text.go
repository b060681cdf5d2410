package embed

import (
	"strings"
	"unicode/utf8"
)

// cut is the beginning of a text, at most maxText bytes of whole signs.
func cut(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, " "))
	if len(text) <= maxText {
		return text
	}
	n := maxText
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
