package plugin

import (
	"context"
	"io"
	"log/slog"
	"net/url"

	"homeagent/agent/event"
	"homeagent/agent/home"
	"homeagent/agent/pcm"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory/embed"
)

// Plugin is one sense or hand.
type Plugin interface {
	// Name is the plugin's folder under drivers: [a-z][a-z0-9]*.
	Name() string
	Version() string
	// Start joins the plugin to the agent. The context is for starting only.
	// The host logs and shows an error and goes on without the plugin; wrap
	// ErrNotHere where the hardware is not on this board.
	Start(ctx context.Context, api API) error
	// Stop ends what the plugin runs within the context's deadline.
	Stop(ctx context.Context) error
}

// API is what the host gives a plugin at Start.
type API interface {
	// Log carries the plugin's name.
	Log() *slog.Logger

	// RegisterTool offers a tool. The definition's Plugin is filled in. An
	// error: the name is taken or malformed, or the schema does not parse.
	RegisterTool(name string, def tool.Def, h tool.Handler) error
	// RegisterStage adds a handler behind those already there.
	RegisterStage(stage Stage, h StageHandler) error
	// Subscribe calls h for each event of the type from one goroutine, in
	// order, and returns what ends it. A subscriber that falls behind its
	// bounded queue loses the oldest events, which is logged, except for
	// event.Control, whose subscribers are called at once.
	Subscribe(t event.Type, h func(event.Event)) (undo func())
	Publish(e event.Event)

	// InjectInput hands in an input and returns its id once it is durable.
	InjectInput(ctx context.Context, in Input) (id string, err error)

	// Channel offers a way out: "voice", or "web" for every "web:<session>".
	Channel(name string, s Sender) error
	Provider(name string, p provider.Provider) error
	// Embedder offers what turns text into vectors for memory.
	Embedder(name string, e embed.Embedder) error
	Audio() pcm.Devices
	// AudioDevice offers devices under "name:id".
	AudioDevice(name string, o pcm.Opener) error
	// Streams takes connections of a protocol that the door accepted and vetted.
	Streams(name string, h StreamHandler) error
	// Endpoint answers requests to /api/v1/<name> after the door has let them in.
	Endpoint(name string, h EndpointHandler) error

	Memory() Memory
	// Store is a key-value bucket of the plugin's own, kept across restarts.
	Store() Store
	Home() *home.Home
	// Secret returns "" for a secret that is not set.
	Secret(name string) string
	// Tool runs a registered tool outside a turn, as a button or a ring does.
	// The call passes before_toolcall, tracker and after_toolcall like any other.
	Tool(ctx context.Context, call tool.Call, in Input) (tool.Result, error)
}

// Sender takes what output_send sends to a channel. Send returns when the
// channel has taken the message over; an error is told to the model.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// Drafter is a Sender that can show an answer while it grows. A draft is never
// the answer: Send follows with the final text, or a draft with Withdrawn set.
type Drafter interface {
	Draft(ctx context.Context, d Draft)
}

// Message is one output.
type Message struct {
	// Channel is the full name, "web:4f2a".
	Channel string   `json:"channel"`
	Text    string   `json:"text"`
	Files   []string `json:"files,omitempty"`
	// ReplyTo is the id of the input that this answers, "" if none.
	ReplyTo string `json:"reply_to,omitempty"`
	// Lang is "zh" or "en", the language of the text.
	Lang string `json:"lang,omitempty"`
	// Final marks the answer that ends the turn of ReplyTo. An empty final
	// text ends it in silence.
	Final bool `json:"final,omitempty"`
}

// Draft is a growing answer: Text is the piece that has come since the last one.
type Draft struct {
	Channel   string
	ReplyTo   string
	Text      string
	Notice    string
	Withdrawn bool
}

// StreamHandler owns conn until it returns; the host closes it then. peer is
// the address the door saw.
type StreamHandler func(ctx context.Context, conn io.ReadWriteCloser, peer string)

// Request is a call of /api/v1/<name>[/<rest>] that the door let in.
type Request struct {
	Method string
	// Path is what follows the endpoint's name, without the leading slash.
	Path  string
	Query url.Values
	// Body is bounded by the door; ContentType is its type.
	Body        io.Reader
	ContentType string
	// Session names the login or token; "local:<uid>" for the door's unix socket.
	Session string
	Lang    string
}

// Reply receives an endpoint's answer. Write after Status; each Write reaches
// the peer at once. Without Status it is 200 and application/json.
type Reply interface {
	io.Writer
	Status(code int, contentType string)
}

// EndpointHandler answers one request. An error that is *Fault becomes a
// problem document with its status; any other becomes a 500 without detail.
type EndpointHandler func(ctx context.Context, req *Request, out Reply) error

// Fault is an error for the person who asked, in their language.
type Fault struct {
	Status int    // HTTP status
	Title  string // what happened and what to do, one or two sentences
	Err    error  // for the log
}

func (f *Fault) Error() string {
	if f.Err != nil {
		return f.Title + ": " + f.Err.Error()
	}
	return f.Title
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Triple is a fact: subject, relation, object.
type Triple struct {
	Subject  string `json:"subject"`
	Relation string `json:"relation"`
	Object   string `json:"object"`
}

// Item is one thing recalled.
type Item struct {
	ID    string  `json:"id"`
	Text  string  `json:"text"`
	Score float64 `json:"score"`
}

// Memory is what a plugin may do with memory.
type Memory interface {
	Recall(ctx context.Context, query string, limit int) ([]Item, error)
	Commit(ctx context.Context, triples []Triple, source string) error
}

// Store keeps bytes by key; every call is one durable transaction. A missing
// key gives nil. Values are at most 1 MiB.
type Store interface {
	Get(key string) ([]byte, error)
	Put(key string, value []byte) error
	Delete(key string) error
	// List calls f in key order until it returns false.
	List(prefix string, f func(key string, value []byte) bool) error
}
