package intent

import (
	"regexp"
	"strings"
	"unicode"

	"homeagent/agent/home"
)

// maxTokens bounds a sentence that is looked at.
const maxTokens = 160

// intentDef is one intent of the file.
type intentDef struct {
	name, tool string
	asks       bool
	args       map[string]any
}

// template is one sentence form of an intent.
type template struct {
	lang   string
	prog   program
	def    *intentDef
	spoken node // for the grammar; nil keeps it out
	first  border
	last   border
}

// Set is what can be said. Load or Default makes one.
type Set struct {
	home      *home.Home
	slots     map[string]slot
	intents   []*intentDef
	templates []*template
	asides    []*template
	words     []string // of the programs
	names     [][]string
}

// WithNames returns a copy of the set that takes the names as the box's own
// when a sentence begins or ends with one ("jarvis, turn on the lamp").
func (s *Set) WithNames(names ...string) *Set {
	c := *s
	c.names = nil
	for _, n := range names {
		toks, _ := tokenise(n)
		var words []string
		for _, t := range toks {
			words = append(words, t.text)
		}
		if len(words) > 0 {
			c.names = append(c.names, words)
		}
	}
	return &c
}

// Home is the household that the set was made for.
func (s *Set) Home() *home.Home { return s.home }

// Intents lists the names of the intents in their order.
func (s *Set) Intents() []string {
	var out []string
	for _, d := range s.intents {
		out = append(out, d.name)
	}
	return out
}

// Lang guesses a sentence's language: "zh" where it holds a Han character,
// "en" where it holds other letters, else the fallback.
func Lang(text, fallback string) string {
	letters := false
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			return "zh"
		}
		letters = letters || unicode.IsLetter(r)
	}
	if letters {
		return "en"
	}
	return fallback
}

// minus is a sign before digits that is no hyphen between words or numbers.
var minus = regexp.MustCompile(`(^|[^a-z0-9])[-−–]\s?\d|(负|minus |negative )[\d一二三四五六七八九十零百]`)

// negative reports whether a text holds a number below zero.
func negative(text string) bool { return minus.MatchString(strings.ToLower(text)) }

// Parse tells what a sentence means. lang, "zh" or "en", is tried first, then
// the other; "" guesses. False means that nothing is to be done: either the
// sentence means none of the intents and Match is empty, or Match.Problem says
// why an understood command cannot be carried out.
func (s *Set) Parse(text, lang string) (Match, bool) {
	if len(text) > maxText {
		return Match{}, false
	}
	if negative(text) {
		return Match{}, false // nothing here takes a number below zero
	}
	toks, question := tokenise(text)
	if len(toks) == 0 || len(toks) > maxTokens {
		return Match{}, false
	}
	lang = Lang(text, lang)
	m, ok := s.parse(toks, question, text, lang)
	if ok || m.Problem != "" {
		return m, ok
	}
	if m, ok := s.withoutAsides(toks, question, text, lang, nil, 3); ok || m.Problem != "" {
		return m, ok
	}
	return s.twice(toks, question, text, lang)
}

// parse looks at one sentence without what stands beside it.
func (s *Set) parse(toks []token, question bool, text, lang string) (Match, bool) {
	tries := s.attempts(toks, question)
	for _, l := range []string{lang, other(lang)} {
		if m, ok := s.best(tries, text, l); ok {
			return m, m.Problem == ""
		}
	}
	for _, a := range tries {
		if m, ok := s.unknownDevice(a, text, lang); ok {
			return m, false
		}
	}
	return Match{}, false
}

// attempt is one form of a sentence.
type attempt struct {
	toks     []token
	question bool
	tolerant bool
	// doubtfulFront and doubtfulEnd forbid a free slot there.
	doubtfulFront, doubtfulEnd bool
	// devices keeps a sentence whose words were moved to commands for devices.
	devices bool
}

// attempts are the forms of a sentence: as it is, without politeness at its
// end, without any, without what is only perhaps politeness, and with the room
// moved to what is in it.
func (s *Set) attempts(toks []token, question bool) []attempt {
	tries := []attempt{{toks: toks, question: question}}
	seen := map[[2]int]bool{}
	add := func(rest []token, from int, p politeness) {
		key := [2]int{from, from + len(rest)}
		if seen[key] {
			return
		}
		seen[key] = true
		a := attempt{toks: rest, question: (question || p.question) && !p.asking, tolerant: true,
			doubtfulFront: p.doubtfulFront, doubtfulEnd: p.doubtfulEnd}
		tries = append(tries, a)
		if moved, ok := s.moveRoom(rest); ok {
			a.toks, a.devices = moved, true
			tries = append(tries, a)
		}
	}
	for _, doubtful := range []bool{false, true} {
		short, end := stripEnd(toks, s.names, doubtful)
		add(short, 0, end)
		plain, front := stripFront(short, s.names, doubtful)
		front.asking = front.asking || end.asking
		front.question, front.doubtfulEnd = end.question, end.doubtfulEnd
		add(plain, len(short)-len(plain), front)
	}
	return tries
}

