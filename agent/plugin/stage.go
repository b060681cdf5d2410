package plugin

import (
	"context"
	"errors"
	"time"

	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

// ErrNotHere is wrapped by a Start whose hardware is not on this board.
var ErrNotHere = errors.New("not on this board")

// Stage is one of the seven points of a turn where plugins take part.
type Stage string

const (
	OnInput        Stage = "on_input"        // may write RawMessage
	PreAction      Stage = "pre_action"      // may write ContextMsgs
	PostAction     Stage = "post_action"     // may write LLMText, ToolCalls, ContextMsgs
	BeforeToolcall Stage = "before_toolcall" // may write Call.Name, Call.Args, Deny
	AfterToolcall  Stage = "after_toolcall"  // may write Result
	BeforeOutput   Stage = "before_output"   // may write FinalText, SkipOutput
	AfterOutput    Stage = "after_output"    // reads only
)

// Stages lists all stages in the order of a turn.
var Stages = []Stage{OnInput, PreAction, PostAction, BeforeToolcall, AfterToolcall, BeforeOutput, AfterOutput}

// StageContext is a handler's view of the turn: a copy of its own. The host
// takes over only what the stage may write and reports anything else that was
// changed. Every stage but after_output may also set Response, which ends the turn.
type StageContext struct {
	Phase  Stage
	Input  Input
	UserID string
	// GroupID is "" outside a group.
	GroupID string
	// RawMessage is the input's text; a media input starts with "".
	RawMessage  string
	ContextMsgs []provider.Message
	LLMText     string
	ToolCalls   []tool.Call
	// Call and Result are the current one in before_toolcall and after_toolcall.
	Call   tool.Call
	Result tool.Result
	// Deny in before_toolcall keeps the call from running; DenyReason is told to the model.
	Deny       bool
	DenyReason string
	// ToolResults are those of the turn so far.
	ToolResults []tool.Result
	FinalText   string
	SkipOutput  bool
	// Response, when set, ends the turn with this text; "" ends it in silence.
	Response *string
	// Memory is what was recalled for this input.
	Memory   []Item
	NoMemory bool
	// Extra passes notes from handler to handler within one turn.
	Extra map[string]string
}

// StageHandler takes part in a stage. It must return when ctx ends; the host
// skips one that outlives its deadline.
type StageHandler func(ctx context.Context, sc *StageContext) error

// InputType is text or media.
type InputType string

const (
	Text  InputType = "text"
	Media InputType = "media"
)

// Input is one thing said, heard, seen or due. It enters only by InjectInput.
type Input struct {
	// ID is assigned by InjectInput.
	ID   string    `json:"id"`
	Time time.Time `json:"time"`
	// Source is who hands it in: "web", "voice", "console", "onebot", "timer",
	// "_consolidation_", "_probe_". Names in underscores are internal and wait
	// behind every user input.
	Source string    `json:"source"`
	Type   InputType `json:"type"`
	// Payload is the text of a text input, or a caption.
	Payload string `json:"payload"`
	// Media is the content of a media input, at most 8 MiB together.
	Media []provider.Media `json:"media,omitempty"`
	// Channel is where the answer goes; "" if nobody waits for one.
	Channel string `json:"channel,omitempty"`
	UserID  string `json:"user_id,omitempty"`
	GroupID string `json:"group_id,omitempty"`
	// Lang is "zh" or "en" where the source knows it; else it is guessed from the text.
	Lang string `json:"lang,omitempty"`
	// NoMemory skips memory for the whole turn.
	NoMemory bool `json:"no_memory,omitempty"`
}
