package mind

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

var innerSources = []string{"_consolidation_", "_probe_"}

// TestInnerSourcesReachNoChannel: whatever the model of such a turn asks for,
// nothing is sent and nothing outside memory acts, and it is told why.
func TestInnerSourcesReachNoChannel(t *testing.T) {
	for _, source := range innerSources {
		t.Run(source, func(t *testing.T) {
			r := newRig(t, plays(calls(call("1", "output_send", `{"channel":"console","text":"hello"}`), call("2", "lamp", `{"state":"on"}`),
				call("3", "memory_note", `{}`)), provider.Response{Text: "a text"}))
			lit, noted := 0, 0
			r.tool("lamp", tool.Act, func(context.Context, tool.Call) (tool.Result, error) {
				lit++
				return tool.Result{Text: "lit"}, nil
			})
			r.memoryTool("memory_note", func() { noted++ })
			r.start().over(r.inject(plugin.Input{Source: source, Channel: "console", Payload: "tidy up"}))
			if got := r.answers(); len(got) != 0 {
				t.Errorf("sent %q", got)
			}
			turn := r.mem.ended()[0]
			for i, want := range []tool.Status{tool.Denied, tool.Denied, tool.Done} {
				if turn.Results[i].Status != want {
					t.Errorf("call %d gave %+v", i, turn.Results[i])
				}
			}
			if text := turn.Results[0].Text; !strings.Contains(text, "nothing is sent") || !strings.Contains(text, source) {
				t.Errorf("output_send is told %q", text)
			}
			if lit != 0 || noted != 1 {
				t.Errorf("the lamp was lit %d times, memory noted %d times", lit, noted)
			}
			if turn.Final != "a text" || turn.Outcome != Answered {
				t.Errorf("recorded: %+v", turn)
			}
			for _, e := range r.b.Events() {
				if e.Type == event.AgentOutput {
					t.Errorf("an output was told of: %+v", e)
				}
			}
			for _, d := range r.llm.requests()[0].Tools {
				if d.Plugin != "memory" {
					t.Errorf("%s is offered", d.Name)
				}
			}
		})
	}
}

