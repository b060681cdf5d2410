package mind

import (
	"context"
	"time"

	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

// Memory is what a turn needs of the layers of memory. Its methods are safe
// for concurrent use: EndTurn of a control intent may fall into a running turn.
//
// Messages carry ids that stay the same when a turn is taken up again after a
// crash, so that each reaches the context once.
type Memory interface {
	// Append adds to the live context, in memory only: the queue holds the
	// input durably until EndTurn. A message whose id is already there is ignored.
	Append(msgs ...provider.Message)
	// Prune brings a context that has grown too long back to its size, keeping
	// the messages most relevant to query. An assistant message with calls and
	// the tool messages that answer it stay or go together. The message that
	// was appended last always stays.
	Prune(ctx context.Context, query string) error
	// Window is a copy of the live context, oldest first.
	Window() []provider.Message
	// Recall finds what is known about query. line is the one line that goes
	// into the prompt, in lang ("zh" or "en"), "" if nothing is known.
	Recall(ctx context.Context, query, lang string) (line string, items []plugin.Item, err error)
	// EndTurn closes a turn in one durable transaction: those of t.Messages
	// that the context lacks are added, the context is saved, the journal's
	// line is kept. A second EndTurn with the same t.ID changes nothing. It is
	// not called for a turn with NoMemory.
	EndTurn(ctx context.Context, t Turn) error
}

// Outcome is how a turn ended.
type Outcome string

const (
	// Answered: the provider's answer was sent.
	Answered Outcome = "answered"
	// ShortCut: a stage handler's Response ended the turn.
	ShortCut Outcome = "short_cut"
	// Cancelled: a control intent ended the turn.
	Cancelled Outcome = "cancelled"
	// NoAnswer: every provider failed and a sentence of the agent's own was sent.
	NoAnswer Outcome = "no_answer"
	// SetAside: the input ended the process twice and was not tried again.
	SetAside Outcome = "set_aside"
	// Controlled: the input was a control intent; there was no turn.
	Controlled Outcome = "control"
)

// Turn is the record of a turn as the journal keeps it. Contents of media are
// left out; their names and types stay.
type Turn struct {
	// ID is that of the input.
	ID      string       `json:"id"`
	Input   plugin.Input `json:"input"`
	Lang    string       `json:"lang"`
	Outcome Outcome      `json:"outcome"`
	// Control is the intent where Outcome is Controlled; such a turn has no Messages.
	Control string `json:"control,omitempty"`
	// Messages are what the turn adds to the context, in order: the user's, then
	// assistant and tool messages, then the answer.
	Messages []provider.Message `json:"messages,omitempty"`
	// Calls ran or were asked for in this order; Results answers each by CallID.
	Calls   []tool.Call   `json:"calls,omitempty"`
	Results []tool.Result `json:"results,omitempty"`
	// Final is the text that was sent, "" after silence.
	Final string `json:"final"`
	// NoMemoryTools names the tools of this turn whose output is kept out of
	// vectors, keywords and distillation. Their messages have NoMemory set too.
	NoMemoryTools []string  `json:"no_memory_tools,omitempty"`
	Started       time.Time `json:"started"`
	Ended         time.Time `json:"ended"`
}
