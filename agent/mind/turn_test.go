package mind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory/disk/disktest"
)

func TestTextTurn(t *testing.T) {
	steps := &stepList{}
	r := newRig(t, says("你好！"), with(func(o *Options) { o.Steps = steps }))
	r.mem.line, r.mem.items = "【记忆索引】关联 2 个实体", []plugin.Item{{ID: "1", Text: "a"}}
	r.start()
	id := r.turn("早上好")

	m := r.con.Wait(1)
	if m.Text != "你好！" || m.ReplyTo != id || !m.Final || m.Lang != "zh" || m.Channel != "console" {
		t.Errorf("sent: %+v", m)
	}
	req := r.llm.requests()[0]
	if u := lastOf(req, provider.User); u.Content != "早上好" || u.Source != "console" {
		t.Errorf("the user's message: %+v", u)
	}
	if req.Lang != "zh" || req.Channel != "console" || !strings.Contains(req.Notes, "【记忆索引】关联 2 个实体") || !strings.Contains(req.Notes, "星期") {
		t.Errorf("request: %+v", req)
	}
	if !strings.Contains(req.System, "管家") || !strings.Contains(req.System, "butler") || strings.Contains(req.System, "星期") {
		t.Errorf("system prompt: %q", req.System)
	}
	turn := r.mem.ended()[0]
	if turn.ID != id || turn.Outcome != Answered || turn.Final != "你好！" || len(turn.Messages) != 2 ||
		turn.Messages[0].Content != "早上好" || turn.Messages[1].Content != "你好！" || turn.Lang != "zh" {
		t.Errorf("journal: %+v", turn)
	}
	if s := r.m.Status(); s.Queue.User != 0 || s.Turn != nil || s.Provider != "fake" || s.Tracker == "" {
		t.Errorf("status: %+v", s)
	}
	want := []Step{StepStart, StepInput, StepContext, StepRecall, StepPreAction, StepRequest, StepResponse, StepPostAction,
		StepBeforeOutput, StepAnswer, StepFinal, StepSent, StepSentNoted, StepAfterOutput, StepRemembered, StepDone}
	got := slices.DeleteFunc(steps.list(), func(s Step) bool { return s == StepAccepted })
	if !slices.Equal(got, want) {
		t.Errorf("steps %v", got)
	}
	var types []string
	for _, e := range r.b.Events() {
		if e.Input == id {
			types = append(types, string(e.Type)+":"+e.State)
		}
	}
	if got := strings.Join(types, " "); got != "raw_input:text system:turn_start agent_output:final system:turn_end" {
		t.Errorf("events: %s", got)
	}
}

func TestToolTurn(t *testing.T) {
	r := newRig(t, plays(
		provider.Response{Text: "I will do it.", Reasoning: "lamp", Calls: []tool.Call{
			call("", "lamp", `{"state":"on"}`), call("x", "lamp", `{"state":"off"}`), call("x", "lamp", ``)}},
		provider.Response{Text: "The lamp is off."}))
	var ran []string
	r.tool("lamp", tool.Act, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		in, ok := plugin.InputFrom(ctx)
		if !ok || in.Channel != "console" {
			t.Errorf("the tool sees the input %+v", in)
		}
		ran = append(ran, string(c.Args))
		return tool.Result{Text: "lamp " + string(c.Args)}, nil
	})
	r.start()
	id := r.turn("lamp please")
	r.settled()
	if got := strings.Join(ran, " "); got != `{"state":"on"} {"state":"off"} {}` {
		t.Errorf("ran %s", got)
	}
	if got := r.answers(); len(got) != 1 || got[0] != "The lamp is off." {
		t.Errorf("answers %q", got)
	}
	msgs := r.llm.requests()[1].Messages
	if len(msgs) != 5 || msgs[1].Reasoning != "lamp" || msgs[1].Content != "I will do it." {
		t.Fatalf("second request: %+v", msgs)
	}
	ids := map[string]bool{}
	for i, c := range msgs[1].Calls {
		if ids[c.ID] || c.ID == "" || msgs[2+i].CallID != c.ID || msgs[2+i].Status != tool.Done {
			t.Errorf("call %d: %+v, %+v", i, c, msgs[2+i])
		}
		ids[c.ID] = true
	}
	turn := r.mem.ended()[0]
	if len(turn.Messages) != 6 || len(turn.Calls) != 3 || len(turn.Results) != 3 {
		t.Errorf("journal: %+v", turn)
	}
	var events []string
	for _, e := range r.b.Events() {
		if e.Input == id && (e.Type == event.Reasoning || e.Type == event.ToolCall) {
			events = append(events, string(e.Type)+":"+e.State+":"+e.Text)
		}
	}
	if got := strings.Join(events, "|"); got != "reasoning:reasoning:lamp|reasoning:beside_calls:I will do it.|tool_call:done:lamp|tool_call:done:lamp|tool_call:done:lamp" {
		t.Errorf("events: %s", got)
	}
}

