package distill

import (
	"context"
	"strings"
)

// Confidence of what the heuristic finds.
const (
	plain   = 0.6 // said by a person
	asked   = 0.9 // said, and that it be remembered
	answers = 0.4 // stood in an answer of the house
)

// Heuristic finds facts by grammar alone, in Chinese and English; see the
// package's description. It is safe for concurrent use.
type Heuristic struct{}

var _ Extractor = Heuristic{}

// NewHeuristic returns the heuristic.
func NewHeuristic() Heuristic { return Heuristic{} }

// Extract never fails but for a context that has ended.
func (Heuristic) Extract(ctx context.Context, events []Event) ([]Fact, error) {
	var facts []Fact
	for _, e := range events {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		facts = append(facts, heuristic(e)...)
	}
	return sound(events, facts), nil
}

// heuristic is the facts of one event.
func heuristic(e Event) []Fact {
	if e.Role != User && e.Role != Assistant {
		return nil
	}
	var facts []Fact
	var carry carried
	for _, s := range sentences(clip(e.Text)) {
		if len(s.text) > maxSentence {
			continue
		}
		if e.Role == Assistant && s.question() {
			continue
		}
		v := voice{event: e, zh: chinese(s.text, e.Lang)}
		found, all := v.sentence(s, &carry)
		for _, f := range found {
			f.Turn, f.Speaker, f.SpeakerID, f.Time = e.Turn, e.Speaker, e.SpeakerID, e.Time
			switch {
			case e.Role == Assistant:
				f.Confidence, f.Speaker = answers, ""
			case all:
				f.Confidence = asked
			case f.Confidence == 0:
				f.Confidence = plain
			}
			facts = append(facts, f)
		}
	}
	return facts
}

// carried is what one sentence leaves to the next: that the user asked to
// remember what follows.
type carried struct{ remember bool }

// voice is who speaks a sentence and in which language.
type voice struct {
	event Event
	zh    bool
}

// sentence finds the facts of one sentence. asked is true where it was to be
// remembered.
func (v voice) sentence(s sentence, carry *carried) (facts []Fact, asked bool) {
	text := s.text
	if v.event.Role == User {
		text, asked = remember(text)
		if asked && strings.TrimSpace(text) == "" {
			carry.remember = true // "Remember this:" and a new sentence
			return nil, false
		}
		asked = asked || carry.remember
		carry.remember = false
	}
	if Secret(text) || Guarded(text) && !asked {
		return nil, false
	}
	if s.question() {
		return nil, false
	}
	if v.zh {
		facts = v.chinese(text, asked)
	} else {
		facts = v.english(text, asked)
	}
	if asked && len(facts) == 0 && len(text) <= maxField && !enAsks.MatchString(text) && !zhAsks.MatchString(text) {
		relation := "asked to remember"
		if v.zh {
			relation = "要求记住"
		}
		facts = []Fact{fact(v.first(), relation, strings.TrimRight(text, " ,，:："), "person", "text")}
	}
	return facts, asked
}

// first is the name of the first person.
func (v voice) first() string {
	switch {
	case v.event.Speaker != "":
		return v.event.Speaker
	case v.zh:
		return "用户"
	}
	return "user"
}

// second is the name of the second person, "" where nothing is to be kept of it.
func (v voice) second() string {
	if v.event.Role == Assistant {
		return v.first()
	}
	return v.event.To
}

// speaks tells whether the first person is somebody facts are kept of.
func (v voice) speaks() bool { return v.event.Role == User }

// own names what belongs to somebody.
func (v voice) own(owner, what string) string {
	if v.zh {
		return owner + "的" + what
	}
	return owner + "'s " + what
}

// fact makes a fact.
func fact(subject, relation, object, subjectType, objectType string) Fact {
	f := Fact{SubjectType: subjectType, ObjectType: objectType}
	f.Subject, f.Relation, f.Object = subject, relation, object
	return f
}
