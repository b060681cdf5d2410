package offline

import (
	"strings"

	"homeagent/agent/home"
	"homeagent/agent/intent"
	"homeagent/agent/pattern"
)

// maxFacts bounds how many facts an answer tells.
const maxFacts = 5

// remembered is one fact as memory_recall writes it: "- fact<TAB>(note)".
type remembered struct {
	text string
	past bool
}

// saying is something that was said, as memory_recall writes it:
// "* text<TAB>(time, id)"; own is what the house itself has said.
type saying struct {
	text, day string
	own       bool
}

// factsIn reads the lines of a memory tool that are facts, and those that are
// what was said; other is the first line that is neither.
func factsIn(text string) (facts []remembered, said []saying, other string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		fact, isFact := strings.CutPrefix(line, "- ")
		if words, ok := strings.CutPrefix(line, "* "); ok {
			words, note, _ := strings.Cut(words, "\t")
			said = append(said, saying{strings.TrimSpace(words), day.FindString(note), ownID.MatchString(note)})
			continue
		}
		if strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：") {
			continue // a heading
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
	return facts, said, other
}

var (
	// day is a date as the notes have it.
	day = pattern.New(`\d{4}-\d{2}-\d{2}`)
	// ownID ends with an id that the mind gives to an answer.
	ownID = pattern.New(`/[fr]\d*[)）]$`)
)

// recalled makes an answer of what memory_recall gave. The facts come best
// first and reach beyond the question; a question for a place or a value is
// answered by the first that speaks of the thing, one for everything by several.
func recalled(m intent.Match, text, question, lang string) string {
	facts, said, other := factsIn(text)
	if fit := fitting(facts, m, question, lang); len(fit) > 0 {
		facts = fit
	} else if s := quoted(said, m, question, lang); s != "" {
		return s
	}
	if len(facts) == 0 {
		if about := strings.TrimSpace(m.Slots["thing"]); nameOf(about) != "" {
			return both(lang, "我没有记过关于“"+turned(about, lang)+"”的事。", "I have nothing about "+turned(about, lang)+" in my memory.")
		}
		if other != "" && intent.Lang(other, lang) == lang {
			return ended(other, lang)
		}
		return both(lang, "我没有记过这件事。", "I have nothing about that in my memory.")
	}
	limit := 1
	for _, w := range []string{"about", "everything", "关于", "哪些", "些什么", "的事", "记忆"} {
		if strings.Contains(strings.ToLower(question), w) {
			limit = maxFacts
		}
	}
	var out []string
	for _, f := range facts[:min(limit, len(facts))] {
		s := turned(dated.ReplaceAllString(f.text, "$1$3 ($2)"), lang)
		if f.past {
			s = both(lang, "以前记的：", "I noted earlier: ") + s
		}
		out = append(out, s)
	}
	return upper(ended(strings.Join(out, both(lang, "；", "; ")), lang))
}

// quoted tells, where no fact is known, what somebody said of the thing asked
// for: the best that names it, tells something and is no question; "" if nothing does.
func quoted(said []saying, m intent.Match, question, lang string) string {
	want := nameOf(m.Slots["thing"])
	if want == "" {
		return ""
	}
	for _, s := range said {
		folded := home.Fold(unowned(s.text))
		if s.own || !strings.Contains(folded, want) || folded == home.Fold(unowned(question)) || asks.MatchString(s.text) {
			continue
		}
		words := strings.TrimRight(s.text, "。.")
		if s.day == "" {
			return both(lang, "记得有人说过：“"+words+"”。", `Somebody said: "`+words+`".`)
		}
		return both(lang, s.day+" 说过：“"+words+"”。", "On "+s.day+` this was said: "`+words+`".`)
	}
	return ""
}

