package timer_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/plugin/plugintest"
	"homeagent/agent/tool"
	"homeagent/drivers/timer"
)

func TestConformance(t *testing.T) {
	plugintest.Conformance(t, func(*testing.T) plugin.Plugin { return timer.New(timer.Config{}, nil) })
}

// In the real host, with a real second: a timer rings through output_send on
// the channel that set it.
func TestInHost(t *testing.T) {
	b := plugintest.New(t)
	l := b.Listen("console")
	schema := json.RawMessage(`{"type":"object","properties":{"channel":{"type":"string"},"text":{"type":"string"}},"required":["channel","text"]}`)
	err := b.Host.Core("output").RegisterTool("output_send", tool.Def{Description: "sends", Parameters: schema, Risk: tool.Act},
		func(ctx context.Context, call tool.Call) (tool.Result, error) {
			var m plugin.Message
			if err := json.Unmarshal(call.Args, &m); err != nil {
				return tool.Result{}, err
			}
			return tool.Result{}, b.Host.Send(ctx, m)
		})
	if err != nil {
		t.Fatal(err)
	}
	b.MustStart(timer.New(timer.Config{}, nil))
	if r := b.Call("timer_set", map[string]any{"seconds": 1, "label": "tea"}); r.Status != tool.Done {
		t.Fatalf("got %+v", r)
	}
	if m := l.Wait(1); m.Text != "Time is up: tea." {
		t.Errorf("said %+v", m)
	}
	b.WaitEvent("the ring", func(e event.Event) bool { return e.State == "ring" && strings.Contains(e.Text, "tea") })
	b.Bus.Publish(event.Event{Type: event.Control, State: "ring_off"})
	b.WaitEvent("silence", func(e event.Event) bool { return e.State == "ring_off" && e.Type == event.System })
}
