package recall

import "time"

// Kind is what an item is.
type Kind string

// The kinds of items.
const (
	Fact      Kind = "fact"      // a relation of the graph
	Event     Kind = "event"     // a message of a conversation
	Document  Kind = "document"  // a part of a document
	Knowledge Kind = "knowledge" // a part of what was taught
)

// Item is something that is remembered.
type Item struct {
	// ID is "fact:<number>" for a fact, else the passage's id.
	ID   string
	Text string
	Kind Kind
	// Time is when it was said, written or first known.
	Time time.Time
	// Until is when a fact ceased to hold; zero while it does.
	Until time.Time
	// From are the ids of the events that it comes from.
	From []string
	// Score orders the items of one recall, and nothing else.
	Score float64
}
