package intent

import "slices"

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
	try := func(aside, rest []token) (Match, bool) {
		beside, ok := s.asideOf(aside, text)
		if !ok {
			return Match{}, false
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
		if m, ok := try(toks[len(toks)-n:], toks[:len(toks)-n]); ok || m.Problem != "" {
			return m, ok
		}
		if m, ok := try(toks[:n], toks[n:]); ok || m.Problem != "" {
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
// of politeness around it, and the intents it may stand beside, nil for any.
func (s *Set) asideOf(toks []token, src string) (beside []string, ok bool) {
	short, end := stripEnd(toks, nil, false)
	plain, front := stripFront(short, nil, true)
	if front.asking || end.asking || end.question {
		return nil, false
	}
	for _, form := range [][]token{short, plain} {
		a := attempt{toks: form, tolerant: true}
		cache := map[slotAt][]candidate{}
		r := &run{words: s.words, toks: form, tolerant: true, slot: func(name string, pos int) []candidate {
			return s.candidates(cache, name, form, pos, src)
		}}
		for _, t := range s.asides {
			if r.prog = t.prog; !t.mayMatch(a) || !r.match() {
				continue
			}
			if t.def == nil {
				return nil, true
			}
			beside = append(beside, t.def.name)
		}
	}
	return beside, len(beside) > 0
}
