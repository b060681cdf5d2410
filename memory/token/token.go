package token

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Version counts changes of what Terms returns.
const Version = 2

// maxWord is the longest word taken as one term, in bytes; of longer ones
// (base64, hashes) the beginning is.
const maxWord = 48

// Terms returns the terms of text in order, repetitions included. Stop words
// and what is neither word nor sign are left out; an emoji is a term. Invalid
// UTF-8 and control characters separate.
func Terms(text string) []string {
	c := cutter{terms: make([]string, 0, len(text)/4+4)}
	if !ascii(text) {
		text = norm.NFKC.String(text)
	}
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			c.ascii(byte(r))
		case r == utf8.RuneError:
			c.flush()
		case spaceless(r):
			c.sign(r)
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			c.letter(r)
		case unicode.Is(unicode.Mn, r) || r == 0x200d || r == 0xfe0f:
			// A mark belongs to what it stands on; joiners hold an emoji together.
		case unicode.Is(unicode.So, r):
			c.flush()
			c.terms = append(c.terms, string(r))
		case r == '’':
			c.ascii('\'')
		default:
			c.flush()
		}
	}
	c.flush()
	return c.terms
}

// Set returns the different terms of text in the order of their first sight,
// at most limit.
func Set(text string, limit int) []string {
	terms := Terms(text)
	seen := make(map[string]bool, len(terms))
	out := terms[:0]
	for _, t := range terms {
		if len(out) == limit {
			break
		}
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// HasHan tells whether text has a Han sign, which is how the house guesses
// that a text is Chinese.
func HasHan(text string) bool {
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			return true
		}
	}
	return false
}

// Fold is the form in which names are compared: compatibility forms unified,
// lower case, runs of space as one, none at the ends.
func Fold(name string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(name))), " ")
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// spaceless tells whether the script of r writes without spaces between words.
func spaceless(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// cutter collects a word, or remembers the sign before, and never both.
type cutter struct {
	terms []string
	word  []byte
	prev  rune
}

func (c *cutter) ascii(b byte) {
	switch {
	case b >= 'a' && b <= 'z' || b >= '0' && b <= '9':
		c.add(b)
	case b >= 'A' && b <= 'Z':
		c.add(b + 'a' - 'A')
	case b == '\'' && len(c.word) > 0:
		// "what's", "don't": the part behind is an ending, dropped by word.
		c.add(b)
	default:
		c.flush()
	}
}

func (c *cutter) add(b ...byte) {
	c.prev = 0
	if len(c.word) < maxWord {
		c.word = append(c.word, b...)
	}
}

// letter adds a letter of an alphabet; Latin ones lose their accents, so that
// "cafe" finds "café".
func (c *cutter) letter(r rune) {
	r = unicode.ToLower(r)
	if unicode.Is(unicode.Latin, r) {
		var buf [utf8.UTFMax]byte
		d := norm.NFD.Properties(buf[:utf8.EncodeRune(buf[:], r)]).Decomposition()
		if len(d) > 0 {
			r, _ = utf8.DecodeRune(d)
		}
	}
	c.add(utf8.AppendRune(nil, r)...)
}

// sign adds a sign of a spaceless script and the pair it makes with the one before.
func (c *cutter) sign(r rune) {
	prev := c.prev
	c.flush()
	stop := stopSigns[r]
	if prev != 0 && !(stop && stopSigns[prev]) {
		c.terms = append(c.terms, string([]rune{prev, r}))
	}
	if !stop {
		c.terms = append(c.terms, string(r))
	}
	c.prev = r
}

// flush ends a word and a run of signs.
func (c *cutter) flush() {
	c.prev = 0
	if len(c.word) == 0 {
		return
	}
	w := string(c.word)
	c.word = c.word[:0]
	if i := strings.IndexByte(w, '\''); i >= 0 {
		if w[i:] == "'t" {
			return // don't, isn't, can't: no content
		}
		w = w[:i]
	}
	if w == "" || stopWords[w] {
		return
	}
	c.terms = append(c.terms, stem(w))
}