var (
	// asks marks what asks and does not tell.
	asks = pattern.New(`(?i)[?？]\s*$|[吗呢]\s*[。.]?$|哪[里儿个些]?|什么|多少|几点|怎么|^\s*(who|what|where|when|which|why|how|is|are|do|does|did|can|could)\b`)
	// before marks a question for what was and is no more.
	before = pattern.New(`(?i)以前|之前|从前|原来|过去|曾经|早先|\b(before|previously|formerly|used to|earlier|in the past|back then|once)\b`)
	// ofMe marks a question of the one who asks.
	ofMe = pattern.New(`(?i)我|咱|\b(i|me|my|we|our|us)\b`)
	// theUser begins a fact about whoever speaks.
	theUser = pattern.New(`(?i)^(用户|我|咱|(the )?user\b|i\b|my\b|we\b|our\b)`)
)

// fitting keeps the facts that name the thing asked for, those that still hold
// before those that did (after them where the question is for what was), and
// those that speak of the attribute asked for, or of a place where one is asked
// for, and in the language asked in, before others. Where none names it, all of
// them if the question names nothing else, else none.
func fitting(facts []remembered, m intent.Match, question, lang string) []remembered {
	want := nameOf(m.Slots["thing"])
	attribute := home.Fold(m.Slots["attribute"])
	place := strings.Contains(question, "哪") || strings.Contains(strings.ToLower(question), "where")
	was := before.MatchString(question)
	mine := want == "" && ofMe.MatchString(question)
	var groups [16][]remembered
	for _, f := range facts {
		folded := home.Fold(unowned(f.text))
		if want != "" && !strings.Contains(folded, want) {
			continue
		}
		g := 0
		if mine && !theUser.MatchString(f.text) {
			g += 8
		}
		if f.past != was {
			g += 4
		}
		if intent.Lang(f.text, lang) != lang {
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
	return out
}

// placeWords mark a fact that says where something is.
var placeWords = pattern.New(`(?i)[在放停藏搁]|\b(in|on|at|under|behind|beside|near|next to|above|below|inside|parked|kept|lives?)\b`)

// nameOf is a thing's name as it can be found in a fact: without article,
// owner, time and mark of possession; "" is the one who asks.
func nameOf(thing string) string {
	t := strings.ToLower(strings.TrimSpace(thing))
	t = strings.TrimSpace(nowWords.ReplaceAllString(t, ""))
	if ofOneself[t] {
		return ""
	}
	for _, p := range []string{"the ", "a ", "an ", "my ", "our ", "我们的", "我们", "我的", "我"} {
		if rest, ok := strings.CutPrefix(t, p); ok && rest != "" {
			t = rest
			break
		}
	}
	return home.Fold(unowned(t))
}

// unowned leaves out the marks of possession, which a fact may have elsewhere
// than the question.
func unowned(s string) string { return possessive.Replace(s) }

var possessive = strings.NewReplacer("'s", "", "’s", "", "的", "")

// dated is a fact with a date behind its relation, which is told at its end.
var dated = pattern.New(`^(.+?) ?\((\d{4}[-\d :/]*)\)( ?.+)$`)

// nowWords say when a question is for, and are no part of a name.
var nowWords = pattern.New(`^(现在|目前|如今|以前|之前|从前|原来|过去)|(现在|目前|如今|以前|之前|从前|原来|过去|当时)$|\b(now|before|currently|these days|at the moment)$`)

// ofOneself are the names of whoever asks.
var ofOneself = map[string]bool{"": true, "我": true, "我们": true, "咱们": true, "咱": true, "i": true, "we": true, "me": true, "us": true,
	"住": true, "我住": true, "我们住": true}

// forgotten tells what memory_purge has taken away, or in its own words that
// it found nothing.
func forgotten(text, lang string) string {
	facts, _, _ := factsIn(text)
	if len(facts) == 0 {
		return toldBy(text, lang)
	}
	var out []string
	for _, f := range facts {
		out = append(out, turned(f.text, lang))
	}
	return both(lang, "忘掉了："+strings.Join(out, "；")+"。", "I have forgotten: "+strings.Join(out, "; ")+".")
}
