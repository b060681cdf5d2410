package mind

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

// lampTurn is a rig whose model calls the lamp once and then answers.
func lampTurn(t *testing.T) (*rig, *[]string) {
	r := newRig(t, plays(
		provider.Response{Text: "beside", Calls: []tool.Call{call("c1", "lamp", `{"state":"on"}`)}},
		provider.Response{Text: "the answer"}))
	ran := &[]string{}
	r.tool("lamp", tool.Act, func(_ context.Context, c tool.Call) (tool.Result, error) {
		*ran = append(*ran, string(c.Args))
		return tool.Result{Text: "lamp is on"}, nil
	})
	return r, ran
}

// TestStageWrites holds each row of the stage table by what a permitted write
// changes in the turn.
func TestStageWrites(t *testing.T) {
	type seen struct {
		r    *rig
		ran  []string
		turn Turn
	}
	rows := []struct {
		name  string
		stage plugin.Stage
		write func(sc *plugin.StageContext)
		check func(t *testing.T, s seen)
	}{
		{"on_input raw_message", plugin.OnInput, func(sc *plugin.StageContext) { sc.RawMessage = "changed" }, func(t *testing.T, s seen) {
			if u := lastOf(s.r.llm.requests()[0], provider.User); u.Content != "changed" || s.turn.Messages[0].Content != "changed" {
				t.Errorf("user message %+v", u)
			}
			if s.turn.Input.Payload != "light" || s.r.mem.asked[0] != "en:changed" {
				t.Errorf("the input itself was changed or memory was asked about something else: %+v", s.r.mem.asked)
			}
		}},
		{"pre_action context_messages", plugin.PreAction, func(sc *plugin.StageContext) {
			sc.ContextMsgs = append(sc.ContextMsgs, provider.Message{Role: provider.System, Content: "hint"})
		}, func(t *testing.T, s seen) {
			if m := lastOf(s.r.llm.requests()[0], provider.System); m.Content != "hint" {
				t.Errorf("the provider does not see the hint")
			}
			if slices.ContainsFunc(s.turn.Messages, func(m provider.Message) bool { return m.Content == "hint" }) {
				t.Errorf("a hint for the provider entered the context: %+v", s.turn.Messages)
			}
		}},
		{"post_action llm_text", plugin.PostAction, func(sc *plugin.StageContext) { sc.LLMText += "!" }, func(t *testing.T, s seen) {
			if s.turn.Messages[1].Content != "beside!" || s.turn.Final != "the answer!" {
				t.Errorf("turn %+v", s.turn)
			}
		}},
		{"post_action tool_calls", plugin.PostAction, func(sc *plugin.StageContext) {
			if len(sc.ToolCalls) > 0 {
				sc.ToolCalls = append(sc.ToolCalls, call("", "lamp", `{"state":"off"}`))
			}
		}, func(t *testing.T, s seen) {
			if len(s.ran) != 2 || len(s.turn.Messages[1].Calls) != 2 {
				t.Errorf("ran %v", s.ran)
			}
		}},
		{"post_action takes the calls away", plugin.PostAction, func(sc *plugin.StageContext) { sc.ToolCalls = nil }, func(t *testing.T, s seen) {
			if len(s.ran) != 0 || s.turn.Final != "beside" {
				t.Errorf("ran %v, said %q", s.ran, s.turn.Final)
			}
		}},
		{"post_action context_messages", plugin.PostAction, func(sc *plugin.StageContext) {
			sc.ContextMsgs = []provider.Message{{Role: provider.User, Content: "short"}}
		}, func(t *testing.T, s seen) {
			msgs := s.r.llm.requests()[1].Messages
			if len(msgs) != 3 || msgs[0].Content != "short" || msgs[1].Role != provider.Assistant {
				t.Errorf("the second request: %+v", msgs)
			}
		}},
		{"before_toolcall args", plugin.BeforeToolcall, func(sc *plugin.StageContext) { sc.Call.Args = json.RawMessage(`{"state":"off"}`) }, func(t *testing.T, s seen) {
			if len(s.ran) != 1 || s.ran[0] != `{"state":"off"}` || string(s.turn.Calls[0].Args) != `{"state":"off"}` {
				t.Errorf("ran %v", s.ran)
			}
		}},
		{"before_toolcall garbage args", plugin.BeforeToolcall, func(sc *plugin.StageContext) { sc.Call.Args = json.RawMessage(`{`) }, func(t *testing.T, s seen) {
			if len(s.ran) != 0 || s.turn.Results[0].Status != tool.Failed {
				t.Errorf("ran %v, %+v", s.ran, s.turn.Results)
			}
		}},
		{"before_toolcall name", plugin.BeforeToolcall, func(sc *plugin.StageContext) {
			sc.Call.Name, sc.Call.Args = "output_list", json.RawMessage(`{}`)
		}, func(t *testing.T, s seen) {
			if len(s.ran) != 0 || s.turn.Results[0].Name != "output_list" || s.turn.Results[0].Status != tool.Done {
				t.Errorf("ran %v, %+v", s.ran, s.turn.Results)
			}
		}},
		{"before_toolcall deny", plugin.BeforeToolcall, func(sc *plugin.StageContext) { sc.Deny, sc.DenyReason = true, "night" }, func(t *testing.T, s seen) {
			if len(s.ran) != 0 || s.turn.Results[0].Status != tool.Denied || s.turn.Results[0].Text != "denied: night" {
				t.Errorf("ran %v, %+v", s.ran, s.turn.Results)
			}
		}},
		{"after_toolcall result", plugin.AfterToolcall, func(sc *plugin.StageContext) { sc.Result.Text = "hidden" }, func(t *testing.T, s seen) {
			if m := lastOf(s.r.llm.requests()[1], provider.Tool); m.Content != "hidden" || s.turn.Results[0].Text != "hidden" {
				t.Errorf("the provider sees %+v", m)
			}
		}},
		{"before_output final_text", plugin.BeforeOutput, func(sc *plugin.StageContext) { sc.FinalText = "<b>the answer</b>" }, func(t *testing.T, s seen) {
			if got := s.r.answers(); len(got) != 1 || got[0] != "<b>the answer</b>" || s.turn.Final != got[0] {
				t.Errorf("sent %q", got)
			}
			if s.turn.Messages[3].Content != "the answer" {
				t.Errorf("the context keeps %q", s.turn.Messages[3].Content)
			}
		}},
		{"before_output skip_output", plugin.BeforeOutput, func(sc *plugin.StageContext) { sc.SkipOutput = true }, func(t *testing.T, s seen) {
			if got := s.r.answers(); len(got) != 1 || got[0] != "" || s.turn.Final != "" || s.turn.Messages[3].Content != "the answer" {
				t.Errorf("sent %q, kept %+v", got, s.turn.Messages)
			}
		}},
		{"after_output reads only", plugin.AfterOutput, func(sc *plugin.StageContext) {
			if sc.FinalText != "the answer" || len(sc.ToolResults) != 1 {
				sc.Extra["wrong"] = "the stage does not see the turn"
			}
			sc.FinalText = "too late"
			text := "too late"
			sc.Response = &text
		}, func(t *testing.T, s seen) {
			if got := s.r.answers(); len(got) != 1 || got[0] != "the answer" || s.turn.Final != "the answer" {
				t.Errorf("sent %q", got)
			}
			if !slices.Contains(s.r.states(), "stage_write_refused") {
				t.Errorf("the write was not reported: %v", s.r.states())
			}
		}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r, ran := lampTurn(t)
			r.stage(row.stage, func(_ context.Context, sc *plugin.StageContext) error {
				if sc.Phase != row.stage || sc.Input.Source != "console" {
					t.Errorf("the stage sees phase %s, input %+v", sc.Phase, sc.Input)
				}
				row.write(sc)
				if sc.Extra["wrong"] != "" {
					t.Error(sc.Extra["wrong"])
				}
				return nil
			})
			r.start()
			r.turn("light")
			r.settled()
			row.check(t, seen{r, *ran, r.mem.ended()[0]})
		})
	}
}

