package provider

import (
	"context"
	"time"

	"homeagent/agent/tool"
)

// Role is who said a message.
type Role string

const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
	System    Role = "system" // notes of the agent itself inside the conversation
)

// Media is a picture or a sound that goes along with a message.
type Media struct {
	MIME string `json:"mime"`
	Name string `json:"name,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// Message is one entry of the conversation. A Tool message answers exactly one
// call of an earlier Assistant message, named by CallID.
type Message struct {
	// ID is the event's id in the context layer; empty for messages made up for one request.
	ID      string    `json:"id,omitempty"`
	Time    time.Time `json:"time,omitzero"`
	Role    Role      `json:"role"`
	Content string    `json:"content"`
	// Source and User tell where a User message came from.
	Source string      `json:"source,omitempty"`
	User   string      `json:"user,omitempty"`
	Media  []Media     `json:"media,omitempty"`
	Calls  []tool.Call `json:"calls,omitempty"`
	CallID string      `json:"call_id,omitempty"`
	// Name is the tool's name on a Tool message, and Status how its call ended.
	Name   string      `json:"name,omitempty"`
	Status tool.Status `json:"status,omitempty"`
	// Reasoning must be sent back unchanged with an Assistant message that has Calls.
	Reasoning string `json:"reasoning,omitempty"`
	// NoMemory keeps the text out of vectors, keywords and distillation.
	NoMemory bool `json:"no_memory,omitempty"`
}

// Request is everything a provider may see. System and Tools are byte-stable
// from turn to turn; what changes (time, recalled memory) stands in Notes and
// is sent after the messages.
type Request struct {
	System   string
	Messages []Message
	Notes    string
	Tools    []tool.Def
	// Lang is the language of the input, "zh" or "en".
	Lang string
	// Source, User and Channel are those of the input.
	Source, User, Channel string
}

// Usage counts tokens; zero where a provider does not say.
type Usage struct {
	Prompt, Cached, Completion int
}

// Response is a whole answer. Calls and Text may both be set.
type Response struct {
	Provider  string
	Model     string
	Text      string
	Reasoning string
	Calls     []tool.Call
	Usage     Usage
	// NoMemory marks a text that is not worth finding again, such as "I did not
	// understand that": it is kept, and not computed on.
	NoMemory bool
}

// Chunk is one piece of a streamed answer. A chunk without content is a sign of life.
type Chunk struct {
	Text      string
	Reasoning string
	// Restart tells that what was streamed before does not count: another
	// provider of a chain begins anew.
	Restart bool
	// Notice is a sentence for the user about the wait itself ("still thinking").
	Notice string
}

// Provider thinks. Implementations are safe for concurrent use and return soon
// after ctx ends. Errors are *Error; a nil error comes with a whole Response.
type Provider interface {
	Name() string
	Chat(ctx context.Context, req Request) (Response, error)
	// ChatStream calls emit for each piece as it arrives, from one goroutine,
	// and returns the whole. An error from emit ends the stream.
	ChatStream(ctx context.Context, req Request, emit func(Chunk) error) (Response, error)
}