func TestLoopExits(t *testing.T) {
	lamp := calls(call("", "lamp", `{"state":"on"}`))
	rows := []struct {
		name     string
		think    think
		deny     bool
		fail     bool
		requests int
		ran      int
		answer   string
		outcome  Outcome
	}{
		{"a text", says("done"), false, false, 1, 0, "done", Answered},
		{"after one round", plays(lamp, provider.Response{Text: "done"}), false, false, 2, 1, "done", Answered},
		{"all calls denied", plays(lamp, provider.Response{Text: "I may not."}, provider.Response{Text: "never asked"}), true, false, 2, 0, "I may not.", Answered},
		{"all calls denied, then silence", func(_ context.Context, n int, _ provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
			if n == 0 {
				return lamp, nil
			}
			return provider.Response{}, &provider.Error{Provider: "fake", Kind: provider.Network}
		}, true, false, 2, 0, "This was not done, it was denied: not today", NoAnswer},
		{"tool rounds used up", func(_ context.Context, _ int, req provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
			if len(req.Tools) == 0 {
				return provider.Response{Text: "enough", Calls: lamp.Calls}, nil
			}
			return lamp, nil
		}, false, false, 5, 4, "enough", Answered},
		{"a call fails the same way", func(_ context.Context, _ int, req provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
			if len(req.Tools) == 0 {
				return provider.Response{Text: "It does not work."}, nil
			}
			return lamp, nil
		}, false, true, 4, 3, "It does not work.", Answered},
		{"an empty answer after something was done", func(_ context.Context, n int, _ provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
			if n == 0 {
				return lamp, nil
			}
			return provider.Response{}, nil
		}, false, false, 2, 1, "This was done: ok The language model said nothing more.", NoAnswer},
		{"an empty answer", says(""), false, false, 1, 0, "The language model gave an empty answer. Say it again, or put it differently.", NoAnswer},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t, row.think, with(func(o *Options) { o.MaxToolRounds = 4 }))
			ran := 0
			r.tool("lamp", tool.Act, func(context.Context, tool.Call) (tool.Result, error) {
				ran++
				if row.fail {
					return tool.Result{}, errTest
				}
				return tool.Result{Text: "ok"}, nil
			})
			if row.deny {
				r.stage(plugin.BeforeToolcall, func(_ context.Context, sc *plugin.StageContext) error {
					sc.Deny, sc.DenyReason = true, "not today"
					return nil
				})
			}
			r.start()
			r.turn("do it")
			if got := r.answers(); len(got) != 1 || got[0] != row.answer {
				t.Errorf("answers %q", got)
			}
			if n := len(r.llm.requests()); n != row.requests {
				t.Errorf("%d requests", n)
			}
			if ran != row.ran {
				t.Errorf("the tool ran %d times", ran)
			}
			turn := r.mem.ended()[0]
			if turn.Outcome != row.outcome {
				t.Errorf("outcome %s", turn.Outcome)
			}
			if row.deny && (turn.Results[0].Status != tool.Denied || !strings.Contains(turn.Results[0].Text, "not today")) {
				t.Errorf("result %+v", turn.Results[0])
			}
			if last := r.llm.requests()[row.requests-1]; row.requests > 1 && row.name != "after one round" && row.name != "an empty answer after something was done" && len(last.Tools) != 0 {
				t.Errorf("the last request offers tools")
			}
		})
	}
}

