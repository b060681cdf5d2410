package intent

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
)

// maxAlternatives bounds one rule of the grammar; what is beyond it is left
// out, the same each time.
const maxAlternatives = 4000

// grammarLang is the language that has a grammar, as it has an acoustic model.
const grammarLang = "en"

// GrammarOptions shape a grammar.
type GrammarOptions struct {
	// Known reports whether a word, in small letters, has a pronunciation. What
	// needs an unknown word is left out and reported. Nil knows every word.
	Known func(word string) bool
	// Extra are whole sentences to accept besides the intents.
	Extra []string
}

// Missing is a word without a pronunciation.
type Missing struct {
	Word string
	// Phrase is what cannot be heard for the lack of it, and Where what it
	// belongs to: "device living_room_lamp", "intent timer_set".
	Phrase, Where string
}

// String says it for a log or a report.
func (m Missing) String() string {
	return fmt.Sprintf("%s: no pronunciation for %q in %q", m.Where, m.Word, m.Phrase)
}

// Grammar is JSGF without a dictionary and without extra sentences.
func (s *Set) Grammar(lang string) string {
	g, _ := s.JSGF(lang, GrammarOptions{})
	return g
}

// CheckPronunciation lists the words of the commands and of the household's
// names that known does not have.
func (s *Set) CheckPronunciation(lang string, known func(word string) bool) []Missing {
	_, m := s.JSGF(lang, GrammarOptions{Known: known})
	return m
}

// JSGF makes the grammar of what can be said, in the form that PocketSphinx
// reads, with every number spelt out. Sentences with a free slot are left out:
// a closed grammar cannot hold them. The same set gives the same text. Only
// English has one; "" for any other language or where nothing can be said.
func (s *Set) JSGF(lang string, o GrammarOptions) (string, []Missing) {
	if lang != grammarLang {
		return "", nil
	}
	g := &grammar{set: s, known: o.Known, rules: map[string]string{}, reported: map[string]bool{}}
	var tops []string
	for _, def := range s.intents {
		var alts []string
		for _, t := range s.templates {
			if t.def != def || t.lang != lang || t.spoken == nil || len(alts) >= maxAlternatives {
				continue
			}
			if text, ok := g.render(t.spoken, "intent "+def.name); ok && text != "" {
				alts = append(alts, text)
			}
		}
		if len(alts) > 0 {
			g.rules["i_"+def.name] = strings.Join(unique(alts), "\n  | ")
			tops = append(tops, "<i_"+def.name+">")
		}
	}
	var extra []string
	for _, e := range o.Extra {
		if text, ok := g.say(e, "extra sentence"); ok {
			extra = append(extra, text)
		}
	}
	if len(extra) > 0 {
		g.rules["extra"] = strings.Join(unique(extra), "\n  | ")
		tops = append(tops, "<extra>")
	}
	if len(tops) == 0 {
		return "", g.missing
	}
	var b strings.Builder
	b.WriteString("#JSGF V1.0;\ngrammar homeagent;\n")
	please := g.optional("please")
	fmt.Fprintf(&b, "public <command> = %s(%s)%s;\n", please, strings.Join(tops, " | "), strings.TrimRight(" "+please, " "))
	names := make([]string, 0, len(g.rules))
	for name := range g.rules {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(&b, "<%s> = %s;\n", name, g.rules[name])
	}
	sort.SliceStable(g.missing, func(i, j int) bool {
		a, b := g.missing[i], g.missing[j]
		if a.Where != b.Where {
			return a.Where < b.Where
		}
		return a.Word < b.Word
	})
	return b.String(), g.missing
}

// grammar is one generation.
type grammar struct {
	set      *Set
	known    func(string) bool
	rules    map[string]string
	missing  []Missing
	reported map[string]bool
}

// optional is "[word] " or nothing where the word is unknown.
func (g *grammar) optional(word string) string {
	if g.known != nil && !g.known(word) {
		return ""
	}
	return "[" + word + "] "
}

