package event

import (
	"time"

	"homeagent/agent/tool"
)

// Type is the kind of an event; subscribers choose by it.
type Type string

const (
	// RawInput is published when an input has been accepted durably.
	RawInput Type = "raw_input"
	// AgentOutput is published after a channel has taken an output.
	AgentOutput Type = "agent_output"
	// ToolCall is published after each call, whatever its status.
	ToolCall Type = "tool_call"
	// Reasoning carries a model's reasoning and text beside tool calls; never speech.
	Reasoning Type = "reasoning"
	// System is a change of state: a plugin failed, a device came, the network left.
	System Type = "system"
	// Control is a control intent, published past the queue (see agent/control).
	Control Type = "control"
	// Voice is a change of the voice path: listening, heard, thinking, speaking, idle.
	Voice Type = "voice"
	// All subscribes to every type.
	All Type = "*"
)

// Event is one flat record; which fields are set depends on Type.
type Event struct {
	Type Type      `json:"type"`
	Time time.Time `json:"time"`
	// Plugin names the publisher, filled in by the host.
	Plugin string `json:"plugin,omitempty"`
	// Input is the id of the input that the event belongs to.
	Input string `json:"input,omitempty"`
	// Source and Channel are where the input came from and where an output went.
	Source  string `json:"source,omitempty"`
	Channel string `json:"channel,omitempty"`
	User    string `json:"user,omitempty"`
	// State is a machine-readable word: a control intent, a voice state, a plugin state.
	State string `json:"state,omitempty"`
	// Text is for people.
	Text string `json:"text,omitempty"`
	// NoMemory is set in all that a turn without memory says and does: show it,
	// and keep nothing of it on the disk.
	NoMemory bool `json:"no_memory,omitempty"`
	// Call and Result belong to tool_call.
	Call   *tool.Call   `json:"call,omitempty"`
	Result *tool.Result `json:"result,omitempty"`
}
