package intent

// maxAside bounds, in tokens, what may stand beside a command.
const maxAside = 14

// withoutAsides takes what stands beside a command off its front and its end,
// "it is dark in here" and the like, and reads the rest. The list of asides is
// closed, so the whole sentence stays explained.
func (s *Set) withoutAsides(toks []token, question bool, text, lang string, depth int) (Match, bool) {
	if depth == 0 || len(s.asides) == 0 {
		return Match{}, false
	}
	try := func(rest []token) (Match, bool) {
		if m, ok := s.parse(rest, question, text, lang); ok || m.Problem != "" {
			return m, ok
		}
		return s.withoutAsides(rest, question, text, lang, depth-1)
	}
	for n := min(maxAside, len(toks)-1); n > 0; n-- {
		if s.isAside(toks[len(toks)-n:], text) {
			if m, ok := try(toks[:len(toks)-n]); ok || m.Problem != "" {
				return m, ok
			}
		}
		if s.isAside(toks[:n], text) {
			if m, ok := try(toks[n:]); ok || m.Problem != "" {
				return m, ok
			}
		}
	}
	return Match{}, false
}

// isAside tells whether the tokens are one of the asides, with or without
// words of politeness around it.
func (s *Set) isAside(toks []token, src string) bool {
	short, end := stripEnd(toks, nil, false)
	plain, front := stripFront(short, nil, true)
	if front.asking || end.asking || end.question {
		return false
	}
	for _, form := range [][]token{short, plain} {
		a := attempt{toks: form, tolerant: true}
		cache := map[slotAt][]candidate{}
		r := &run{toks: form, tolerant: true, slot: func(name string, pos int) []candidate {
			return s.candidates(cache, name, form, pos, src)
		}}
		for _, t := range s.asides {
			if r.prog = t.prog; t.mayMatch(a) && r.match() {
				return true
			}
		}
	}
	return false
}
