package tool

import (
	"context"
	"encoding/json"
	"time"
)

// Risk says what a call can do, and so how carefully it is handled.
type Risk string

const (
	// Read changes nothing; a read call may be repeated after a crash.
	Read Risk = "read"
	// Act changes something; it is written to disk before it runs and never repeated.
	Act Risk = "act"
	// Risky changes something that is hard to take back; it may be asked about first.
	Risky Risk = "risky"
)

// Touches names what of the data folder a tool writes.
type Touches string

const (
	// None leaves the data folder alone.
	None Touches = "none"
	// Workspace writes below workspace/; the Tracker records it.
	Workspace Touches = "workspace"
)

// Def is a tool as it is registered and as the model sees it.
type Def struct {
	// Name is unique in the agent: [a-z][a-z0-9_]{0,63}.
	Name string `json:"name"`
	// Plugin is filled in by the host.
	Plugin string `json:"plugin"`
	// Description tells the model when to use the tool, one or two sentences.
	Description string `json:"description"`
	// Parameters is a JSON schema of type object. It must be byte-stable.
	Parameters json.RawMessage `json:"parameters"`
	Risk       Risk            `json:"risk"`
	Touches    Touches         `json:"touches"`
	// NoMemory keeps the output out of vectors, keywords and distillation. The
	// turn itself still reaches journal and context.
	NoMemory bool `json:"no_memory,omitempty"`
	// Timeout is how long a call may run; 0 is the host's default of 60 s.
	Timeout time.Duration `json:"-"`
	// Cleaner is applied to the output only where text is computed on. Nil is identity.
	Cleaner func(string) string `json:"-"`
}

// Call is one request by a provider to run a tool.
type Call struct {
	// ID is unique within the turn; the mind fills it in where a provider gave none.
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// MarshalJSON writes arguments that are no JSON, as a careless model sends
// them, as a JSON string: what was asked can always be recorded and shown.
func (c Call) MarshalJSON() ([]byte, error) {
	type plain Call // without this method
	p := plain(c)
	if len(p.Args) > 0 && !json.Valid(p.Args) {
		s, err := json.Marshal(string(p.Args))
		if err != nil {
			return nil, err
		}
		p.Args = s
	}
	return json.Marshal(p)
}

// Status is how a call ended.
type Status string

const (
	Done    Status = "done"    // ran, Text is its output
	Failed  Status = "failed"  // ran or was refused by its arguments, Text is the error
	Denied  Status = "denied"  // a before_toolcall handler denied it
	NotRun  Status = "not_run" // the turn ended before its time came
	Unknown Status = "unknown" // a crash fell into it: may have happened
)

// Result is what a call gave. Text is written for the model in plain words.
type Result struct {
	CallID string   `json:"call_id"`
	Name   string   `json:"name"`
	Status Status   `json:"status"`
	Text   string   `json:"text"`
	Files  []string `json:"files,omitempty"`
}

// Handler runs a tool. The context ends with the turn, with a control intent
// that stops it and at the tool's deadline. A returned error becomes a Failed
// result whose text is the error's; a handler need not fill CallID, Name or Status.
type Handler func(ctx context.Context, call Call) (Result, error)

// Tracker records what a tool changes so that it can be undone. Pre runs
// before the handler and returns a token that Post is given; an error of Pre
// fails the call before it runs.
type Tracker interface {
	Pre(ctx context.Context, call Call, def Def) (token string, err error)
	Post(ctx context.Context, token string, result Result) error
	// Describe says in words what the tracker does, for status.
	Describe() string
}
