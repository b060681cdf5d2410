package intent

import (
	"strings"
)

// phrase is one way to say a value of a slot.
type phrase struct {
	// folded is the phrase's tokens without spaces: "livingroom" is "living room".
	folded string
	// written is how it stands in the grammar; "" keeps it out.
	written string
	lang    string
	value   string
	any     any
	// where names what the phrase comes from, for a report of missing words.
	where string
}

// phrases is a slot with a list of values. Where two say the same, the one
// added first holds.
type phrases struct {
	list []phrase
	// byFirst finds the phrases that begin with a byte.
	byFirst map[byte][]int
	have    map[string]bool
	// determiners lets articles stand between the words of a phrase.
	determiners bool
	// links are Chinese characters that may stand inside a phrase: 厨房里面的那盏灯.
	links map[string]bool
}

func newPhrases(determiners bool) *phrases {
	return &phrases{byFirst: map[byte][]int{}, have: map[string]bool{}, determiners: determiners}
}

// add takes a phrase unless it says nothing or is there already.
func (ps *phrases) add(lang, text, value, where string, val any, grammar bool) {
	toks, _ := tokenise(text)
	var b strings.Builder
	for _, t := range toks {
		if t.hard {
			continue
		}
		if !ps.determiners || !isDeterminer[t.text] || len(toks) == 1 {
			b.WriteString(t.text)
		}
	}
	p := phrase{folded: b.String(), lang: lang, value: value, any: val, where: where}
	if p.folded == "" || ps.have[p.folded] {
		return
	}
	if grammar {
		p.written = text
	}
	ps.have[p.folded] = true
	ps.byFirst[p.folded[0]] = append(ps.byFirst[p.folded[0]], len(ps.list))
	ps.list = append(ps.list, p)
}

// match lists the phrases that stand at pos, the longest first.
func (ps *phrases) match(toks []token, pos int) []candidate {
	start := pos
	if ps.determiners {
		for start < len(toks) && isDeterminer[toks[start].text] {
			start++
		}
	}
	if start >= len(toks) {
		return nil
	}
	var out []candidate
	for _, i := range ps.byFirst[toks[start].text[0]] {
		p := &ps.list[i]
		if end := ps.reach(p.folded, toks, start); end > 0 {
			out = append(out, candidate{end: end, text: p.value, value: p.any})
		}
	}
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && out[j].end > out[j-1].end; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// reach returns the token behind the phrase, 0 if it does not stand at pos.
func (ps *phrases) reach(rest string, toks []token, pos int) int {
	for ; pos < len(toks) && rest != ""; pos++ {
		t := toks[pos]
		if r, ok := strings.CutPrefix(rest, t.text); ok && !t.hard {
			rest = r
		} else if (!ps.determiners || !isDeterminer[t.text]) && !ps.links[t.text] {
			return 0
		}
	}
	if rest != "" {
		return 0
	}
	return pos
}
