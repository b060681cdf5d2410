package distill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"homeagent/agent/pattern"
	"homeagent/memory/token"
)

// sentence is one sentence and the signs it ended with.
type sentence struct{ text, end string }

// maxSentence is the longest sentence that is looked at, in bytes; nobody says
// longer ones.
const maxSentence = 600

// aside are descriptions in brackets, as of a photo that was sent, and code.
var aside = pattern.New("(?s)```.*?```|`[^`]*`|\\[[^\\]]{0,300}\\]|【[^】]{0,300}】")

// shortForms end with a point that ends no sentence.
var shortForms = pattern.New(`(?i)\b(dr|mr|mrs|ms|st|prof|jr|sr|vs|etc|no|a\.m|p\.m|e\.g|i\.e|approx|apt|ave)$`)

// sentences cuts a text at the ends of its sentences.
func sentences(s string) []sentence {
	s = strings.NewReplacer("’", "'", "‘", "'", "\u00a0", " ").Replace(aside.ReplaceAllString(s, " "))
	var out []sentence
	begin := 0
	put := func(end, next int) {
		if t := strings.TrimSpace(s[begin:end]); t != "" {
			out = append(out, sentence{t, strings.TrimSpace(s[end:next])})
		}
		begin = next
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !endSign(s, i, r) {
			i += n
			continue
		}
		next := i + n
		for next < len(s) {
			r, n := utf8.DecodeRuneInString(s[next:])
			if !strings.ContainsRune("。！？!?.…", r) {
				break
			}
			next += n
		}
		put(i, next)
		i = next
	}
	put(len(s), len(s))
	return out
}

// endSign tells whether the sign r at s[i] ends a sentence.
func endSign(s string, i int, r rune) bool {
	switch r {
	case '。', '！', '？', '!', '?', '；', ';', '\n', '…':
		return true
	case '.':
		next, _ := utf8.DecodeRuneInString(s[i+1:])
		if i+1 < len(s) && !unicode.IsSpace(next) && !strings.ContainsRune(`"')”.`, next) {
			return false // 3.5, a.m., a file's name
		}
		return !shortForms.MatchString(s[max(0, i-8):i])
	}
	return false
}

// question tells whether a sentence ended as one.
func (s sentence) question() bool { return strings.ContainsAny(s.end, "?？") }

// chinese tells which grammar reads a text: Chinese where it has more Han signs
// than Latin words.
func chinese(text, lang string) bool {
	if !token.HasHan(text) {
		return false
	}
	han, words, in := 0, 0, false
	for _, r := range text {
		latin := r < 0x80 && unicode.IsLetter(r)
		switch {
		case unicode.Is(unicode.Han, r):
			han++
		case latin && !in:
			words++
		}
		in = latin
	}
	return han > words || han == words && lang == "zh"
}
