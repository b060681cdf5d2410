package sentence

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	fence   = regexp.MustCompile("(?s)```.*?(?:```|$)")
	picture = regexp.MustCompile(`!\[([^\]\n]*)\]\([^)\s]*\)`)
	link    = regexp.MustCompile(`\[([^\]\n]+)\]\([^)\s]*\)`)
	address = regexp.MustCompile(`https?://[^\s<>()，。；、！？）】]+`)
	// marks stand at the beginning of a line: headings, quotes, list items.
	marks = regexp.MustCompile(`(?m)^[ \t]*(?:#{1,6}|>+|[-*+])[ \t]+`)
	rule  = regexp.MustCompile(`(?m)^[ \t]*(?:[-*_=][ \t]*){3,}$`)
)

// Plain returns the text without what only an eye can use: code blocks, web
// addresses, Markdown marks, emoji and control characters. Line ends become
// sentence ends. The result holds no two spaces in a row and is "" where
// nothing can be spoken, that is, where no letter and no digit is left.
func Plain(text string) string {
	text = strings.ToValidUTF8(text, "")
	text = fence.ReplaceAllString(text, "\n")
	text = picture.ReplaceAllString(text, "$1")
	text = link.ReplaceAllString(text, "$1")
	text = address.ReplaceAllString(text, "")
	text = rule.ReplaceAllString(text, "")
	text = marks.ReplaceAllString(text, "")

	var b strings.Builder
	b.Grow(len(text))
	last, space, spoken := rune(0), false, false
	put := func(r rune) {
		if space && last != 0 && !strings.ContainsRune(",.;:!?，。；：！？、", r) {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
		last = r
	}
	for _, r := range text {
		switch {
		case r == '\n' || r == '\r':
			if last != 0 && last != '.' && !ends(last) && !pauses(last) {
				if unicode.Is(unicode.Han, last) {
					put('。')
				} else {
					put('.')
				}
			}
			space = true
		case unicode.IsSpace(r):
			space = true
		case strings.ContainsRune("*_`~|#^\\<>{}[]", r):
			// Marks of Markdown and of engines' own notations ("[[" begins
			// phonemes for espeak); a word on either side stays apart.
			space = space || r == '|' || r == '\\'
		case silent(r):
		default:
			spoken = spoken || unicode.IsLetter(r) || unicode.IsDigit(r)
			put(r)
		}
	}
	if !spoken {
		return ""
	}
	return b.String()
}

// silent reports characters that no voice can read: control characters,
// invisible marks, emoji and other pictures.
func silent(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs) ||
		r >= 0x1F000 && r <= 0x1FAFF || r >= 0x2500 && r <= 0x27BF || r >= 0x2B00 && r <= 0x2BFF ||
		r >= 0xFE00 && r <= 0xFE0F || r == 0x20E3 || r >= 0xE0000
}
