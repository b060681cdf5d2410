package intent

// moveRoom brings a room that stands apart next to what is in it: "turn the
// lights on in the kitchen" becomes "turn the lights in the kitchen on", and
// 厨房开灯 becomes 开厨房灯. The words stay the same, so nothing is explained that
// was not said; free slots must not be read from the result.
func (s *Set) moveRoom(toks []token) ([]token, bool) {
	rooms := s.slots["room"].phrases
	for i := 1; i+2 < len(toks); i++ {
		if t := toks[i].text; t != "on" && t != "off" && t != "out" || toks[i+1].text != "in" {
			continue
		}
		for _, c := range rooms.match(toks, i+2) {
			if c.end == len(toks) {
				out := append([]token(nil), toks[:i]...)
				return append(append(out, toks[i+1:]...), toks[i]), true
			}
		}
	}
	r := reader(toks)
	for _, c := range rooms.match(toks, r.skip(0, "在")) {
		if !isHanText(toks[0].text) {
			break
		}
		room := toks[r.skip(0, "在"):c.end]
		rest := toks[r.skip(r.skip(r.skip(c.end, "里"), "面"), "的"):]
		if i := firstNoun(rest); i > 0 {
			out := append([]token(nil), rest[:i]...)
			return append(append(out, room...), rest[i:]...), true
		}
	}
	return nil, false
}

// firstNoun is where the first Chinese word for a kind of device stands, -1 for none.
func firstNoun(toks []token) int {
	for i := range toks {
		for _, kind := range kindNouns {
			for _, noun := range kind.zh {
				if reader(toks).is(i, splitHan(noun)...) {
					return i
				}
			}
		}
	}
	return -1
}

func splitHan(s string) (out []string) {
	for _, r := range s {
		out = append(out, string(r))
	}
	return out
}