func TestProviderFailures(t *testing.T) {
	rows := []struct {
		name string
		err  error
		zh   string
	}{
		{"auth", &provider.Error{Provider: "x", Kind: provider.Auth}, "密钥"},
		{"balance", &provider.Error{Provider: "x", Kind: provider.Balance}, "余额"},
		{"invalid", fmt.Errorf("chain: %w", &provider.Error{Provider: "x", Kind: provider.Invalid}), "模型名"},
		{"rate limit", &provider.Error{Provider: "x", Kind: provider.RateLimit}, "太多"},
		{"server", &provider.Error{Provider: "x", Kind: provider.Server}, "答不上来"},
		{"network", &provider.Error{Provider: "x", Kind: provider.Network}, "网络"},
		{"silent", &provider.Error{Provider: "x", Kind: provider.Silent}, "没有回答"},
		{"malformed", &provider.Error{Provider: "x", Kind: provider.Malformed}, "答不上来"},
		{"no class", errTest, "答不上来"},
		{"panic", nil, "答不上来"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t, func(context.Context, int, provider.Request, func(provider.Chunk) error) (provider.Response, error) {
				if row.err == nil {
					panic("boom")
				}
				return provider.Response{Text: "half an ans"}, row.err
			}).start()
			r.turn("你好")
			r.turn("hello")
			got := r.answers()
			if len(got) != 2 || !strings.Contains(got[0], row.zh) || plugin.LangOf(got[1]) != "en" || strings.Contains(got[1], "made up") {
				t.Errorf("answers %q", got)
			}
			if turns := r.mem.ended(); len(turns) != 2 || turns[0].Outcome != NoAnswer {
				t.Errorf("turns %+v", turns)
			}
		})
	}
}

func TestGarbageOfTheModel(t *testing.T) {
	r := newRig(t, plays(
		calls(call("a", "lamp", `{"state":"on`), call("b", "lamp", `{"state":"dim"}`), call("c", "no_such", `{}`),
			call("d", "lamp", `[1]`), call("e", "", `{}`), call("f\x00\xff", "lamp\xff", `null`)),
		provider.Response{Text: "ok\xff\x00"}))
	ran := 0
	r.tool("lamp", tool.Act, func(context.Context, tool.Call) (tool.Result, error) { ran++; return tool.Result{}, nil })
	r.start()
	r.turn("lamp")
	if ran != 0 {
		t.Errorf("a call with garbage ran %d times", ran)
	}
	if got := r.answers(); len(got) != 1 || got[0] != "ok\ufffd" {
		t.Errorf("answers %q", got)
	}
	results := r.mem.ended()[0].Results
	want := []string{"object", "state: ", "The tools are: lamp, output_list, output_send", "object", `no tool called "unnamed"`, `no tool called "lamp_"`}
	if len(results) != len(want) {
		t.Fatalf("%d results", len(results))
	}
	for i, res := range results {
		if res.Status != tool.Failed || !strings.Contains(res.Text, want[i]) {
			t.Errorf("result %d: %+v, want %q", i, res, want[i])
		}
	}
	for _, m := range r.llm.requests()[1].Messages {
		for _, c := range m.Calls {
			if !json.Valid(c.Args) || c.Name != plainName(c.Name) {
				t.Errorf("the next request has the call %+v", c)
			}
		}
	}
}

func TestCallsAreNumbered(t *testing.T) {
	many := make([]tool.Call, maxCalls+20)
	for i := range many {
		many[i] = call([]string{"", "same", "other"}[i%3], "look", `{}`)
	}
	r := newRig(t, plays(provider.Response{Calls: many}, calls(call("same", "look", `{}`)), provider.Response{Text: "ok"}))
	ran := 0
	r.tool("look", tool.Read, func(context.Context, tool.Call) (tool.Result, error) { ran++; return tool.Result{}, nil })
	r.stage(plugin.PostAction, func(_ context.Context, sc *plugin.StageContext) error {
		for _, c := range sc.ToolCalls {
			if c.ID == "" {
				t.Error("a handler sees a call without an id")
			}
		}
		if len(sc.ToolCalls) == maxCalls {
			// One more that has the id of another, and one out of its place.
			sc.ToolCalls = append([]tool.Call{sc.ToolCalls[5], sc.ToolCalls[5]}, sc.ToolCalls[:5]...)
		}
		return nil
	})
	r.start()
	r.turn("look")
	r.settled()
	turn := r.mem.ended()[0]
	ids := map[string]bool{}
	for _, res := range turn.Results {
		if ids[res.CallID] {
			t.Errorf("the id %q comes twice", res.CallID)
		}
		ids[res.CallID] = true
	}
	if ran != 8 || len(turn.Results) != 8 || !slices.Contains(r.states(), "calls_dropped") {
		t.Errorf("ran %d, %d results, states %v", ran, len(turn.Results), r.states())
	}
	checkPairs(t.Errorf, r.llm.requests()[2].Messages)
}