// best returns the match that leaves the fewest words to a free slot; of equal
// ones the one whose other slots take the most (一个半小时 is no half hour), then
// the one that needed no tolerance, then the first of the file.
func (s *Set) best(tries []attempt, src, lang string) (Match, bool) {
	var won *template
	var caps []capture
	least := 0
	r := &run{words: s.words}
	for _, a := range tries {
		cache := map[slotAt][]candidate{}
		r.toks, r.tolerant = a.toks, a.tolerant
		r.slot = func(name string, pos int) []candidate { return s.candidates(cache, name, a.toks, pos, src) }
		for _, t := range s.templates {
			if t.lang != lang || a.question && !t.def.asks || a.devices && t.def.tool != toolDevice || !t.mayMatch(a) {
				continue
			}
			r.prog = t.prog
			if !r.match() || a.doubts(r.captures) {
				continue
			}
			free := 0
			for _, c := range r.captures {
				free += c.free
			}
			if won == nil || free < least || free == least && understood(r.captures) > understood(caps) {
				won, caps, least = t, r.captures, free
			}
		}
	}
	if won == nil {
		return Match{}, false
	}
	return won.def.fill(s, lang, caps), true
}

// doubts tells that a free slot touches an end where a part of it may be lost.
func (a attempt) doubts(caps []capture) bool {
	for _, c := range caps {
		if c.free > 0 && (a.doubtfulFront && c.end == c.free || a.doubtfulEnd && c.end == len(a.toks)) {
			return true
		}
	}
	return false
}

// understood counts the tokens that slots took in with understanding.
func understood(caps []capture) int {
	n := 0
	for _, c := range caps {
		if c.free == 0 {
			n += c.length
		}
	}
	return n
}

type slotAt struct {
	name string
	pos  int
}

// candidates reads a slot once for each place of a sentence.
func (s *Set) candidates(cache map[slotAt][]candidate, name string, toks []token, pos int, src string) []candidate {
	if pos >= len(toks) {
		return nil
	}
	key := slotAt{name, pos}
	c, ok := cache[key]
	if !ok {
		c = s.slots[name].match(toks, pos, src)
		cache[key] = c
	}
	return c
}

// mayMatch tells at a glance that a template cannot match.
func (t *template) mayMatch(a attempt) bool {
	return t.first.fits(a.toks, 0, 1, a.tolerant) && t.last.fits(a.toks, len(a.toks)-1, -1, a.tolerant)
}

// unknownDevice finds a command that is whole but for a device that the
// household does not have.
func (s *Set) unknownDevice(a attempt, src, lang string) (Match, bool) {
	if a.question || a.devices || !a.tolerant {
		return Match{}, false
	}
	cache := map[slotAt][]candidate{}
	r := &run{words: s.words, toks: a.toks, tolerant: a.tolerant, slot: func(name string, pos int) []candidate {
		if s.slots[name].devices {
			return readThing(a.toks, pos, src)
		}
		return s.candidates(cache, name, a.toks, pos, src)
	}}
	for _, t := range s.templates {
		if t.lang != lang || t.def.tool != toolDevice || !t.mayMatch(a) {
			continue
		}
		r.prog = t.prog
		if !r.match() {
			continue
		}
		m := Match{Intent: t.def.name, Lang: lang, Slots: map[string]string{}, Problem: NoDevice}
		for _, c := range r.captures {
			if s.slots[c.slot].devices {
				m.Unknown = withoutArticle(c.text)
			}
		}
		return m, true
	}
	return Match{}, false
}

func other(lang string) string {
	if lang == "zh" {
		return "en"
	}
	return "zh"
}

// withoutArticle is a name as one would list it.
func withoutArticle(s string) string {
	for _, a := range []string{"the ", "a ", "an ", "my ", "our "} {
		if len(s) > len(a) && strings.EqualFold(s[:len(a)], a) {
			return s[len(a):]
		}
	}
	return s
}
