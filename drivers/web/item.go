package web

import (
	"strings"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/tool"
)

// Role is who an Item is by.
type Role string

const (
	RoleUser  Role = "user"  // said, typed or heard
	RoleAgent Role = "agent" // an output of the agent
	RoleDid   Role = "did"   // a tool call
)

// Item is one line of the history.
type Item struct {
	// ID is unique; items of one input share what stands before its "/". What
	// follows is "u" for what was said, "f" for the final answer, "c" and
	// the call's id for RoleDid, and something made up for any other output.
	ID   string    `json:"id"`
	Time time.Time `json:"time"`
	Role Role      `json:"role"`
	Text string    `json:"text"`
	// Lang is the language of what was said, "zh" or "en", "" if it is not known.
	Lang string `json:"lang,omitempty"`
	// Input is the id of the input that the item belongs to.
	Input string `json:"input,omitempty"`
	// Source is where an input came from; Channel where it is answered.
	Source  string   `json:"source,omitempty"`
	Channel string   `json:"channel,omitempty"`
	Files   []string `json:"files,omitempty"`
	// Call and Status belong to RoleDid.
	Call   *tool.Call  `json:"call,omitempty"`
	Status tool.Status `json:"status,omitempty"`

	noMemory bool      // shown while the process lives, never kept
	last     time.Time // when the same was said again, see repeats
}

func (it Item) size() int {
	n := len(it.Text) + 200
	if it.Call != nil {
		n += len(it.Call.Args)
	}
	return n
}

// ItemOf is the line that an event leaves in the history. ok is false where it
// leaves none, as those of internal sources do. The ID stays "" for an output
// that is no final answer: it has no name that comes out the same twice.
func ItemOf(e event.Event) (it Item, ok bool) {
	it = Item{Time: e.Time, Input: e.Input, Source: e.Source, Channel: e.Channel, Text: e.Text, noMemory: e.NoMemory}
	name := ""
	switch {
	case strings.HasPrefix(e.Source, "_") || strings.HasPrefix(e.Channel, "_"):
		return Item{}, false
	case e.Type == event.RawInput:
		it.Role, name = RoleUser, "u"
	case e.Type == event.AgentOutput && e.Text != "":
		if it.Role = RoleAgent; e.State == "final" {
			name = "f"
		}
	case e.Type == event.ToolCall && e.Call != nil && e.Call.Name != "output_send":
		call := *e.Call
		it.Role, it.Call, it.Text, name = RoleDid, &call, "", "c"+call.ID
		if e.Result != nil {
			it.Status, it.Files = e.Result.Status, e.Result.Files
			it.Text = strings.ToValidUTF8(e.Result.Text[:min(len(e.Result.Text), maxDidText)], "")
		}
	default:
		return Item{}, false
	}
	if it.Role != RoleDid {
		it.Lang = plugin.LangOf(it.Text)
	}
	if it.Input != "" && name != "" {
		it.ID = it.Input + "/" + name
	}
	return it, true
}

// index finds the item with an id, -1 if there is none.
func index(items []Item, id string) int {
	for i := range items {
		if items[i].ID == id {
			return i
		}
	}
	return -1
}
