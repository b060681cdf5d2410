package graph

import (
	"database/sql"
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
	// maxTurns is how many turns a fact is read with.
	maxTurns = 8
)

// Status says whether a fact holds.
type Status string

const (
	Active    Status = "active"    // holds
	Past      Status = "past"      // held until Updated
	Archived  Status = "archived"  // holds, but was not heard of for long
	Forgotten Status = "forgotten" // softly purged: kept, never recalled
)

// Fact is one relation with its two ends.
type Fact struct {
	ID                        int64
	Subject, Relation, Object string
	// Confidence is 0 to 1; hearing a fact again raises it.
	Confidence float64
	Status     Status
	// Heard is how often it was said.
	Heard int
	// Source and Turn tell where it was first learned, Speaker from whom.
	Source, Turn, Speaker string
	// Turns are up to maxTurns turns that it was heard in, Turn first.
	Turns []string
	// SubjectID and ObjectID are the ids of the entities at its ends.
	SubjectID, ObjectID int64
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
	Type     string // "person", "狗"; "text" for a name too long to be one, "" if unknown
	Mentions int
	// Created is when it was first spoken of, Updated when last; zero where an
	// entity comes as the end of something else.
	Created, Updated time.Time
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
		if b.Len() > 0 && !(closes(first) && closes(last)) {
			b.WriteByte(' ')
		}
		b.WriteString(p)
		last, _ = utf8.DecodeLastRuneInString(p)
	}
	return b.String()
}

// closes tells whether a sign stands beside a Han sign without a space.
func closes(r rune) bool { return unicode.Is(unicode.Han, r) || r == '（' || r == '）' }

// clean makes a field fit to be kept: valid UTF-8, no control characters, no
// marks that turn the direction of what follows, spaces at most single.
func clean(what, s string) (string, error) {
	if len(s) > MaxField {
		return "", fmt.Errorf("%s: %w: %d bytes, at most %d are kept", what, ErrTooLong, len(s), MaxField)
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
	text := join(subject, relation, object)
	if key, _ := relationKey(relation, object); key != "" {
		// A question has another word for the relation: 搬到 answers 住哪.
		text += "\n" + asked[strings.TrimPrefix(key, "!")]
	}
	return token.Set(text, 512)
}

// nameTerms are the terms an entity is found by; a text has none.
func nameTerms(name string) []string {
	if entityType(name) != "" {
		return nil
	}
	return token.Set(name, 64)
}

// factColumns are what scanFact reads of relations r, s and t being its ends.
const factColumns = `r.id, s.name, r.relation_type, t.name, r.confidence, r.status, r.heard, r.session_id, r.turn_id, r.speaker,
	r.created_at, r.updated_at, r.source_id, r.target_id,
	(SELECT group_concat(turn_id, char(10)) FROM (SELECT turn_id FROM hearings WHERE relation_id = r.id LIMIT 8))`

const factEnds = " JOIN entities s ON s.id = r.source_id JOIN entities t ON t.id = r.target_id "

// scanFact reads factColumns and, into more, what comes behind them.
func scanFact(r *sql.Rows, more ...any) (f Fact, err error) {
	var created, updated int64
	var turns sql.NullString
	err = r.Scan(append([]any{&f.ID, &f.Subject, &f.Relation, &f.Object, &f.Confidence, &f.Status, &f.Heard, &f.Source, &f.Turn, &f.Speaker,
		&created, &updated, &f.SubjectID, &f.ObjectID, &turns}, more...)...)
	f.Created, f.Updated = time.UnixMilli(created), time.UnixMilli(updated)
	if f.Turn != "" {
		f.Turns = append(f.Turns, f.Turn)
	}
	if turns.Valid {
		for t := range strings.SplitSeq(turns.String, "\n") {
			if t != f.Turn && len(f.Turns) < maxTurns {
				f.Turns = append(f.Turns, t)
			}
		}
	}
	return f, err
}
