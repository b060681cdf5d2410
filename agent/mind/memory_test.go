package mind

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

func TestNoMemory(t *testing.T) {
	r := newRig(t, plays(calls(call("", "lamp", `{}`)), provider.Response{Text: "secret answer"}, provider.Response{Text: "ok"}))
	r.mem.line = "known"
	r.tool("lamp", tool.Act, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "x"}, nil })
	r.stage(plugin.OnInput, func(_ context.Context, sc *plugin.StageContext) error {
		if sc.RawMessage == "secret" && !sc.NoMemory {
			t.Error("the stage does not know")
		}
		return nil
	})
	r.start()
	id, err := r.m.InjectTextNoMemory(context.Background(), "console", "console", "secret")
	if err != nil {
		t.Fatal(err)
	}
	r.over(id)
	if got := r.answers(); len(got) != 1 || got[0] != "secret answer" {
		t.Fatalf("answers %q", got)
	}
	if len(r.mem.ended()) != 0 || len(r.mem.Window()) != 0 || len(r.mem.asked) != 0 {
		t.Errorf("memory has seen the turn: %+v %+v %v", r.mem.ended(), r.mem.Window(), r.mem.asked)
	}
	r.turn("what did I say")
	for _, m := range r.llm.requests()[2].Messages {
		if strings.Contains(m.Content, "secret") {
			t.Errorf("the next turn sees %+v", m)
		}
	}
}

func TestNoMemoryTool(t *testing.T) {
	r := newRig(t, plays(calls(call("", "camera", `{}`)), provider.Response{Text: "a cat"}))
	err := r.api.RegisterTool("camera", tool.Def{Description: "looks", Risk: tool.Read, NoMemory: true},
		func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "cat.jpg"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	r.start()
	r.turn("look")
	turn := r.mem.ended()[0]
	if !slices.Equal(turn.NoMemoryTools, []string{"camera"}) || turn.Final != "a cat" {
		t.Errorf("turn %+v", turn)
	}
	for _, m := range turn.Messages {
		if m.NoMemory != (m.Role == provider.Tool) {
			t.Errorf("message %+v", m)
		}
	}
}

func TestMedia(t *testing.T) {
	picture := []provider.Media{{MIME: "image/jpeg", Name: "cat.jpg", Data: make([]byte, 3000)}}
	rows := []struct {
		name, caption, described, want string
	}{
		{"nobody can read it", "看这个", "", "看这个\n（用户发来附件：cat.jpg, image/jpeg, 3 KB。没有插件能把它变成文字。）"},
		{"a plugin describes it", "what is this", "a cat on a mat", "what is this\na cat on a mat"},
		{"without a caption", "", "a cat on a mat", "a cat on a mat"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t, says("喵"))
			r.stage(plugin.OnInput, func(_ context.Context, sc *plugin.StageContext) error {
				if sc.RawMessage != "" || len(sc.Input.Media) != 1 || sc.Input.Payload != row.caption {
					t.Errorf("the stage sees %q and %+v", sc.RawMessage, sc.Input)
				}
				sc.RawMessage = row.described
				return nil
			})
			r.start()
			r.over(r.inject(plugin.Input{Source: "console", Channel: "console", Type: plugin.Media, Payload: row.caption, Media: picture}))
			if got := lastOf(r.llm.requests()[0], provider.User); got.Content != row.want || len(got.Media) != 1 || len(got.Media[0].Data) != 3000 {
				t.Errorf("the provider sees %q with %d media", got.Content, len(got.Media))
			}
			turn := r.mem.ended()[0]
			if turn.Messages[0].Media[0].Data != nil || turn.Input.Media[0].Data != nil || turn.Messages[0].Media[0].Name != "cat.jpg" {
				t.Error("the bytes of media go into the context or the journal")
			}
		})
	}
}

func TestPersona(t *testing.T) {
	text := "I am Alfred."
	r := newRig(t, says("ok"), with(func(o *Options) { o.Persona = func() string { return text } })).start()
	r.turn("one")
	r.turn("two")
	text = strings.Repeat("x\xff", maxPersona)
	r.turn("three")
	text = " \n"
	r.turn("four")
	reqs := r.llm.requests()
	if !strings.HasPrefix(reqs[0].System, "I am Alfred.") || reqs[0].System != reqs[1].System {
		t.Errorf("system prompts %q, %q", reqs[0].System, reqs[1].System)
	}
	if len(reqs[2].System) > maxPersona+4096 || !strings.Contains(reqs[3].System, "管家") {
		t.Errorf("system prompts of %d bytes, %q", len(reqs[2].System), reqs[3].System)
	}
	for _, d := range reqs[0].Tools {
		if strings.Contains(d.Name, "persona") {
			t.Errorf("a tool %s", d.Name)
		}
	}
}

func TestMemoryFails(t *testing.T) {
	r := newRig(t, says("ok"))
	r.mem.err = errTest
	r.start()
	r.turn("hello")
	r.settled()
	if got := r.answers(); len(got) != 1 || got[0] != "ok" || !slices.Contains(r.states(), "memory_failed") {
		t.Errorf("answers %q, states %v", got, r.states())
	}
}

// TestPrefixIsStable compares what stands before the messages byte by byte.
func TestPrefixIsStable(t *testing.T) {
	r := newRig(t, says("ok"))
	for _, name := range []string{"b_tool", "a_tool"} {
		r.tool(name, tool.Read, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil })
	}
	r.start()
	for i := range 5 {
		r.mem.line = fmt.Sprint("recalled ", i)
		r.turn([]string{"hello", "你好"}[i%2])
	}
	prefix := func(req provider.Request) string {
		b, err := json.Marshal(req.Tools)
		if err != nil {
			t.Fatal(err)
		}
		return req.System + string(b)
	}
	reqs := r.llm.requests()
	for i, req := range reqs {
		if prefix(req) != prefix(reqs[0]) || !strings.Contains(req.Notes, fmt.Sprint("recalled ", i)) {
			t.Errorf("request %d: %q, notes %q", i, prefix(req), req.Notes)
		}
	}
}