// memoryTool is a tool of memory's.
func (r *rig) memoryTool(name string, ran func()) {
	r.t.Helper()
	err := r.b.Host.Core("memory").RegisterTool(name, tool.Def{Description: "a tool of the test", Risk: tool.Act,
		Parameters: json.RawMessage(`{"type":"object"}`)}, func(context.Context, tool.Call) (tool.Result, error) {
		ran()
		return tool.Result{Text: "noted"}, nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// TestOnlyDeniedCallsEndTheTurn: a model that insists does not go round for ever.
func TestOnlyDeniedCallsEndTheTurn(t *testing.T) {
	r := newRig(t, plays(calls(call("", "output_send", `{"text":"hello"}`)), provider.Response{Text: "undecided"})).start()
	r.over(r.inject(plugin.Input{Source: "_consolidation_", Payload: "tidy up"}))
	if n := len(r.llm.requests()); n != 2 {
		t.Errorf("asked %d times", n)
	}
	if got := r.mem.ended()[0].Final; got != "undecided" {
		t.Errorf("recorded %q", got)
	}
}

// TestInnerTurnsLeaveTheConversationAlone: they neither see nor change it.
func TestInnerTurnsLeaveTheConversationAlone(t *testing.T) {
	r := newRig(t, says("ok")).start()
	r.turn("hello")
	before, asked := len(r.mem.Window()), len(r.mem.asked)
	r.over(r.inject(plugin.Input{Source: "_consolidation_", Payload: "tidy up"}))
	if got := len(r.mem.Window()); got != before {
		t.Errorf("the context had %d messages and has %d", before, got)
	}
	if len(r.mem.asked) != asked {
		t.Error("memory was searched for it")
	}
	reqs := r.llm.requests()
	if msgs := reqs[len(reqs)-1].Messages; len(msgs) != 1 || msgs[0].Content != "tidy up" {
		t.Errorf("the model saw %+v", msgs)
	}
	if turns := r.mem.ended(); len(turns) != 2 || turns[1].Final != "ok" || turns[1].Input.Payload != "tidy up" {
		t.Errorf("recorded %+v", turns)
	}
	r.turn("and again")
	reqs = r.llm.requests()
	for _, m := range reqs[len(reqs)-1].Messages {
		if strings.Contains(m.Content, "tidy up") {
			t.Error("the user's turn sees it")
		}
	}
}

// TestUsersDoNotWaitForInnerTurns: a model that thinks about the agent's own
// work for ever holds nobody up, and the work is taken up afterwards.
func TestUsersDoNotWaitForInnerTurns(t *testing.T) {
	for _, source := range innerSources {
		t.Run(source, func(t *testing.T) {
			began := make(chan struct{}, 8)
			interrupted := 0
			var r *rig
			r = newRig(t, func(ctx context.Context, n int, req provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
				if req.Source != source {
					return provider.Response{Text: "here I am"}, nil
				}
				if n == 0 {
					began <- struct{}{}
					<-ctx.Done()
					interrupted++
					return provider.Response{}, ctx.Err()
				}
				return provider.Response{Text: "done"}, nil
			}).start()
			id := r.inject(plugin.Input{Source: source, Payload: "tidy up"})
			<-began
			if r.m.Busy() {
				t.Error("the agent's own turn counts as a user's")
			}
			r.turn("are you there?")
			r.over(id)
			if got := strings.Join(r.answers(), "|"); got != "here I am" {
				t.Errorf("said %q", got)
			}
			turns := r.mem.ended()
			if len(turns) != 2 || turns[0].Final != "here I am" || turns[1].Final != "done" || interrupted != 1 {
				t.Errorf("turns %+v, interrupted %d times", turns, interrupted)
			}
			if s := r.q.Stats(); s.User+s.Internal != 0 || len(s.Aside) != 0 || r.m.Busy() {
				t.Errorf("left behind: %+v", s)
			}
		})
	}
}

// TestInterruptedOftenIsNotSetAside: giving way is no crash, however often.
func TestInterruptedOftenIsNotSetAside(t *testing.T) {
	began := make(chan struct{}, 8)
	tries := 0
	r := newRig(t, func(ctx context.Context, _ int, req provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
		if req.Source != "_consolidation_" {
			return provider.Response{Text: "yes"}, nil
		}
		if tries++; tries > 4 {
			return provider.Response{Text: "done"}, nil
		}
		began <- struct{}{}
		<-ctx.Done()
		return provider.Response{}, ctx.Err()
	}).start()
	id := r.inject(plugin.Input{Source: "_consolidation_", Payload: "tidy up"})
	for range 4 {
		<-began
		r.turn("are you there?")
	}
	r.over(id)
	turns := r.mem.ended()
	if last := turns[len(turns)-1]; len(turns) != 5 || last.Outcome != Answered || last.Final != "done" {
		t.Errorf("%d turns, the last %+v", len(turns), last)
	}
}

// TestFinishedCallsOfAnInterruptedInnerTurnStay: what it has done is not done twice.
func TestFinishedCallsOfAnInterruptedInnerTurnStay(t *testing.T) {
	began := make(chan struct{}, 1)
	ran := 0
	r := newRig(t, func(ctx context.Context, n int, req provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
		switch {
		case req.Source != "_consolidation_":
			return provider.Response{Text: "yes"}, nil
		case n == 0:
			return calls(call("", "memory_note", `{}`)), nil
		case n == 1:
			began <- struct{}{}
			<-ctx.Done()
			return provider.Response{}, ctx.Err()
		}
		return provider.Response{Text: "done"}, nil
	})
	r.memoryTool("memory_note", func() { ran++ })
	r.start()
	id := r.inject(plugin.Input{Source: "_consolidation_", Payload: "tidy up"})
	<-began
	r.turn("are you there?")
	r.over(id)
	turns := r.mem.ended()
	if last := turns[len(turns)-1]; ran != 1 || last.Final != "done" || len(last.Results) != 1 || last.Results[0].Status != tool.Done {
		t.Errorf("ran %d times, %+v", ran, last)
	}
}
