package intent

import (
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
	lang     string
	line     int
	root     node
	prog     program
	def      *intentDef
	spoken   bool // stands in the grammar
	first    map[string]bool
	anyFirst bool
}

// Set is what can be said. Load or Default makes one.
type Set struct {
	home      *home.Home
	slots     map[string]slot
	intents   []*intentDef
	templates []*template
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

// Parse tells what a sentence means. lang, "zh" or "en", is tried first, then
// the other; "" guesses. False means that nothing is to be done: either the
// sentence means none of the intents and Match is empty, or Match.Problem says
// why an understood command cannot be carried out.
func (s *Set) Parse(text, lang string) (Match, bool) {
	if len(text) > maxText {
		return Match{}, false
	}
	toks, question := tokenise(text)
	if len(toks) == 0 || len(toks) > maxTokens {
		return Match{}, false
	}
	lang = Lang(text, lang)
	tries := s.attempts(toks, question)
	for _, l := range []string{lang, other(lang)} {
		if m, ok := s.best(tries, text, l); ok {
			return m, m.Problem == ""
		}
	}
	if m, ok := s.unknownDevice(tries[len(tries)-1], text, lang); ok {
		return m, false
	}
	return Match{}, false
}

// attempt is one form of a sentence.
type attempt struct {
	toks     []token
	question bool
	tolerant bool
	// devices keeps a sentence whose words were moved to commands for devices.
	devices bool
}

// attempts are the forms of a sentence: as it is, without politeness at its
// end, without any, and with the room moved to what is in it.
func (s *Set) attempts(toks []token, question bool) []attempt {
	tries := []attempt{{toks: toks, question: question}}
	short, asking, asked := stripEnd(toks, s.names)
	question = question || asked
	if len(short) < len(toks) {
		tries = append(tries, attempt{toks: short, question: question && !asking, tolerant: true})
	}
	plain, polite := stripFront(short, s.names)
	question = question && !asking && !polite
	if moved, ok := s.moveRoom(plain); ok {
		tries = append(tries, attempt{toks: moved, question: question, tolerant: true, devices: true})
	}
	return append(tries, attempt{toks: plain, question: question, tolerant: true})
}

// best returns the match that leaves the fewest words to a free slot; of equal
// ones the one that needed no tolerance, then the first of the file.
func (s *Set) best(tries []attempt, src, lang string) (Match, bool) {
	var won *template
	var caps []capture
	least := 0
	for _, a := range tries {
		cache := map[slotAt][]candidate{}
		for _, t := range s.templates {
			if t.lang != lang || a.question && !t.def.asks || a.devices && t.def.tool != toolDevice || !t.mayBegin(a) {
				continue
			}
			r := &run{prog: t.prog, toks: a.toks, tolerant: a.tolerant, slot: func(name string, pos int) []candidate {
				return s.candidates(cache, name, a.toks, pos, src)
			}}
			if !r.match() {
				continue
			}
			free := 0
			for _, c := range r.captures {
				free += c.free
			}
			if won == nil || free < least {
				won, caps, least = t, r.captures, free
			}
		}
	}
	if won == nil {
		return Match{}, false
	}
	return won.def.fill(s, lang, caps), true
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

// mayBegin tells at a glance that a template cannot match.
func (t *template) mayBegin(a attempt) bool {
	if t.anyFirst {
		return true
	}
	for _, tok := range a.toks {
		if t.first[tok.text] {
			return true
		}
		if !a.tolerant || !passedOver[tok.text] {
			return false
		}
	}
	return false
}

// unknownDevice finds a command that is whole but for a device that the
// household does not have.
func (s *Set) unknownDevice(a attempt, src, lang string) (Match, bool) {
	if a.question {
		return Match{}, false
	}
	for _, t := range s.templates {
		if t.lang != lang || t.def.tool != toolDevice || !t.mayBegin(a) {
			continue
		}
		cache := map[slotAt][]candidate{}
		r := &run{prog: t.prog, toks: a.toks, tolerant: a.tolerant, slot: func(name string, pos int) []candidate {
			if name == "device" {
				return readThing(a.toks, pos, src)
			}
			return s.candidates(cache, name, a.toks, pos, src)
		}}
		if !r.match() {
			continue
		}
		m := Match{Intent: t.def.name, Lang: lang, Slots: map[string]string{}, Problem: NoDevice}
		for _, c := range r.captures {
			if c.slot == "device" {
				m.Unknown = strings.TrimSpace(c.text)
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
