package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/drivers/web"
)

var _ web.Historian = registry{}

// historyReads bounds how often memory is asked for one window: turns of
// internal sources show nothing, and there may be many in a row.
const historyReads = 8

// History is the conversation as memory's journal has it.
func (r registry) History(ctx context.Context, limit int, before string) ([]web.Item, error) {
	return history(ctx, r.a.memory.Recent, limit, before)
}

// history collects the items of whole turns, oldest first, by time.
func history(ctx context.Context, recent func(context.Context, int, string) ([]mind.Turn, error), limit int, before string) ([]web.Item, error) {
	input, _, _ := strings.Cut(before, "/")
	if limit <= 0 || input == "" && before != "" {
		return nil, nil
	}
	var out []web.Item
	ask := limit/2 + 1 // most turns show two items or more
read:
	for range historyReads {
		turns, err := recent(ctx, ask, input)
		if err != nil {
			return nil, err
		}
		for _, t := range turns {
			items := turnItems(t)
			if len(out) > 0 && len(out)+len(items) > limit {
				break read
			}
			out = append(items[max(0, len(items)-limit):], out...)
		}
		if len(turns) < ask || len(out) >= limit {
			break
		}
		input = turns[len(turns)-1].ID
	}
	// A control intent is journaled before the turn in whose middle it was said.
	slices.SortStableFunc(out, func(a, b web.Item) int { return a.Time.Compare(b.Time) })
	return out, nil
}

// turnItems are the lines that a turn left while it ran: it is told again in
// the events that it published.
func turnItems(t mind.Turn) (items []web.Item) {
	in := t.Input
	at := in.Time
	add := func(e event.Event, id string) {
		// The clock may have been set back meanwhile; the order stays.
		if e.Time.Before(at) {
			e.Time = at
		}
		at = e.Time
		e.Input, e.Source, e.User = t.ID, in.Source, in.UserID
		it, ok := web.ItemOf(e)
		if !ok {
			return
		}
		if it.ID == "" {
			it.ID = t.ID + "/c" + id
		}
		if it.Lang == "" && it.Role != web.RoleDid {
			it.Lang = t.Lang
		}
		items = append(items, it)
	}
	add(event.Event{Type: event.RawInput, Time: in.Time, Channel: in.Channel, Text: in.Payload}, "")
	var sent []string // by the model itself to the channel that asked
	for i, c := range t.Calls {
		if i >= len(t.Results) {
			break
		}
		r := t.Results[i]
		e := event.Event{Type: event.ToolCall, Channel: in.Channel, Call: &c, Result: &r}
		if k := slices.IndexFunc(t.Messages, func(m provider.Message) bool { return m.Role == provider.Tool && m.CallID == r.CallID }); k >= 0 {
			e.Time = t.Messages[k].Time
		}
		if c.Name == "output_send" && r.Status == tool.Done {
			var m plugin.Message
			if json.Unmarshal(c.Args, &m) != nil {
				continue
			}
			if m.Channel == "" {
				m.Channel = in.Channel
			}
			if m.Channel == in.Channel {
				sent = append(sent, strings.Join(strings.Fields(m.Text), " "))
			}
			e.Type, e.Channel, e.Text = event.AgentOutput, m.Channel, m.Text
		}
		add(e, c.ID)
	}
	// Without a channel nobody was told, and what the model has sent was not sent twice.
	if in.Channel != "" && !slices.Contains(sent, strings.Join(strings.Fields(t.Final), " ")) {
		add(event.Event{Type: event.AgentOutput, Time: answered(t), Channel: in.Channel, State: "final", Text: t.Final}, "")
	}
	return items
}

// answered is when the final answer stood. A turn ends a little after its answer
// has left, and the next thing may have been said by then.
func answered(t mind.Turn) time.Time {
	if t.Outcome == mind.Controlled {
		return t.Started
	}
	for _, m := range slices.Backward(t.Messages) {
		if m.Role == provider.Assistant && len(m.Calls) == 0 {
			return m.Time
		}
	}
	return t.Ended
}
