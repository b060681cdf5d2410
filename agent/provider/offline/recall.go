package offline

import (
	"regexp"
	"strings"

	"homeagent/agent/home"
	"homeagent/agent/intent"
)

// maxFacts bounds how many facts an answer tells.
const maxFacts = 5

// remembered is one fact as memory_recall writes it: "- fact<TAB>(note)".
type remembered struct {
	text string
	past bool
}

// factsIn reads the lines of a memory tool that are facts; other is the first
// line that is none.
func factsIn(text string) (facts []remembered, other string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		fact, isFact := strings.CutPrefix(line, "- ")
		if strings.HasPrefix(line, "* ") || strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：") {
			continue // what was said, which is not known to be so, and its heading
		}
		switch {
		case isFact:
			fact, note, _ := strings.Cut(fact, "\t")
			if fact = strings.TrimRight(strings.TrimSpace(fact), "。."); fact != "" {
				facts = append(facts, remembered{fact, strings.Contains(note, "现在已不是") || strings.Contains(note, "no longer")})
			}
		case line != "" && other == "":
			other = line
		}
	}
	return facts, other
}

// recalled makes an answer of what memory_recall gave. The facts come best
// first and reach beyond the question; a question for a place or a value is
// answered by the first that speaks of the thing, one for everything by several.
func recalled(m intent.Match, text, question, lang string) string {
	facts, other := factsIn(text)
	if len(facts) == 0 {
		if about := strings.TrimSpace(m.Slots["thing"]); about != "" {
			return both(lang, "我没有记过关于“"+turned(about, lang)+"”的事。", "I have nothing about "+turned(about, lang)+" in my memory.")
		}
		if other != "" && intent.Lang(other, lang) == lang {
			return ended(other, lang)
		}
		return both(lang, "我没有记过这件事。", "I have nothing about that in my memory.")
	}
	facts = fitting(facts, m, question)
	limit := 1
	for _, w := range []string{"about", "everything", "关于", "哪些", "些什么", "的事", "记忆"} {
		if strings.Contains(strings.ToLower(question), w) {
			limit = maxFacts
		}
	}
	var out []string
	for _, f := range facts[:min(limit, len(facts))] {
		s := turned(f.text, lang)
		if f.past {
			s = both(lang, "以前记的：", "I noted earlier: ") + s
		}
		out = append(out, s)
	}
	return upper(ended(strings.Join(out, both(lang, "；", "; ")), lang))
}

// fitting keeps the facts that name the thing asked for, those that still hold
// before those that did, and those that speak of the attribute asked for, or of
// a place where one is asked for, before others; all of them where none names it.
func fitting(facts []remembered, m intent.Match, question string) []remembered {
	want := nameOf(m.Slots["thing"])
	attribute := home.Fold(m.Slots["attribute"])
	place := strings.Contains(question, "哪") || strings.Contains(strings.ToLower(question), "where")
	var groups [4][]remembered
	for _, f := range facts {
		folded := home.Fold(f.text)
		if want != "" && !strings.Contains(folded, want) {
			continue
		}
		g := 0
		if f.past {
			g += 2
		}
		if attribute != "" && !strings.Contains(folded, attribute) || place && !placeWords.MatchString(f.text) {
			g++
		}
		groups[g] = append(groups[g], f)
	}
	var out []remembered
	for _, g := range groups {
		out = append(out, g...)
	}
	if len(out) == 0 {
		return facts
	}
	return out
}

// placeWords mark a fact that says where something is.
var placeWords = regexp.MustCompile(`(?i)[在放停藏搁]|\b(in|on|at|under|behind|beside|near|next to|above|below|inside|parked|kept|lives?)\b`)

// nameOf is a thing's name as it can be found in a fact: without article,
// owner and mark of possession.
func nameOf(thing string) string {
	t := strings.ToLower(strings.TrimSpace(thing))
	for _, p := range []string{"the ", "a ", "an ", "my ", "our ", "我们的", "我们", "我的", "我"} {
		if rest, ok := strings.CutPrefix(t, p); ok && rest != "" {
			t = rest
			break
		}
	}
	return home.Fold(strings.TrimSuffix(strings.TrimSuffix(t, "'s"), "的"))
}

// forgotten tells what memory_purge has taken away, or in its own words that
// it found nothing.
func forgotten(text, lang string) string {
	facts, _ := factsIn(text)
	if len(facts) == 0 {
		return toldBy(text, lang)
	}
	var out []string
	for _, f := range facts {
		out = append(out, turned(f.text, lang))
	}
	return both(lang, "忘掉了："+strings.Join(out, "；")+"。", "I have forgotten: "+strings.Join(out, "; ")+".")
}
