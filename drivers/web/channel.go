package web

import (
	"context"

	"homeagent/agent/plugin"
)

// channel is the way out to pages, tokens and the console.
type channel struct{ a *agent }

var (
	_ plugin.Sender  = channel{}
	_ plugin.Drafter = channel{}
)

// message is a message as the open pages of a session see it.
type message struct {
	answer
	Channel string `json:"channel"`
	ReplyTo string `json:"reply_to,omitempty"`
	Final   bool   `json:"final,omitempty"`
}

// Send gives the message to whoever waits for the input it answers and to the
// open pages of its channel. A message that names no input belongs to the turn
// that is waited for on its channel: the model speaks without knowing ids. Send
// never waits for a reader, so it never fails.
func (c channel) Send(_ context.Context, m plugin.Message) error {
	if m.ReplyTo == "" {
		m.ReplyTo = c.a.turns.waiting(m.Channel)
	}
	ans := answer{Text: m.Text, Files: m.Files, Lang: m.Lang}
	if m.ReplyTo != "" {
		name := "message"
		if m.Final {
			name = "final"
		}
		c.a.turns.get(m.ReplyTo, m.Channel).add(frame{name: name, data: ans, size: len(m.Text)}, m.Final)
	}
	if m.Text != "" || len(m.Files) > 0 {
		c.a.feed.publish(m.Channel, "message", message{answer: ans, Channel: m.Channel, ReplyTo: m.ReplyTo, Final: m.Final})
	}
	return nil
}

// Draft shows a piece of a growing answer to whoever waits for it.
func (c channel) Draft(_ context.Context, d plugin.Draft) {
	if d.ReplyTo == "" {
		return
	}
	t := c.a.turns.get(d.ReplyTo, d.Channel)
	if d.Withdrawn {
		t.add(frame{name: "withdraw", data: struct{}{}}, false)
	}
	if d.Notice != "" {
		t.add(frame{name: "notice", data: words{d.Notice}, size: len(d.Notice)}, false)
	}
	if d.Text != "" {
		t.add(frame{name: "draft", data: words{d.Text}, size: len(d.Text)}, false)
	}
}
