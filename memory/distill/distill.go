package distill

import (
	"context"
	"time"

	"homeagent/agent/plugin"
)

// Role is who said an event.
type Role string

const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Event is one message as an extractor sees it. Text is cleaned already.
type Event struct {
	// Turn is the id of the turn, ID that of the message.
	Turn, ID string
	// Speaker is the name of who speaks, "" if it is not known. On an event of
	// the assistant it is the name of the person who is answered.
	Speaker string
	// SpeakerID is a stable id of who asked, "qq:10001", "" if there is none.
	SpeakerID string
	// To is the name of the person a user's event is addressed to, "" where it
	// is the house itself.
	To string
	// Lang is "zh" or "en"; of anything else the text decides.
	Lang string
	Text string
	Role Role
	// Time is when it was said; relative dates are counted from it, in its zone.
	Time time.Time
}

// Fact is what an extractor found.
type Fact struct {
	plugin.Triple
	// Turn is the id of the turn it was learned from, never "".
	Turn string `json:"turn"`
	// Confidence is 0 to 1.
	Confidence float64 `json:"confidence"`
	// SubjectType and ObjectType are "person", "place", "thing", "animal",
	// "event", "date", "number", "text" or "" where nothing is known.
	SubjectType string `json:"subject_type,omitempty"`
	ObjectType  string `json:"object_type,omitempty"`
	// When is when it happened or will: "2023", "2023-05", "2023-05-07",
	// "2023-05-07 15:00", or two days with a slash between for a span; "" where
	// it was not said.
	When string `json:"when,omitempty"`
	// Ends is the relation that this fact puts an end to, between the same
	// subject and object: "likes" where Relation is "no longer likes".
	Ends string `json:"ends,omitempty"`
	// Speaker is who said it and SpeakerID that one's stable id, "" if not known.
	Speaker   string `json:"speaker,omitempty"`
	SpeakerID string `json:"speaker_id,omitempty"`
	// Time is when it was said.
	Time time.Time `json:"time,omitzero"`
}

// Extractor finds the facts in events, which come in the order in which they
// were said. Each fact's Turn is that of one of the events. A nil error with no
// facts means that nothing was said; an error that the events should come again.
type Extractor interface {
	Extract(ctx context.Context, events []Event) ([]Fact, error)
}

// Sink takes facts in durably, all or none. Facts of one call are of one turn,
// and a fact that was taken from that turn before counts once.
type Sink interface {
	Commit(ctx context.Context, facts []Fact) error
}