// render turns a part of a template into the grammar's notation; false where
// it cannot be said.
func (g *grammar) render(n node, where string) (string, bool) {
	switch n := n.(type) {
	case wordNode:
		return g.say(n.written, where)
	case slotNode:
		return g.slot(n.name)
	case optNode:
		if text, ok := g.render(n.body, where); ok {
			if _, choice := n.body.(altNode); choice && strings.HasPrefix(text, "(") {
				text = text[1 : len(text)-1] // the brackets group as well
			}
			return "[" + text + "]", true
		}
		return "", true
	case seqNode:
		var parts []string
		for _, c := range n {
			text, ok := g.render(c, where)
			if !ok {
				return "", false
			}
			if text != "" {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, " "), true
	case altNode:
		var alts []string
		for _, c := range n {
			if text, ok := g.render(c, where); ok && text != "" {
				alts = append(alts, text)
			}
		}
		alts = unique(alts)
		switch len(alts) {
		case 0:
			return "", false
		case 1:
			return alts[0], true
		}
		return "(" + strings.Join(alts, " | ") + ")", true
	}
	return "", false
}

// say spells a phrase in words that are known. "[the]" passes as it is.
func (g *grammar) say(phrase, where string) (string, bool) {
	var out []string
	ok := true
	for _, f := range strings.Fields(phrase) {
		if f == "[the]" {
			if t := strings.TrimSpace(g.optional("the")); t != "" {
				out = append(out, t)
			}
			continue
		}
		for _, w := range spell(f) {
			if w == "" {
				return "", false
			}
			if g.known != nil && !g.known(w) {
				ok = false
				if !g.reported[where+" "+w] {
					g.reported[where+" "+w] = true
					g.missing = append(g.missing, Missing{Word: w, Phrase: strings.ReplaceAll(phrase, "[the] ", ""), Where: where})
				}
			}
			out = append(out, w)
		}
	}
	return strings.Join(out, " "), ok && len(out) > 0
}

// spell cuts one written word into words of letters; an empty word marks what
// no English dictionary holds.
func spell(f string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if w := strings.Trim(b.String(), "'"); w != "" {
			out = append(out, w)
		}
		b.Reset()
	}
	runes := []rune(f)
	for i := 0; i < len(runes); i++ {
		r := unicode.ToLower(runes[i])
		switch {
		case r == '’':
			b.WriteByte('\'')
		case r >= 'a' && r <= 'z' || r == '\'':
			b.WriteRune(r)
		case r >= '0' && r <= '9':
			flush()
			n := 0
			for ; i < len(runes) && runes[i] >= '0' && runes[i] <= '9' && n < 1000; i++ {
				n = 10*n + int(runes[i]-'0')
			}
			i--
			out = append(out, strings.Fields(numberWords(n))...)
		case r == '%':
			flush()
			out = append(out, "percent")
		case unicode.IsLetter(r):
			return []string{""}
		default:
			flush()
		}
	}
	flush()
	return out
}

func unique(list []string) []string {
	seen := map[string]bool{}
	out := list[:0]
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// slot makes the rule of a slot and refers to it.
func (g *grammar) slot(name string) (string, bool) {
	s := g.set.slots[name]
	rule := name
	if s.kind != "" {
		rule = s.kind
	}
	rule = "s_" + rule
	if text, ok := g.rules[rule]; ok {
		return "<" + rule + ">", text != ""
	}
	switch {
	case isFree(s.kind):
		return "", false
	case s.kind != "":
		for name, text := range spokenKinds[s.kind] {
			g.rules[name] = text
		}
	default:
		text := g.phrases(s.phrases)
		if text == "" {
			return "", false
		}
		g.rules[rule] = text
	}
	return "<" + rule + ">", true
}

func (g *grammar) phrases(ps *phrases) string {
	var alts []string
	for _, p := range ps.list {
		if p.written == "" || p.lang != grammarLang || len(alts) >= maxAlternatives {
			continue
		}
		if text, ok := g.say(p.written, p.where); ok {
			alts = append(alts, text)
		}
	}
	if len(alts) == 0 {
		return ""
	}
	return g.optional("the") + "(" + strings.Join(unique(alts), " | ") + ")"
}