func TestSixtyAtOnce(t *testing.T) {
	r := newRig(t, func(_ context.Context, _ int, req provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
		return provider.Response{Text: "answer to " + lastOf(req, provider.User).Content}, nil
	}).start()
	r.turn("the first")
	for i := range 60 {
		r.say(fmt.Sprintf("number %d", i))
	}
	r.con.Wait(61)
	for i, got := range r.answers()[1:] {
		if got != fmt.Sprintf("answer to number %d", i) {
			t.Errorf("answer %d is %q", i, got)
		}
	}
}

func TestUsersBeforeInternal(t *testing.T) {
	gate := make(chan struct{})
	var order []string
	r := newRig(t, func(_ context.Context, n int, req provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
		if n == 0 {
			<-gate
		}
		order = append(order, req.Source)
		return provider.Response{Text: "ok"}, nil
	}).start()
	first := r.say("first")
	r.b.WaitEvent("the first turn", func(e event.Event) bool { return e.State == "turn_start" && e.Input == first })
	var last string
	for _, source := range []string{"_consolidation_", "schedule", "console", "voice", "_probe_"} {
		id := r.inject(plugin.Input{Source: source, Payload: "x"})
		if source == "_probe_" {
			last = id
		}
	}
	close(gate)
	r.over(last)
	if got := strings.Join(order, " "); got != "console console voice _consolidation_ schedule _probe_" {
		t.Errorf("order: %s", got)
	}
}

func TestOutputSend(t *testing.T) {
	rows := []struct {
		name, args string
		final      string
		want       []string // texts on the console
		status     tool.Status
		text       string
	}{
		{"the same text to the channel that asked", `{"text":"It is  nine."}`, "It is nine.", []string{"It is  nine.", ""}, tool.Done, "sent to console"},
		{"another text", `{"channel":"console","text":"one moment"}`, "It is nine.", []string{"one moment", "It is nine."}, tool.Done, ""},
		{"nothing more to say", `{"text":"It is nine."}`, "", []string{"It is nine.", ""}, tool.Done, ""},
		{"a channel nobody has", `{"channel":"fax","text":"x"}`, "sorry", []string{"sorry"}, tool.Failed, "the channels are: console"},
		{"nothing at all", `{"channel":"console","text":" "}`, "sorry", []string{"sorry"}, tool.Failed, "neither text nor a file"},
		{"a file from outside", `{"files":["/etc/passwd"]}`, "sorry", []string{"sorry"}, tool.Failed, "inside the workspace"},
		{"a file above", `{"files":["../secrets/key"]}`, "sorry", []string{"sorry"}, tool.Failed, "inside the workspace"},
		{"a file of the workspace", `{"files":["a/b.txt"]}`, "there", []string{"", "there"}, tool.Done, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t, plays(calls(call("", "output_send", row.args)), provider.Response{Text: row.final})).start()
			r.turn("what time is it")
			if got := r.answers(); !slices.Equal(got, row.want) {
				t.Errorf("sent %q", got)
			}
			res := r.mem.ended()[0].Results[0]
			if res.Status != row.status || !strings.Contains(res.Text, row.text) {
				t.Errorf("result %+v", res)
			}
			sent := r.con.Sent()
			if last := sent[len(sent)-1]; !last.Final {
				t.Errorf("the last message does not end the turn: %+v", last)
			}
		})
	}
}

func TestOutputList(t *testing.T) {
	r := newRig(t, plays(calls(call("", "output_list", `{}`)), provider.Response{Text: "ok"})).start()
	r.turn("where can you speak")
	if res := r.mem.ended()[0].Results[0]; !strings.Contains(res.Text, "channels: console") || !strings.Contains(res.Text, "asked on: console") {
		t.Errorf("result %+v", res)
	}
}

