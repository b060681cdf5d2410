package document

import (
	"fmt"

	"homeagent/agent/provider"
	"homeagent/memory/document/cut"
	"homeagent/memory/search"
)

// passageSize is the longest text of a passage in bytes: some paragraphs, small
// enough that the place that was found is near.
const passageSize = 2000

// Passages cuts a document for package search: one passage an event, long texts
// at paragraphs. The first passage of an event bears the event's own id, so that
// an event keeps its passage when it moves into a document; further ones add
// "#2" and so on. From names the event. Those of the document's own Text are
// "doc:<id>#1" and so on. d may be a document with no ID, for events that are
// in none yet.
//
// clean returns the Cleaner of a tool, nil if it has none; it may be nil. It
// decides what is indexed of a tool's output (Clean), never the Text. Events with
// NoMemory, and those that a Cleaner leaves nothing of, have no passage.
func Passages(d Document, clean func(tool string) func(string) string) []search.Passage {
	var out []search.Passage
	for i := range d.Events {
		out = append(out, eventPassages(d.ID, &d.Events[i], clean)...)
	}
	stream := "doc:" + d.ID
	for i, text := range cut.Pieces(d.Text, passageSize) {
		p := search.Passage{ID: fmt.Sprintf("%s#%d", stream, i+1), Doc: d.ID, Stream: stream, Seq: int64(i),
			Kind: search.Document, Time: d.Updated, Text: text, From: []string{d.ID}}
		if d.Title != "" {
			p.Clean = d.Title + "\n" + text
		}
		out = append(out, p)
	}
	return out
}

func eventPassages(doc string, e *Event, clean func(tool string) func(string) string) []search.Passage {
	if e.NoMemory {
		return nil
	}
	pieces := cut.Pieces(e.Text, passageSize)
	if len(pieces) == 0 {
		return nil
	}
	words := make([]string, len(pieces)) // "" where the text itself is indexed
	if e.Role == string(provider.Tool) && clean != nil {
		if f := clean(e.Tool); f != nil {
			// The pieces of the two texts need not be the same; each of the
			// cleaned ones stands beside that of the original at its place.
			words = cut.Pieces(f(e.Text), passageSize)
		}
	}
	out := make([]search.Passage, len(words))
	for i, w := range words {
		id := e.ID
		if i > 0 {
			id = fmt.Sprintf("%s#%d", e.ID, i+1)
		}
		out[i] = search.Passage{ID: id, Doc: doc, Stream: e.Stream, Seq: e.Seq, Kind: search.Event, Speaker: e.Speaker,
			Time: e.Time, Text: pieces[i*len(pieces)/len(words)], Clean: w, From: []string{e.ID}}
	}
	return out
}