// TestResponse ends the turn in each stage, with a text and with silence.
func TestResponse(t *testing.T) {
	rows := []struct {
		stage    plugin.Stage
		requests int
		results  []tool.Status // of the two calls, none before there are any
		messages int           // of the turn's context without the response
	}{
		{plugin.OnInput, 0, nil, 1},
		{plugin.PreAction, 0, nil, 1},
		{plugin.PostAction, 1, []tool.Status{tool.NotRun, tool.NotRun}, 4},
		{plugin.BeforeToolcall, 1, []tool.Status{tool.NotRun, tool.NotRun}, 4},
		{plugin.AfterToolcall, 1, []tool.Status{tool.Done, tool.NotRun}, 4},
		{plugin.BeforeOutput, 2, []tool.Status{tool.Done, tool.Done}, 4},
	}
	for _, row := range rows {
		for _, text := range []string{"short cut", ""} {
			t.Run(string(row.stage)+" "+text, func(t *testing.T) {
				r := newRig(t, plays(calls(call("a", "lamp", `{}`), call("b", "lamp", `{}`)), provider.Response{Text: "the answer"}))
				ran := 0
				r.tool("lamp", tool.Act, func(context.Context, tool.Call) (tool.Result, error) { ran++; return tool.Result{}, nil })
				before, after := 0, 0
				r.stage(row.stage, func(_ context.Context, sc *plugin.StageContext) error {
					sc.Response = &text
					return nil
				})
				r.stage(plugin.BeforeOutput, func(context.Context, *plugin.StageContext) error { before++; return nil })
				r.stage(plugin.AfterOutput, func(_ context.Context, sc *plugin.StageContext) error {
					after++
					if sc.FinalText != text {
						t.Errorf("after_output sees %q", sc.FinalText)
					}
					return nil
				})
				r.start()
				id := r.turn("light")
				r.settled()
				if got := r.answers(); len(got) != 1 || got[0] != text || !r.con.Sent()[0].Final {
					t.Errorf("sent %q", got)
				}
				if before != 0 || after != 1 {
					t.Errorf("before_output ran %d times, after_output %d", before, after)
				}
				turn := r.mem.ended()[0]
				var got []tool.Status
				for _, res := range turn.Results {
					got = append(got, res.Status)
				}
				if !slices.Equal(got, row.results) || len(r.llm.requests()) != row.requests {
					t.Errorf("results %v, %d requests", got, len(r.llm.requests()))
				}
				want := row.messages
				if text != "" {
					want++
				}
				if len(turn.Messages) != want || turn.Outcome != ShortCut || turn.Final != text {
					t.Errorf("journal %+v", turn)
				}
				if text != "" && turn.Messages[want-1].Content != text {
					t.Errorf("the context keeps %+v", turn.Messages[want-1])
				}
				n := 0
				for _, e := range r.b.Events() {
					if e.Type == event.ToolCall && e.Input == id {
						n++
					}
				}
				if n != len(row.results) {
					t.Errorf("%d tool_call events", n)
				}
			})
		}
	}
}

