package sentence

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ends reports the characters that end a sentence whatever follows.
func ends(r rune) bool { return strings.ContainsRune("。！？!?…；;\n", r) }

// pauses reports the characters at which a sentence that is too long is cut.
func pauses(r rune) bool { return strings.ContainsRune("，、,:：—", r) }

// closing follows a sentence end and belongs to it.
func closing(r rune) bool {
	return strings.ContainsRune("”’」』）)\"'", r) || ends(r) || r == '.'
}

// Split cuts text at sentence ends. No piece is longer than max characters: a
// sentence that is goes in pieces, cut at the last comma, else at the last
// space, else hard. A full stop ends a sentence only before a space or the
// text's end, so that "23.5" and "v1.2" stay whole. Pieces are trimmed and
// never empty. A max below 1 is taken as 1. The text is read as it is consumed.
func Split(text string, max int) iter.Seq[string] {
	if max < 1 {
		max = 1
	}
	text = strings.ToValidUTF8(text, "")
	return func(yield func(string) bool) {
		for len(text) > 0 {
			n := first(text, max)
			piece := strings.TrimSpace(text[:n])
			text = text[n:]
			if piece != "" && !yield(piece) {
				return
			}
		}
	}
}

// first is the length in bytes of the first piece of text, at least one character.
func first(text string, max int) int {
	comma, space := 0, 0
	count := 0
	for i, r := range text {
		if count == max {
			switch {
			case comma > 0:
				return comma
			case space > 0:
				return space
			}
			return i
		}
		count++
		next := i + utf8.RuneLen(r)
		switch {
		case ends(r) || r == '.' && stops(text[next:]):
			return follow(text, next, max-count)
		case pauses(r) && !between(text, i, next):
			comma = next
		case unicode.IsSpace(r):
			space = next
		}
	}
	return len(text)
}

// stops reports whether a full stop before rest ends a sentence.
func stops(rest string) bool {
	r, n := utf8.DecodeRuneInString(rest)
	return n == 0 || unicode.IsSpace(r) || closing(r)
}

// between reports whether the mark at i stands between two digits, as in "1,000" or "7:30".
func between(text string, i, next int) bool {
	a, _ := utf8.DecodeLastRuneInString(text[:i])
	b, _ := utf8.DecodeRuneInString(text[next:])
	return unicode.IsDigit(a) && unicode.IsDigit(b)
}

// follow takes up to room characters that close the sentence that ends at i.
func follow(text string, i, room int) int {
	for _, r := range text[i:] {
		if room == 0 || !closing(r) {
			break
		}
		room--
		i += utf8.RuneLen(r)
	}
	return i
}

// Cut returns the longest run of whole sentences that has at most max
// characters and whether anything was left out. The first sentence is cut hard
// where it alone is longer.
func Cut(text string, max int) (head string, more bool) {
	text = strings.ToValidUTF8(text, "")
	if utf8.RuneCountInString(text) <= max {
		return text, false
	}
	end, left := 0, max
	for end < len(text) {
		n := first(text[end:], max)
		c := utf8.RuneCountInString(text[end : end+n])
		if c > left {
			break
		}
		end, left = end+n, left-c
	}
	return strings.TrimSpace(text[:end]), true
}
