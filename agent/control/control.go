package control

import (
	"strings"
	"unicode"
)

// Intent is one of the closed list; its text is the State of event.Control.
type Intent string

const (
	// Stop ends what runs: the turn, its tools, speech.
	Stop Intent = "stop"
	// Cancel ends the running turn and drops what it was about.
	Cancel Intent = "cancel"
	// Mute silences the speaker until it is made louder.
	Mute Intent = "mute"
	// Louder raises the volume by one step.
	Louder Intent = "louder"
	// Softer lowers the volume by one step.
	Softer Intent = "softer"
	// RingOff silences what rings now; what is set for later stays.
	RingOff Intent = "ring_off"
	// Confirm says yes to a question that waits for an answer.
	Confirm Intent = "confirm"
	// Deny says no to a question that waits for an answer.
	Deny Intent = "deny"
)

// All lists the intents in a fixed order.
func All() []Intent {
	return []Intent{Stop, Cancel, Mute, Louder, Softer, RingOff, Confirm, Deny}
}

// EndsTurn reports whether the intent ends the running turn.
func (i Intent) EndsTurn() bool { return i == Stop || i == Cancel }

// NeedsPending reports whether the intent counts only while a question waits
// for its answer; without one, "yes" is something for the provider.
func (i Intent) NeedsPending() bool { return i == Confirm || i == Deny }

// maxRunes bounds what is looked at: no utterance of the list comes near it.
const maxRunes = 48

// Recognise finds the intent that the whole text is. Case, punctuation, words
// of politeness around it, and one of names before it ("jarvis, stop") do not
// count. The caller checks NeedsPending.
func Recognise(text string, names ...string) (Intent, bool) {
	if len(text) > 4*maxRunes {
		return "", false
	}
	key := strings.ReplaceAll(normalise(text), "点儿", "点") // the northern r changes nothing
	if key == "" {
		return "", false
	}
	before := fillersBefore
	if len(names) > 0 {
		before = append([]string(nil), fillersBefore...)
		for _, n := range names {
			if n = normalise(n); n != "" {
				before = append(before, n)
			}
		}
	}
	return find(key, before, 4)
}

// find looks key up as it is, then with one filler less at either end, up to
// depth fillers. The longest match is not needed: every path leads to the same
// intent or to none.
func find(key string, before []string, depth int) (Intent, bool) {
	if i, ok := utterances[key]; ok {
		return i, true
	}
	if i, ok := utterances[unrepeat(key)]; ok {
		return i, true
	}
	if depth == 0 {
		return "", false
	}
	for _, f := range before {
		if rest, ok := cutFiller(key, f, true); ok {
			if i, ok := find(rest, before, depth-1); ok {
				return i, true
			}
		}
	}
	for _, f := range fillersAfter {
		if rest, ok := cutFiller(key, f, false); ok {
			if i, ok := find(rest, before, depth-1); ok {
				return i, true
			}
		}
	}
	return "", false
}

// cutFiller takes filler off the front or the end of key where it stands as a
// word of its own. Between Han characters there is no word border to ask for.
func cutFiller(key, filler string, front bool) (string, bool) {
	var rest string
	var ok bool
	if front {
		rest, ok = strings.CutPrefix(key, filler)
	} else {
		rest, ok = strings.CutSuffix(key, filler)
	}
	if !ok || rest == "" {
		return "", false
	}
	trimmed := strings.Trim(rest, " ")
	if len(trimmed) == len(rest) && !bordersHan(rest, filler, front) {
		return "", false
	}
	return trimmed, trimmed != ""
}

// bordersHan reports whether a Han character stands at the cut.
func bordersHan(rest, filler string, front bool) bool {
	a, b := []rune(filler), []rune(rest)
	if front {
		return isHan(a[len(a)-1]) || isHan(b[0])
	}
	return isHan(a[0]) || isHan(b[len(b)-1])
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// unrepeat reduces "stop stop stop" and "停停停" to one of them.
func unrepeat(key string) string {
	if words := strings.Fields(key); len(words) > 1 {
		for _, w := range words[1:] {
			if w != words[0] {
				return key
			}
		}
		return words[0]
	}
	r := []rune(key)
	for n := 1; n <= len(r)/2; n++ {
		if len(r)%n == 0 && isHan(r[0]) && strings.Repeat(string(r[:n]), len(r)/n) == key {
			return string(r[:n])
		}
	}
	return key
}

// normalise lowers the case, narrows full-width letters, drops punctuation and
// leaves single spaces, none of them beside a Han character.
func normalise(text string) string {
	var b strings.Builder
	space, last := false, rune(0)
	for _, r := range text {
		if r >= '！' && r <= '～' { // full-width forms of ASCII
			r -= '！' - '!'
		}
		if r == '\'' || r == '’' { // "don't" is one word
			continue
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			space = true
			continue
		}
		if space && last != 0 && !isHan(r) && !isHan(last) {
			b.WriteByte(' ')
		}
		space = false
		r = unicode.ToLower(r)
		b.WriteRune(r)
		last = r
	}
	return b.String()
}