// TestStagesPassNotes holds the order of handlers and what they share.
func TestStagesPassNotes(t *testing.T) {
	r, _ := lampTurn(t)
	r.mem.items = []plugin.Item{{ID: "m", Text: "known"}}
	for _, s := range plugin.Stages {
		for _, who := range []string{"a", "b"} {
			r.stage(s, func(_ context.Context, sc *plugin.StageContext) error {
				sc.Extra["path"] += who
				if (s == plugin.OnInput) != (len(sc.Memory) == 0) {
					t.Errorf("%s sees the memory %+v", s, sc.Memory)
				}
				return nil
			})
		}
	}
	var path string
	r.stage(plugin.AfterOutput, func(_ context.Context, sc *plugin.StageContext) error {
		path = sc.Extra["path"]
		return nil
	})
	r.start()
	r.turn("light")
	// post_action comes twice, all others once
	if want := strings.Repeat("ab", len(plugin.Stages)+1); path != want {
		t.Errorf("path %q, want %q", path, want)
	}
}

// TestBadHandlers lets a handler of each stage panic, fail and hang: the turn
// goes on without it, and with the handler behind it.
func TestBadHandlers(t *testing.T) {
	for _, s := range plugin.Stages {
		for _, how := range []string{"panics", "fails", "hangs", "hangs to the end of its context"} {
			t.Run(string(s)+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					gate := make(chan struct{})
					defer close(gate)
					r, ran := lampTurn(t)
					r.stage(s, func(ctx context.Context, sc *plugin.StageContext) error {
						sc.RawMessage, sc.FinalText, sc.LLMText, sc.Deny, sc.Result.Text = "bad", "bad", "bad", true, "bad"
						bad := "bad"
						sc.Response = &bad
						switch how {
						case "panics":
							panic("boom")
						case "hangs":
							<-gate
						case "hangs to the end of its context":
							<-ctx.Done()
						}
						return errTest
					})
					good := 0
					r.stage(s, func(context.Context, *plugin.StageContext) error { good++; return nil })
					r.start()
					r.turn("light")
					r.settled()
					if got := r.answers(); len(got) != 1 || got[0] != "the answer" || len(*ran) != 1 {
						t.Errorf("answers %q, ran %v", got, *ran)
					}
					if good == 0 {
						t.Error("the handler behind it was skipped too")
					}
					want := map[string]string{"panics": "stage_panic", "fails": "stage_failed", "hangs": "stage_hung"}[how]
					if want != "" && !slices.Contains(r.states(), want) {
						t.Errorf("not reported: %v", r.states())
					}
					if hung := r.m.Status().Hung; (how == "hangs") != (len(hung) > 0) {
						t.Errorf("hung: %v", hung)
					}
					r.end()
				})
			})
		}
	}
}

