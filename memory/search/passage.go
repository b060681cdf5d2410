package search

import (
	"fmt"
	"time"
)

// Kind is what a passage was taken from.
type Kind string

// The kinds of passages.
const (
	Event     Kind = "event"     // a message of a conversation
	Document  Kind = "document"  // a part of a document
	Knowledge Kind = "knowledge" // a part of what was taught
)

// kinds are the numbers of the kinds in the file.
var kinds = map[Kind]int{Event: 0, Document: 1, Knowledge: 2}

func kindOf(n int) Kind {
	for k, m := range kinds {
		if m == n {
			return k
		}
	}
	return Event
}

// Passage is a piece of text that can be found.
type Passage struct {
	// ID is unique; a Put of the same id replaces the passage.
	ID string
	// Doc is the document that holds the passage, "" while none does.
	Doc string
	// Stream and Seq are its place among others: passages of one stream are
	// neighbours in the order of Seq.
	Stream string
	Seq    int64
	Kind   Kind
	// Speaker is the name of who said it, "" if nobody in particular.
	Speaker string
	// Time is when it was said or written.
	Time time.Time
	// Text is the original.
	Text string
	// Clean is what is indexed in place of Text; "" means Text itself.
	Clean string
	// From are the ids of what the passage was made of; nil means ID itself.
	From []string
}

// words is what is indexed.
func (p Passage) words() string {
	if p.Clean != "" {
		return p.Clean
	}
	return p.Text
}

const (
	// MaxText is the longest text of a passage that is indexed, in bytes; of a
	// longer one the beginning is.
	MaxText = 64 << 10
	// maxID bounds ids and names, in bytes.
	maxID = 512
)

func (p Passage) check() error {
	switch {
	case p.ID == "":
		return fmt.Errorf("%w: a passage without an id", ErrInvalid)
	case len(p.ID) > maxID || len(p.Doc) > maxID || len(p.Stream) > maxID:
		return fmt.Errorf("%w: an id of a passage is longer than %d bytes", ErrInvalid, maxID)
	}
	if _, ok := kinds[p.Kind]; !ok {
		return fmt.Errorf("%w: passage %q has the unknown kind %q", ErrInvalid, p.ID, p.Kind)
	}
	return nil
}

// Hit is a passage that was found. Scores of one search compare with each
// other, not with those of another.
type Hit struct {
	Passage
	Score float64
	// Cover is the share of the query's weight, 0 to 1, that the passage's own
	// words have. It compares between searches.
	Cover float64
}

// Query asks for passages.
type Query struct {
	Text string
	// Limit is the number of hits, 10 if 0, at most 200.
	Limit int
	// Kinds are those wanted, nil for all.
	Kinds []Kind
	// Archived is what the score of a passage in an archived document is
	// multiplied with, 0.5 if 0; negative leaves such passages out.
	Archived float64
	// Now is when it is asked, for "last week"; zero leaves such words unread.
	Now time.Time
	// Without leaves parts of the ranking out, for measuring what each adds.
	Without Parts
}

// Parts names the parts of the ranking that can be left out.
type Parts uint

// The parts.
const (
	Neighbours Parts = 1 << iota // what stands beside a passage
	Feedback                     // words of the best passages added to the query
	Duplicates                   // passages that say the same are dropped
	Speakers                     // who says it, where the query names someone
	Phrases                      // words of the query that stand together
	Times                        // times asked for and times named
	Shape                        // bare questions and exclamations rank lower
)
