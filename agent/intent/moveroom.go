package intent

// moveRoom brings a room that stands apart next to what is in it: "turn the
// lights on in the kitchen" becomes "turn the lights in the kitchen on", and
// 厨房开灯 becomes 开厨房灯. The words stay the same, so nothing is explained that
// was not said; free slots must not be read from the result.
func (s *Set) moveRoom(toks []token) ([]token, bool) {
	if len(toks) < 3 {
		return nil, false
	}
	if !isHanText(toks[0].text) {
		if toks[0].text == "in" { // "in the kitchen, turn the lights on"
			for _, end := range s.roomsAt(toks, 1) {
				if end+1 < len(toks) && toks[end].text != "and" {
					moved := join(toks[end:], toks[:end])
					if again, ok := s.moveRoomBack(moved); ok {
						return again, true
					}
					return moved, true
				}
			}
		}
		return s.moveRoomBack(toks)
	}
	r := reader(toks)
	from := r.skip(0, "在")
	for _, end := range s.roomsAt(toks, from) {
		rest := toks[r.skip(r.skip(r.skip(end, "里"), "面"), "的"):]
		if i := firstNoun(rest); i > 0 {
			return join(rest[:i], toks[from:end], rest[i:]), true
		}
	}
	// 开灯，厨房的
	for i := len(toks) - 1; i > 1; i-- {
		if !toks[i].pause {
			continue
		}
		for _, end := range s.roomsAt(toks, i) {
			last := r.skip(r.skip(end, "里"), "的")
			last = r.skip(last, "灯")
			if at := firstNoun(toks[:i]); last == len(toks) && at > 0 {
				return join(toks[:at], toks[i:end], toks[at:i]), true
			}
		}
	}
	return nil, false
}

// moveRoomBack moves a room at an English sentence's end before "on" or "off".
func (s *Set) moveRoomBack(toks []token) ([]token, bool) {
	for i := 1; i+2 < len(toks); i++ {
		if t := toks[i].text; t != "on" && t != "off" && t != "out" || toks[i+1].text != "in" {
			continue
		}
		for _, end := range s.roomsAt(toks, i+2) {
			if end == len(toks) {
				return join(toks[:i], toks[i+1:], toks[i:i+1]), true
			}
		}
	}
	return nil, false
}

// roomsAt lists where a room, or several joined by "and", may end, the longest first.
func (s *Set) roomsAt(toks []token, pos int) (ends []int) {
	r := reader(toks)
	for _, c := range s.slots["room"].phrases.match(toks, pos) {
		next := c.end
		for _, and := range [][]string{{"and", "in"}, {"and"}, {"和"}, {"跟"}, {"与"}, {"还", "有"}} {
			if next = r.skip(c.end, and...); next > c.end {
				ends = append(ends, s.roomsAt(toks, next)...)
				break
			}
		}
		ends = append(ends, c.end)
	}
	return ends
}

func join(parts ...[]token) (out []token) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// notOneRoom are words of a command that means more than the room spoken of.
var notOneRoom = setOf("all every each both everything everywhere house 所 全 每 各 家 屋")

// inRoom reads a command for devices as one for a room that was spoken of
// beside it: "it is dark in the kitchen, turn the light on".
func (s *Set) inRoom(toks, room []token, question bool, text, lang string) (Match, bool) {
	for _, t := range toks {
		if notOneRoom[t.text] {
			return Match{}, false
		}
	}
	short, _ := stripEnd(toks, s.names, true)
	plain, _ := stripFront(short, s.names, true)
	var whole []token
	if isHanText(toks[0].text) {
		whole = join(room, plain)
	} else {
		whole = join(plain, []token{{text: "in"}}, room)
	}
	tries := s.attempts(whole, question)
	for i := range tries {
		tries[i].devices = true
	}
	m, ok := s.best(tries, text, lang)
	return m, ok && m.Problem == ""
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