// TestBadTools lets tools hang, panic and return garbage.
func TestBadTools(t *testing.T) {
	rows := []struct {
		name   string
		risk   tool.Risk
		run    func(ctx context.Context, gate chan struct{}) (tool.Result, error)
		status tool.Status
		text   string
	}{
		{"an error", tool.Act, func(context.Context, chan struct{}) (tool.Result, error) { return tool.Result{Text: "x"}, errTest }, tool.Failed, "made up by the test"},
		{"a panic", tool.Act, func(context.Context, chan struct{}) (tool.Result, error) { panic("boom") }, tool.Failed, "a fault of the plugin test"},
		{"hangs and acts", tool.Act, func(_ context.Context, gate chan struct{}) (tool.Result, error) { <-gate; return tool.Result{}, nil }, tool.Unknown, "is unknown"},
		{"hangs and reads", tool.Read, func(_ context.Context, gate chan struct{}) (tool.Result, error) { <-gate; return tool.Result{}, nil }, tool.Failed, "was given up"},
		{"ends at its deadline", tool.Act, func(ctx context.Context, _ chan struct{}) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}, tool.Failed, "did not end within 10s"},
		{"a status of its own", tool.Read, func(context.Context, chan struct{}) (tool.Result, error) {
			return tool.Result{Status: "fine", Text: "x", CallID: "other", Name: "other"}, nil
		}, tool.Done, "x"},
		{"a huge output", tool.Read, func(context.Context, chan struct{}) (tool.Result, error) {
			return tool.Result{Text: strings.Repeat("长", 300<<10)}, nil
		}, tool.Done, "[cut: 65536 of 921600 bytes shown]"},
		{"bytes that are no text", tool.Read, func(context.Context, chan struct{}) (tool.Result, error) {
			return tool.Result{Text: "a\xff\x00b", Files: []string{"", "\x00"}}, nil
		}, tool.Done, "a\ufffdb"},
		{"says that it failed", tool.Act, func(context.Context, chan struct{}) (tool.Result, error) {
			return tool.Result{Status: tool.Failed, Text: "no such lamp"}, nil
		}, tool.Failed, "no such lamp"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				defer close(gate)
				r := newRig(t, plays(calls(call("c", "bad", `{}`)), provider.Response{Text: "ok"}))
				r.tool("bad", row.risk, func(ctx context.Context, _ tool.Call) (tool.Result, error) { return row.run(ctx, gate) })
				r.start()
				r.turn("do it")
				if got := r.answers(); len(got) != 1 || got[0] != "ok" {
					t.Errorf("answers %q", got)
				}
				res := r.mem.ended()[0].Results[0]
				if res.Status != row.status || !strings.Contains(res.Text, row.text) || res.CallID != "c" || res.Name != "bad" {
					t.Errorf("result %+v", tool.Result{CallID: res.CallID, Name: res.Name, Status: res.Status, Text: short(res.Text, 200)})
				}
				if len(res.Text) > 70<<10 {
					t.Errorf("%d bytes reach the model", len(res.Text))
				}
				r.end()
			})
		})
	}
}
