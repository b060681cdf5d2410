package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/drivers/web"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// said is a turn of two seconds that begins n minutes after noon.
func said(id string, n int, text, final string) mind.Turn {
	at := noon.Add(time.Duration(n) * time.Minute)
	return mind.Turn{ID: id, Lang: "en", Outcome: mind.Answered, Final: final, Started: at, Ended: at.Add(2 * time.Second),
		Input: plugin.Input{ID: id, Time: at, Source: "voice", Channel: "voice", Type: plugin.Text, Payload: text}}
}

// did adds a call to a turn, answered one second after the turn began.
func did(t mind.Turn, id, name, args string, status tool.Status) mind.Turn {
	t.Calls = append(t.Calls, tool.Call{ID: id, Name: name, Args: json.RawMessage(args)})
	t.Results = append(t.Results, tool.Result{CallID: id, Name: name, Status: status, Text: "result of " + id})
	t.Messages = append(t.Messages, provider.Message{Role: provider.Tool, CallID: id, Time: t.Started.Add(time.Second)})
	return t
}

func show(items []web.Item) (out []string) {
	for _, it := range items {
		line := fmt.Sprintf("%s %s %s %s %s %s %q", it.Time.Format("04:05"), it.ID, it.Role, it.Lang, it.Source, it.Channel, it.Text)
		if it.Call != nil {
			line += " " + it.Call.Name + " " + string(it.Status)
		}
		out = append(out, line)
	}
	return out
}

func TestTurnItems(t *testing.T) {
	with := func(t mind.Turn, change func(*mind.Turn)) mind.Turn { change(&t); return t }
	for _, row := range []struct {
		name string
		turn mind.Turn
		want []string
	}{
		{"question and answer", said("a", 1, "hello", "Good day."), []string{
			`01:00 a/u user en voice voice "hello"`, `01:02 a/f agent en voice voice "Good day."`}},
		{"Chinese, and a text that has no language", with(said("a", 1, "开灯", "42"), func(t *mind.Turn) { t.Lang = "zh" }), []string{
			`01:00 a/u user zh voice voice "开灯"`, `01:02 a/f agent zh voice voice "42"`}},
		{"a call", did(said("a", 1, "lamp on", "It is on."), "c1", "virtual_set", `{}`, tool.Done), []string{
			`01:00 a/u user en voice voice "lamp on"`, `01:01 a/cc1 did  voice voice "result of c1" virtual_set done`, `01:02 a/f agent en voice voice "It is on."`}},
		{"a control intent", with(said("a", 1, "stop", "Stopped."), func(t *mind.Turn) { t.Outcome, t.Control = mind.Controlled, "stop" }), []string{
			`01:00 a/u user en voice voice "stop"`, `01:00 a/f agent en voice voice "Stopped."`}},
		{"stopped, no answer", with(said("a", 1, "tell me a story", ""), func(t *mind.Turn) { t.Outcome = mind.Cancelled }), []string{
			`01:00 a/u user en voice voice "tell me a story"`}},
		{"nobody to answer", with(said("a", 1, "hello", "Good day."), func(t *mind.Turn) { t.Input.Channel = "" }), []string{
			`01:00 a/u user en voice  "hello"`}},
		{"the agent's own", with(said("a", 1, "think", "Done."), func(t *mind.Turn) { t.Input.Source = "_self_" }), nil},
		{"sent by the model to another channel", did(said("a", 1, "tell the page", "I told it."), "c1", "output_send", `{"channel":"web:x","text":"dinner"}`, tool.Done), []string{
			`01:00 a/u user en voice voice "tell the page"`, `01:01 a/cc1 agent en voice web:x "dinner"`, `01:02 a/f agent en voice voice "I told it."`}},
		{"sent by the model, and the same as its answer", did(said("a", 1, "say hi", "hi  there"), "c1", "output_send", `{"text":"hi there"}`, tool.Done), []string{
			`01:00 a/u user en voice voice "say hi"`, `01:01 a/cc1 agent en voice voice "hi there"`}},
		{"not sent", did(said("a", 1, "say hi", "I could not."), "c1", "output_send", `{"text":"hi"}`, tool.Failed), []string{
			`01:00 a/u user en voice voice "say hi"`, `01:02 a/f agent en voice voice "I could not."`}},
		{"the answer left before the turn ended", with(said("a", 1, "hello", "Good day."), func(t *mind.Turn) {
			t.Messages = append(t.Messages, provider.Message{Role: provider.Assistant, Time: t.Started.Add(time.Second), Content: t.Final})
		}), []string{
			`01:00 a/u user en voice voice "hello"`, `01:01 a/f agent en voice voice "Good day."`}},
		{"the clock was set back", with(said("a", 1, "hello", "Good day."), func(t *mind.Turn) { t.Ended = noon }), []string{
			`01:00 a/u user en voice voice "hello"`, `01:00 a/f agent en voice voice "Good day."`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := show(turnItems(row.turn)); !slices.Equal(got, row.want) {
				t.Errorf("got\n%q, want\n%q", got, row.want)
			}
		})
	}
}

func TestHistory(t *testing.T) {
	var all []mind.Turn // newest first
	for i := 5; i >= 0; i-- {
		tn := said(fmt.Sprintf("t%d", i), i, "hello", "Good day.")
		if i == 4 || i == 3 {
			tn.Input.Source = "_self_"
		}
		all = append(all, tn)
	}
	recent := func(_ context.Context, limit int, before string) ([]mind.Turn, error) {
		rest := all
		if before != "" {
			k := slices.IndexFunc(all, func(t mind.Turn) bool { return t.ID == before })
			if k < 0 {
				return nil, nil
			}
			rest = all[k+1:]
		}
		return rest[:min(limit, len(rest))], nil
	}
	for _, row := range []struct {
		name   string
		limit  int
		before string
		want   []string
	}{
		{"all", 50, "", []string{"t0/u", "t0/f", "t1/u", "t1/f", "t2/u", "t2/f", "t5/u", "t5/f"}},
		{"past turns that show nothing", 4, "", []string{"t2/u", "t2/f", "t5/u", "t5/f"}},
		{"whole turns only", 3, "", []string{"t5/u", "t5/f"}},
		{"less than a turn", 1, "", []string{"t5/f"}},
		{"before", 3, "t2/u", []string{"t1/u", "t1/f"}},
		{"before the first", 3, "t0/u", nil},
		{"before what is not known", 3, "x/u", nil},
		{"before a ring", 3, "/20260301T120000.000-7", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			items, err := history(context.Background(), recent, row.limit, row.before)
			var got []string
			for _, it := range items {
				got = append(got, it.ID)
			}
			if err != nil || !slices.Equal(got, row.want) {
				t.Errorf("got %q, %v, want %q", got, err, row.want)
			}
		})
	}
}
