package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

// Origin is where a document comes from.
type Origin string

// The origins of documents.
const (
	Context Origin = "context" // events pruned from the conversation
	Commit  Origin = "commit"  // put down at somebody's wish
	Graph   Origin = "graph"   // the page of an entity, rewritten in place
)

var (
	// ErrNotFound is wrapped when there is no document with the id.
	ErrNotFound = errors.New("no such document")
	// ErrInvalid is wrapped when a document or event cannot be kept as it is.
	ErrInvalid = errors.New("not a document")
	// ErrTooBig is wrapped when a document has more than MaxText bytes of text.
	ErrTooBig = errors.New("document too big")
	// ErrDamaged is wrapped when a file is no document.
	ErrDamaged = errors.New("damaged")
	// ErrNewer is wrapped when a newer program has written a file.
	ErrNewer = errors.New("written by a newer version")
)

const (
	// MaxEvents and MaxBytes, of encoded events, bound the documents that
	// PutEvents fills.
	MaxEvents = 200
	MaxBytes  = 64 << 10
	// MaxText is the most text of a document, its events' included, in bytes.
	MaxText = 24 << 20
	// MaxTitle is the longest title in bytes.
	MaxTitle = 1 << 10
	// maxID is the longest id in bytes: with its endings it must be a file's name.
	maxID = 120
)

// Document is one document. Its ID has letters, digits, '-' and '_' only.
type Document struct {
	ID     string `json:"id"`
	Title  string `json:"title,omitempty"`
	Origin Origin `json:"origin"`
	// Entity is the graph's id of the entity that a Graph document tells of.
	Entity int64 `json:"entity,omitempty"`
	// Stream and Day, as 2006-01-02, are what the events have in common.
	Stream string `json:"stream,omitempty"`
	Day    string `json:"day,omitempty"`
	// Created is kept, Updated set by each Put that changes something.
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	// Archived: its facts are in the graph; it is never cold again.
	Archived bool    `json:"archived,omitempty"`
	Text     string  `json:"text,omitempty"`
	Events   []Event `json:"events,omitempty"`
}

// Event is a message of the conversation.
type Event struct {
	// ID is the message's, unique in the store.
	ID   string `json:"id"`
	Turn string `json:"turn,omitempty"`
	// Stream is the session or channel; with Seq it is the event's place among
	// all events. Times need not be in order, Seqs are.
	Stream string    `json:"stream,omitempty"`
	Seq    int64     `json:"seq,omitempty"`
	Time   time.Time `json:"time,omitzero"`
	Role   string    `json:"role"`
	// Speaker is who said it, Tool the name of the tool that did.
	Speaker string `json:"speaker,omitempty"`
	Tool    string `json:"tool,omitempty"`
	// NoMemory: stored, but not computed on.
	NoMemory bool   `json:"no_memory,omitempty"`
	Text     string `json:"text"`

	// What else a message has, so that nothing but the content of media is lost.
	Reasoning string           `json:"reasoning,omitempty"`
	Calls     []tool.Call      `json:"calls,omitempty"`
	CallID    string           `json:"call_id,omitempty"`
	Status    tool.Status      `json:"status,omitempty"`
	Media     []provider.Media `json:"media,omitempty"`
}

// FromMessage is a message as an event; turn, stream and seq are its place. The
// contents of media are left out.
func FromMessage(m provider.Message, turn, stream string, seq int64) Event {
	e := Event{ID: m.ID, Turn: turn, Stream: stream, Seq: seq, Time: m.Time, Role: string(m.Role), NoMemory: m.NoMemory,
		Text: m.Content, Reasoning: m.Reasoning, Calls: m.Calls, CallID: m.CallID, Status: m.Status}
	switch m.Role {
	case provider.Tool:
		e.Tool = m.Name
	case provider.User:
		e.Speaker = m.User
	}
	for _, x := range m.Media {
		e.Media = append(e.Media, provider.Media{MIME: x.MIME, Name: x.Name})
	}
	return e
}

// Meta is what the index knows of a document.
type Meta struct {
	ID, Title        string
	Origin           Origin
	Entity           int64
	Stream, Day      string
	Created, Updated time.Time
	// Size is that of the file in bytes, Events the number of events.
	Size   int64
	Events int
	// Access is the number of Gets, LastAccess the time of the last, zero if none.
	Access     int
	LastAccess time.Time
	Archived   bool
}

// Check tells whether a document from elsewhere can be kept; errors wrap
// ErrInvalid or ErrTooBig.
func (d *Document) Check() error { return d.check() }

// check tells whether d can be kept.
func (d *Document) check() error {
	if err := checkID(d.ID); err != nil {
		return err
	}
	switch d.Origin {
	case Context, Commit, Graph:
	default:
		return fmt.Errorf("%w: %s has the unknown origin %q", ErrInvalid, d.ID, d.Origin)
	}
	if len(d.Title) > MaxTitle {
		return fmt.Errorf("%w: the title of %s has %d bytes, at most %d", ErrInvalid, d.ID, len(d.Title), MaxTitle)
	}
	size := len(d.Text)
	seen := make(map[string]bool, len(d.Events))
	for i := range d.Events {
		e := &d.Events[i]
		if e.ID == "" || seen[e.ID] {
			return fmt.Errorf("%w: event %d of %s has no id of its own", ErrInvalid, i, d.ID)
		}
		seen[e.ID] = true
		size += e.size()
	}
	if size > MaxText {
		return fmt.Errorf("%w: %s has %d bytes of text, at most %d", ErrTooBig, d.ID, size, MaxText)
	}
	return nil
}

// size is the text of an event in bytes.
func (e *Event) size() int {
	n := len(e.ID) + len(e.Text) + len(e.Reasoning)
	for _, c := range e.Calls {
		n += len(c.Args)
	}
	return n
}

func checkID(id string) error {
	if id == "" || len(id) > maxID {
		return fmt.Errorf("%w: an id has 1 to %d bytes, not %d", ErrInvalid, maxID, len(id))
	}
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_':
		default:
			return fmt.Errorf("%w: the id %q may have letters, digits, - and _ only", ErrInvalid, id)
		}
	}
	return nil
}

// format is the version of the files.
const format = 1

// filed is a document as its file has it.
type filed struct {
	V int `json:"v"`
	Document
}

// Encode returns a document as its file has it.
func Encode(d Document) ([]byte, error) {
	b, err := json.MarshalIndent(filed{format, d}, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encode document %s: %w: %w", d.ID, ErrInvalid, err)
	}
	return append(b, '\n'), nil
}

// Decode reads what Encode wrote. Errors wrap ErrDamaged or ErrNewer. Unknown
// fields are skipped, so that a small addition needs no new version.
func Decode(data []byte) (Document, error) {
	var head struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Document{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if head.V > format {
		return Document{}, fmt.Errorf("%w: version %d, this program knows %d", ErrNewer, head.V, format)
	}
	var f filed
	if err := json.Unmarshal(data, &f); err != nil {
		return Document{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if f.V != format {
		return Document{}, fmt.Errorf("%w: no version", ErrDamaged)
	}
	if err := f.Document.check(); err != nil {
		return Document{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return f.Document, nil
}
