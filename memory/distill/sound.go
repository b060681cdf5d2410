package distill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"homeagent/memory/token"
)

const (
	// maxField is the longest subject, relation or object, in bytes; the graph
	// takes more, but what is longer is no fact.
	maxField = 512
	// maxPerTurn is how many facts one turn gives at most.
	maxPerTurn = 32
)

// sound returns the facts that may be committed: of known turns, within bounds,
// without secrets, each once a turn.
func sound(events []Event, facts []Fact) []Fact {
	turns := map[string]bool{}
	for _, e := range events {
		turns[e.Turn] = true
	}
	type key struct{ turn, s, r, o string }
	seen, count := map[key]bool{}, map[string]int{}
	var out []Fact
	for _, f := range facts {
		f.Subject, f.Relation, f.Object = tidy(f.Subject), tidy(f.Relation), tidy(f.Object)
		k := key{f.Turn, token.Fold(f.Subject), token.Fold(f.Relation), token.Fold(f.Object)}
		if !turns[f.Turn] || seen[k] || count[f.Turn] >= maxPerTurn || !says(f) {
			continue
		}
		if !(f.Confidence >= 0) { // also what is no number
			f.Confidence = 0
		}
		f.Confidence = min(f.Confidence, 1)
		seen[k] = true
		count[f.Turn]++
		out = append(out, f)
	}
	return out
}

// says tells whether a fact has all three parts within bounds and no secret.
func says(f Fact) bool {
	for _, s := range []string{f.Subject, f.Relation, f.Object} {
		if s == "" || len(s) > maxField || Secret(s) {
			return false
		}
	}
	return strings.ContainsFunc(f.Object, letterOrDigit) && strings.ContainsFunc(f.Subject, letterOrDigit) &&
		token.Fold(f.Subject) != token.Fold(f.Object)
}

func letterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// nameRune tells whether a name may hold r.
func nameRune(r rune) bool {
	return unicode.IsLetter(r) || r == '·' || r == ' ' || r == '-' || r == '\''
}

// tidy makes one line of a field.
func tidy(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.IsControl(r), unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cf, r) && r != 0x200d: // turns and hides text; the joiner of emoji stays
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
