package mind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/queue"
	"homeagent/agent/tool"
)

// registerOutput offers the two tools of output.
func (m *Mind) registerOutput() error {
	api := m.o.Host.Core("output")
	err := api.RegisterTool("output_send", tool.Def{
		Description: "Send a text or files to a channel other than the one that asked (the answer itself goes there without this tool). output_list names the channels.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"channel":{"type":"string","description":"as output_list names it; empty is the channel that asked"},` +
			`"text":{"type":"string"},` +
			`"files":{"type":"array","items":{"type":"string"},"description":"paths inside the workspace"},` +
			`"reply_to":{"type":"string","description":"id of the input that this answers"}},"additionalProperties":false}`),
		Risk: tool.Act,
	}, m.outputSend)
	if err != nil {
		return err
	}
	return api.RegisterTool("output_list", tool.Def{
		Description: "List the channels that output_send can reach.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		Risk:        tool.Read,
	}, m.outputList)
}

// outputSend is the tool by which the model speaks.
func (m *Mind) outputSend(ctx context.Context, c tool.Call) (tool.Result, error) {
	var args struct {
		Channel string   `json:"channel"`
		Text    string   `json:"text"`
		Files   []string `json:"files"`
		ReplyTo string   `json:"reply_to"`
	}
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return tool.Result{}, fmt.Errorf("arguments: %w", err)
	}
	in, _ := plugin.InputFrom(ctx)
	if queue.Inner(in.Source) {
		return tool.Result{}, errors.New(innerText(in.Source, c.Name)) // a second wall: call denies it before
	}
	if args.Channel == "" {
		args.Channel = in.Channel
	}
	if args.Channel == "" {
		return tool.Result{}, errors.New("nobody waits for an answer here; name a channel")
	}
	text := clean(args.Text)
	if strings.TrimSpace(text) == "" && len(args.Files) == 0 {
		return tool.Result{}, errors.New("there is neither text nor a file to send")
	}
	for _, f := range args.Files {
		if !filepath.IsLocal(f) {
			return tool.Result{}, fmt.Errorf("%q is no path inside the workspace", f)
		}
	}
	lang := plugin.LangOf(text)
	if lang == "" {
		lang = queue.LangOf(in)
	}
	msg := plugin.Message{Channel: args.Channel, Text: text, Files: args.Files, ReplyTo: args.ReplyTo, Lang: lang}
	if err := m.send(ctx, in, msg); err != nil {
		return tool.Result{}, err
	}
	if t, ok := ctx.Value(turnKey{}).(*turn); ok {
		t.sent(msg)
	}
	return tool.Result{Text: "sent to " + msg.Channel}, nil
}

// outputList is what the model can reach.
func (m *Mind) outputList(ctx context.Context, _ tool.Call) (tool.Result, error) {
	text := "channels: " + strings.Join(m.o.Host.Channels(), ", ")
	if in, ok := plugin.InputFrom(ctx); ok && in.Channel != "" {
		text += "\nthis turn was asked on: " + in.Channel
	}
	return tool.Result{Text: text}, nil
}

// sent notes what the model has sent itself. The tool runs while the loop
// waits for it; one that was given up meanwhile finds the lock.
func (t *turn) sent(msg plugin.Message) {
	t.ownMu.Lock()
	defer t.ownMu.Unlock()
	t.own[msg.Channel] = append(t.own[msg.Channel], msg.Text)
}

// resent notes what the model had sent before the process was interrupted.
func (t *turn) resent(c tool.Call, r tool.Result) {
	var msg plugin.Message
	if c.Name != "output_send" || r.Status != tool.Done || json.Unmarshal(c.Args, &msg) != nil {
		return
	}
	if msg.Channel == "" {
		msg.Channel = t.in.Channel
	}
	t.sent(msg)
}

// send is the one way out: it hands a message to its channel and tells
// observers. An empty final text only ends a turn and is no output.
func (m *Mind) send(ctx context.Context, in plugin.Input, msg plugin.Message) error {
	if err := m.o.Host.Send(ctx, msg); err != nil {
		return err
	}
	if msg.Text == "" && len(msg.Files) == 0 {
		return nil
	}
	state := ""
	if msg.Final {
		state = "final"
	}
	m.o.Bus.Publish(event.Event{Type: event.AgentOutput, Input: in.ID, Source: in.Source, Channel: msg.Channel,
		User: in.UserID, State: state, Text: msg.Text, NoMemory: in.NoMemory})
	return nil
}
