package intent

import (
	"slices"
	"strings"
)

// maxAside bounds, in tokens, what may stand beside a command.
const maxAside = 14

// withoutAsides takes what stands beside a command off its front and its end,
// "it is dark in here" and the like, and reads the rest. The list of asides is
// closed, so the whole sentence stays explained. only are the intents that what
// was taken off so far may stand beside; nil is any.
func (s *Set) withoutAsides(toks []token, question bool, text, lang string, only []string, depth int) (Match, bool) {
	if depth == 0 || len(s.asides) == 0 {
		return Match{}, false
	}
	try := func(aside, rest []token, apart bool) (Match, bool) {
		beside, room, ok := s.asideOf(aside, text, apart)
		if !ok {
			return Match{}, false
		}
		if room != nil && len(rest) > 0 {
			if m, ok := s.inRoom(rest, room, question, text, lang); ok {
				return m, true
			}
		}
		if only != nil {
			beside = both(only, beside)
		}
		if m, ok := s.parse(rest, question, text, lang); ok || m.Problem != "" {
			if beside != nil && !slices.Contains(beside, m.Intent) {
				return Match{}, false
			}
			return m, ok
		}
		return s.withoutAsides(rest, question, text, lang, beside, depth-1)
	}
	for n := min(maxAside, len(toks)-1); n > 0; n-- {
		if m, ok := try(toks[len(toks)-n:], toks[:len(toks)-n], toks[len(toks)-n].pause); ok || m.Problem != "" {
			return m, ok
		}
		if m, ok := try(toks[:n], toks[n:], toks[n].pause); ok || m.Problem != "" {
			return m, ok
		}
	}
	return Match{}, false
}

// both is what two lists share; nil, which stands for everything, gives the other.
func both(a, b []string) []string {
	if b == nil {
		return a
	}
	out := []string{}
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

// asideOf tells whether the tokens are one of the asides, with or without words
// of politeness around it, the intents it may stand beside, nil for any, and
// the words of the room that it speaks of. apart tells that a comma divides it
// from the command, without which nothing is taken for a remark.
func (s *Set) asideOf(toks []token, src string, apart bool) (beside []string, room []token, ok bool) {
	short, end := stripEnd(toks, nil, false)
	plain, front := stripFront(short, nil, true)
	forms := [][]token{short, plain}
	if front.asking || end.asking || end.question { // 我在厨房呢 stands as it is
		forms = [][]token{toks}
	}
	for _, form := range forms {
		a := attempt{toks: form, tolerant: true}
		cache := map[slotAt][]candidate{}
		r := &run{words: s.words, toks: form, tolerant: true, slot: func(name string, pos int) []candidate {
			return s.candidates(cache, name, form, pos, src)
		}}
		for _, t := range s.asides {
			if r.prog = t.prog; !t.mayMatch(a) || !r.match() {
				continue
			}
			if !apart && slices.ContainsFunc(r.captures, func(c capture) bool { return c.slot == "remark" }) {
				continue
			}
			for _, c := range r.captures {
				if c.slot == "lit" {
					room = form[c.end-c.length : c.end]
				}
			}
			if t.def == nil {
				return nil, room, true
			}
			beside = append(beside, t.def.name)
		}
	}
	return beside, room, len(beside) > 0
}

// twice reads a sentence that asks for one thing in two ways ("you are too
// loud, turn it down") or for several devices one after the other. Both parts
// must be whole commands of one intent, and neither may contradict the other.
func (s *Set) twice(toks []token, question bool, text, lang string) (Match, bool) {
	for i := 1; i < len(toks); i++ {
		next := i
		switch {
		case toks[i].text == "and" && i+1 < len(toks):
			next = i + 1
		case !toks[i].pause:
			continue
		}
		second, ok := s.parseAside(toks[next:], question, text, lang)
		if !ok {
			continue
		}
		first, ok := s.parseAside(toks[:i], false, text, lang)
		if !ok || first.Intent != second.Intent {
			continue
		}
		if m, ok := first.joined(second); ok {
			return m, true
		}
	}
	return Match{}, false
}

func (s *Set) parseAside(toks []token, question bool, text, lang string) (Match, bool) {
	if m, ok := s.parse(toks, question, text, lang); ok {
		return m, true
	}
	return s.withoutAsides(toks, question, text, lang, nil, 2)
}

// joined is what two matches of one intent mean together.
func (m Match) joined(n Match) (Match, bool) {
	if m.Slots["device"] != "" && n.Slots["device"] != "" && len(m.Slots) == 1 && len(n.Slots) == 1 {
		for _, a := range n.Actions {
			if !slices.ContainsFunc(m.Actions, func(b Action) bool { return b.Device == a.Device }) {
				m.Actions = append(m.Actions, a)
			}
		}
		m.Slots = map[string]string{"device": strings.Join(union(strings.Split(m.Slots["device"], ","), strings.Split(n.Slots["device"], ",")), ",")}
		return m, true
	}
	if len(n.Slots) > len(m.Slots) {
		m, n = n, m
	}
	for k, v := range n.Slots {
		if m.Slots[k] != v {
			return Match{}, false
		}
	}
	return m, true
}