func TestSendFails(t *testing.T) {
	r := newRig(t, says("ok")).start()
	r.con.Fail(errTest)
	r.turn("hello")
	r.con.Fail(nil)
	r.over(r.inject(plugin.Input{Source: "web", Channel: "web:gone", Payload: "hello"}))
	r.over(r.inject(plugin.Input{Source: "web", Payload: "nobody waits"}))
	r.turn("hello again")
	r.settled()
	if got := r.answers(); len(got) != 1 || got[0] != "ok" {
		t.Errorf("sent %q", got)
	}
	n := 0
	for _, s := range r.states() {
		if s == "send_failed" {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d failed sends were reported", n)
	}
}

func TestStatusOfARunningTurn(t *testing.T) {
	gate := make(chan struct{})
	r := newRig(t, func(_ context.Context, _ int, _ provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
		<-gate
		return provider.Response{Text: "ok"}, nil
	})
	asked := make(chan struct{}, 10)
	r.m.o.Steps = stepFunc(func(s Step, _ string) {
		if s == StepRequest {
			asked <- struct{}{}
		}
	})
	r.start()
	id := r.say("hello")
	<-asked
	r.say("second")
	r.inject(plugin.Input{Source: "_probe_", Payload: "third"})
	s := r.m.Status()
	if s.Turn == nil || s.Turn.Input != id || s.Turn.Step != StepRequest || s.Turn.Round != 1 || s.Queue.User != 1 || s.Queue.Internal != 1 {
		t.Errorf("status %+v, turn %+v", s, s.Turn)
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
	close(gate)
	r.con.Wait(2)
}

// stepFunc is Steps as a function.
type stepFunc func(Step, string)

func (f stepFunc) Step(s Step, input string) { f(s, input) }

func TestFullDiskInATurn(t *testing.T) {
	r := newRig(t, plays(calls(call("", "lamp", `{}`), call("", "look", `{}`)), provider.Response{Text: "the disk is full"}))
	acted, looked := 0, 0
	r.tool("lamp", tool.Act, func(context.Context, tool.Call) (tool.Result, error) { acted++; return tool.Result{}, nil })
	r.tool("look", tool.Read, func(context.Context, tool.Call) (tool.Result, error) { looked++; return tool.Result{}, nil })
	r.stage(plugin.PreAction, func(context.Context, *plugin.StageContext) error {
		r.disk.FaultAt(1, disktest.Full)
		return nil
	})
	r.start()
	r.turn("lamp")
	if got := r.answers(); len(got) != 1 || got[0] != "the disk is full" || acted != 0 || looked != 1 {
		t.Errorf("answers %q, acted %d, looked %d", got, acted, looked)
	}
	var f *plugin.Fault
	if _, err := r.m.InjectText(context.Background(), "console", "console", "你好"); !errors.As(err, &f) || f.Status != 507 {
		t.Errorf("an input on a full disk: %v", err)
	}
}

func TestToolOutsideATurn(t *testing.T) {
	r := newRig(t, says("ok"))
	r.tool("lamp", tool.Act, func(_ context.Context, c tool.Call) (tool.Result, error) {
		return tool.Result{Text: string(c.Args)}, nil
	})
	r.stage(plugin.BeforeToolcall, func(_ context.Context, sc *plugin.StageContext) error {
		switch sc.Input.Source {
		case "denied":
			sc.Deny = true
		case "answered":
			text := "not now"
			sc.Response = &text
		default:
			sc.Call.Args = json.RawMessage(`{"state":"off"}`)
		}
		return nil
	})
	r.stage(plugin.AfterToolcall, func(_ context.Context, sc *plugin.StageContext) error {
		sc.Result.Text = "seen: " + sc.Result.Text
		return nil
	})
	for source, want := range map[string]tool.Result{
		"button":   {CallID: "outside", Name: "lamp", Status: tool.Done, Text: `seen: {"state":"off"}`},
		"denied":   {CallID: "outside", Name: "lamp", Status: tool.Denied, Text: "denied: no reason was given"},
		"answered": {CallID: "outside", Name: "lamp", Status: tool.NotRun, Text: "not now"},
	} {
		got, err := r.api.Tool(context.Background(), tool.Call{Name: "lamp"}, plugin.Input{Source: source})
		if err != nil || got.Text != want.Text || got.Status != want.Status || got.CallID != want.CallID {
			t.Errorf("%s: %+v, %v", source, got, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.m.Tool(ctx, tool.Call{Name: "lamp"}, plugin.Input{Source: "x"}); err == nil {
		t.Error("a call with an ended context runs")
	}
}
