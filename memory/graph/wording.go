package graph

import (
	"hash/fnv"
	"strings"
	"unicode"

	"homeagent/memory/token"
)

// empty are words that a sentence may have or not and says the same. The list
// is short: no negation, no tense, no direction, no owner.
var (
	emptyWords = set("a", "an", "the", "very", "really", "also", "just", "indeed")
	emptySigns = set("的", "很", "啊", "呀", "呢", "吧", "嘛", "哦", "噢")
)

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// nameKey is what names are compared by: token.Fold without punctuation and
// quotes around it, without an English article, without spaces between Han signs.
func nameKey(name string) string {
	f := token.Fold(name)
	key := strings.TrimFunc(f, func(r rune) bool {
		return strings.ContainsRune(" .,;:!?。、,'\"“”‘’«»「」『』《》…·", r)
	})
	for _, article := range []string{"the ", "an ", "a "} {
		if rest, ok := strings.CutPrefix(key, article); ok && strings.TrimSpace(rest) != "" {
			key = strings.TrimSpace(rest)
			break
		}
	}
	if key == "" {
		return f
	}
	return closeHan(key)
}

// closeHan takes out the spaces between two Han signs.
func closeHan(s string) string {
	if !token.HasHan(s) || !strings.Contains(s, " ") {
		return s
	}
	in := []rune(s)
	out := in[:0:0]
	for i, r := range in {
		if r == ' ' && i > 0 && i+1 < len(in) && unicode.Is(unicode.Han, in[i-1]) && unicode.Is(unicode.Han, in[i+1]) {
			continue
		}
		out = append(out, r)
	}
	return string(out)
}

// wording cuts a sentence into what counts of it: words and Han signs in their
// order, without punctuation and empty words.
func wording(text string) []string {
	var out []string
	var word strings.Builder
	end := func() {
		w := word.String()
		word.Reset()
		if w != "" && !emptyWords[w] {
			out = append(out, w)
		}
	}
	for _, r := range token.Fold(text) {
		switch {
		case unicode.Is(unicode.Han, r):
			end()
			if s := string(r); !emptySigns[s] {
				out = append(out, s)
			}
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || unicode.In(r, unicode.So, unicode.Sk) || r == 0x200d:
			word.WriteRune(r)
		case r == '\'' || r == '’':
			// "bob's" and "don't" stay one word.
			word.WriteRune('\'')
		default:
			end()
			if unicode.IsSymbol(r) {
				// "+5" and "-5", "a < b": a sign may be all the difference.
				out = append(out, string(r))
			}
		}
	}
	end()
	return out
}

// said is the sum by which facts that were told in the same words are found,
// wherever the words were cut into subject, relation and object.
func said(subject, relation, object string) int64 {
	h := fnv.New64a()
	for _, w := range wording(join(subject, relation, object)) {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	return int64(h.Sum64())
}
