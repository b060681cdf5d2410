package graph

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"homeagent/memory/token"
)

const (
	// MaxField is the longest subject, relation or object, in bytes.
	MaxField = 4096
	// maxName is the longest text that names an entity, in runes; a longer one
	// is a text of its own, typed "text".
	maxName = 40
)

// Status says whether a fact holds.
type Status string

const (
	Active    Status = "active"    // holds
	Past      Status = "past"      // held until Updated
	Forgotten Status = "forgotten" // softly purged: kept, never recalled
)

// Fact is one relation with its two ends.
type Fact struct {
	ID                        int64
	Subject, Relation, Object string
	// Confidence is 0 to 1; hearing a fact again raises it.
	Confidence float64
	Status     Status
	// Source and Turn tell where it was learned.
	Source, Turn string
	// Created is when it was first heard, Updated when it was last heard or,
	// for a past fact, when it ended.
	Created, Updated time.Time
	// Score is the rank within one Recall; greater is better.
	Score float64
}

// Text is the fact as one phrase.
func (f Fact) Text() string { return join(f.Subject, f.Relation, f.Object) }

// Entity is a thing, a person or a text that facts speak of.
type Entity struct {
	ID       int64
	Name     string
	Mentions int
}

// join puts parts together with a space, except between two Han signs.
func join(parts ...string) string {
	var b strings.Builder
	var last rune
	for _, p := range parts {
		if p == "" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(p)
		if b.Len() > 0 && !(unicode.Is(unicode.Han, first) && unicode.Is(unicode.Han, last)) {
			b.WriteByte(' ')
		}
		b.WriteString(p)
		last, _ = utf8.DecodeLastRuneInString(p)
	}
	return b.String()
}

// clean makes a field fit to be kept: valid UTF-8, no control characters, no
// marks that turn the direction of what follows, spaces at most single.
func clean(what, s string) (string, error) {
	if len(s) > MaxField {
		return "", fmt.Errorf("%s: %w: %d bytes, the limit is %d", what, ErrTooLong, len(s), MaxField)
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.IsControl(r), unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Bidi_Control, r), r == 0xfeff, r == 0x200b:
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " "), nil
}

// entityType is "text" for what is too long to be a name.
func entityType(name string) string {
	if utf8.RuneCountInString(name) > maxName {
		return "text"
	}
	return ""
}

// visible tells whether a cleaned field says anything at all.
func visible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Mn, r) })
}

// factTerms are the terms a fact is found by.
func factTerms(subject, relation, object string) []string {
	// Of the joined text: the pair over the seam of "钥匙" and "在" counts too.
	return token.Set(join(subject, relation, object), 512)
}

// nameTerms are the terms an entity is found by; a text has none.
func nameTerms(name string) []string {
	if entityType(name) != "" {
		return nil
	}
	return token.Set(name, 64)
}
