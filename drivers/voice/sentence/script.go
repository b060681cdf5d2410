package sentence

import (
	"strings"
	"unicode"
)

// Part is a run of text in one script.
type Part struct {
	Text string
	// Lang is "zh" for Chinese characters, "en" for any other letters.
	Lang string
}

// Parts cuts a text by script. Digits, punctuation and single Latin letters
// (units, "A 区") stay with the part before them, or with the first letters
// that follow; a text without letters is one part in lang. Joining the parts'
// texts gives the valid part of the text back.
func Parts(text, lang string) []Part {
	text = strings.ToValidUTF8(text, "")
	var parts []Part
	from, cur := 0, ""
	runes := []rune(text)
	at := 0 // byte position of runes[i]
	for i, r := range runes {
		s := script(runes, i)
		if s != "" && cur != "" && s != cur {
			parts = append(parts, Part{text[from:at], cur})
			from = at
		}
		if s != "" {
			cur = s
		}
		at += len(string(r))
	}
	if cur == "" {
		cur = lang
	}
	if from < len(text) {
		parts = append(parts, Part{text[from:], cur})
	}
	return parts
}

// script names the script of one character, "" where it fits to either.
func script(runes []rune, i int) string {
	switch r := runes[i]; {
	case unicode.Is(unicode.Han, r):
		return "zh"
	case !unicode.IsLetter(r) || alone(runes, i):
		return ""
	}
	return "en"
}

// alone reports a letter that has no letter of another kind than Han beside it.
func alone(runes []rune, i int) bool {
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(runes) && unicode.IsLetter(runes[j]) && !unicode.Is(unicode.Han, runes[j]) {
			return false
		}
	}
	// "I" and "a" are words: beside a space they stay English.
	if (runes[i] == 'I' || runes[i] == 'a' || runes[i] == 'A') && i+1 < len(runes) && runes[i+1] == ' ' {
		return i > 0 && unicode.Is(unicode.Han, runes[i-1])
	}
	return true
}
