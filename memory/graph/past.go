package graph

import (
	"strings"

	"homeagent/agent/plugin"
	"homeagent/memory/token"
)

// pastWords are cues by which a question asks for what no longer holds.
var (
	pastHan   = []string{"以前", "之前", "原来", "原先", "过去", "曾经", "从前", "上次", "早先"}
	pastWords = set("before", "previously", "formerly", "former", "previous", "earlier", "originally")
)

// AsksPast tells whether a question asks for what no longer holds: 我以前住哪,
// "where did I live before". A cue may mean something else ("before dinner"), so
// it may change the order of what is found and never what is found.
func AsksPast(text string) bool {
	if len(text) > maxQueryText {
		text = text[:maxQueryText]
	}
	f := token.Fold(text)
	for _, cue := range pastHan {
		if strings.Contains(f, cue) {
			return true
		}
	}
	words := strings.FieldsFunc(f, func(r rune) bool { return !('a' <= r && r <= 'z' || r == '\'') })
	for i, w := range words {
		if pastWords[w] || i > 0 && (w == "to" && (words[i-1] == "used" || words[i-1] == "use") || w == "time" && words[i-1] == "last") {
			return true
		}
	}
	return false
}

// withoutPast takes the cues of AsksPast out of a question, since the facts
// asked for do not have them. What would be empty then stays as it is.
func withoutPast(text string) string {
	f := token.Fold(text)
	for _, cue := range pastHan {
		f = strings.ReplaceAll(f, cue, " ")
	}
	var out []string
	for _, w := range strings.Fields(f) {
		if !pastWords[strings.Trim(w, ".,;:!?")] {
			out = append(out, w)
		}
	}
	f = strings.NewReplacer("used to", "", "last time", "").Replace(strings.Join(out, " "))
	if strings.TrimSpace(f) == "" {
		return text
	}
	return f
}

// retraction tells whether a fact says of itself that it no longer holds, and
// returns what it is that does not.
func retraction(t plugin.Triple) (plugin.Triple, bool) {
	relation, object := t.Relation, t.Object
	ended := false
	for _, cue := range []string{"再也不", "已经不", "不再"} {
		if rest, ok := cutCue(relation, cue); ok {
			relation, ended = rest, true
			break
		}
		if relation == "" {
			if rest, ok := strings.CutPrefix(object, cue); ok {
				object, ended = rest, true
				break
			}
		}
	}
	if rest, ok := cutWords(relation, "no longer "); ok {
		relation, ended = rest, true
	} else if rest, ok := cutWords(object, "no longer "); ok && relation == "" {
		object, ended = rest, true
	}
	for _, cue := range []string{"any more", "anymore", "any longer"} {
		for _, field := range []*string{&relation, &object} {
			rest, ok := cutEnd(*field, cue)
			if !ok {
				continue
			}
			// "any more" retracts only beside a negation, which goes with it.
			if not, negative := negated(token.Fold(relation)); negative {
				relation, ended = not, true
				if field == &relation {
					relation, _ = cutEnd(relation, cue)
				} else {
					object = rest
				}
			}
		}
	}
	if !ended {
		return t, false
	}
	// What ends a sentence that ended something.
	object = strings.TrimSuffix(object, "了")
	out := plugin.Triple{Subject: t.Subject, Relation: strings.TrimSpace(relation), Object: strings.TrimSpace(object)}
	if !visible(out.Object) {
		return t, false
	}
	return out, true
}

// cutCue takes a Chinese cue out of the front of a relation, or from behind it.
func cutCue(s, cue string) (string, bool) {
	if rest, ok := strings.CutPrefix(s, cue); ok {
		return rest, true
	}
	return strings.CutSuffix(s, cue)
}

// cutWords takes an English phrase out of a text, in any case. A phrase at the
// end stands there without its space.
func cutWords(s, phrase string) (string, bool) {
	low := strings.ToLower(s)
	if len(low) != len(s) { // the case of some letters changes their length
		return s, false
	}
	if i := strings.Index(low+" ", phrase); i >= 0 && (i == 0 || low[i-1] == ' ') {
		return strings.TrimSpace(s[:i] + (s + " ")[i+len(phrase):]), true
	}
	return s, false
}

// cutEnd takes an English phrase off the end of a text.
func cutEnd(s, phrase string) (string, bool) {
	t := strings.TrimRight(s, " .!。")
	low := strings.ToLower(t)
	if len(low) != len(t) || !strings.HasSuffix(low, phrase) {
		return s, false
	}
	rest := t[:len(t)-len(phrase)]
	if rest != "" && !strings.HasSuffix(rest, " ") {
		return s, false
	}
	return strings.TrimSpace(rest), true
}
