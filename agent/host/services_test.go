package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"homeagent/agent/pcm"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

// changeAll changes every field of a StageContext.
func changeAll(sc *plugin.StageContext) {
	text := "changed"
	sc.Phase = "changed"
	sc.Input.Payload = "changed"
	sc.UserID, sc.GroupID, sc.RawMessage = "changed", "changed", "changed"
	sc.ContextMsgs[0].Content = "changed"
	sc.LLMText = "changed"
	sc.ToolCalls[0].Args = json.RawMessage(`"changed"`)
	sc.Call = tool.Call{ID: "changed", Name: "changed", Args: json.RawMessage(`"changed"`)}
	sc.Result = tool.Result{CallID: "changed", Name: "changed", Status: tool.Failed, Text: "changed", Files: []string{"changed"}}
	sc.Deny, sc.DenyReason = true, "changed"
	sc.ToolResults[0].Text = "changed"
	sc.FinalText, sc.SkipOutput = "changed", true
	sc.Response = &text
	sc.Memory[0].Text = "changed"
	sc.NoMemory = true
	sc.Extra["changed"] = "changed"
}

func whole(stage plugin.Stage) plugin.StageContext {
	return plugin.StageContext{Phase: stage, Input: plugin.Input{ID: "i", Payload: "p", Media: []provider.Media{{Data: []byte{1}}}},
		UserID: "u", GroupID: "g", RawMessage: "r", ContextMsgs: []provider.Message{{Role: provider.User, Content: "c"}}, LLMText: "l",
		ToolCalls: []tool.Call{{ID: "1", Name: "n", Args: json.RawMessage(`{}`)}}, Call: tool.Call{ID: "1", Name: "n", Args: json.RawMessage(`{}`)},
		Result: tool.Result{CallID: "1", Name: "n", Status: tool.Done, Text: "t"}, ToolResults: []tool.Result{{CallID: "1", Text: "t"}},
		FinalText: "f", Memory: []plugin.Item{{ID: "m", Text: "m"}}, Extra: map[string]string{"k": "v"}}
}

// TestStageRights lets a handler of each stage change everything and compares
// with the table as it is promised, field by field.
func TestStageRights(t *testing.T) {
	may := map[plugin.Stage][]string{
		plugin.OnInput:        {"RawMessage", "Response", "Extra"},
		plugin.PreAction:      {"ContextMsgs", "Response", "Extra"},
		plugin.PostAction:     {"LLMText", "ToolCalls", "ContextMsgs", "Response", "Extra"},
		plugin.BeforeToolcall: {"Call", "Deny", "DenyReason", "Response", "Extra"},
		plugin.AfterToolcall:  {"Result", "Response", "Extra"},
		plugin.BeforeOutput:   {"FinalText", "SkipOutput", "Response", "Extra"},
		plugin.AfterOutput:    {"Extra"},
	}
	for _, stage := range plugin.Stages {
		t.Run(string(stage), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				api := r.Core("greedy")
				api.RegisterStage(stage, func(_ context.Context, sc *plugin.StageContext) error { changeAll(sc); return nil })
				before := whole(stage)
				given := whole(stage)
				after := r.Stage(context.Background(), given)
				if !reflect.DeepEqual(given, before) {
					t.Errorf("the caller's own value was changed: %+v", given)
				}
				a, b := reflect.ValueOf(after), reflect.ValueOf(before)
				for i := range a.NumField() {
					name := a.Type().Field(i).Name
					changed := !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface())
					if changed != slices.Contains(may[stage], name) {
						t.Errorf("%s changed: %v", name, changed)
					}
				}
				if after.Call.ID != "1" || after.Result.CallID != "1" || after.Result.Name != "n" {
					t.Errorf("whose call it is was changed: %+v, %+v", after.Call, after.Result)
				}
				refused := r.reported("stage_write_refused")
				if len(refused) != 1 || !strings.Contains(refused[0], "plugin greedy") {
					t.Fatalf("reported %v", refused)
				}
				for _, right := range rights {
					if slices.Contains(right.stages, stage) == strings.Contains(refused[0], " "+right.field+",") {
						t.Errorf("%s: %s", right.field, refused[0])
					}
				}
			})
		})
	}
}

// TestRightsAreComplete holds that every field of StageContext stands in the table.
func TestRightsAreComplete(t *testing.T) {
	before := whole(plugin.OnInput)
	typ := reflect.TypeOf(before)
	for i := range typ.NumField() {
		after := cloneContext(&before)
		changed := cloneContext(&before)
		changeAll(changed)
		reflect.ValueOf(after).Elem().Field(i).Set(reflect.ValueOf(changed).Elem().Field(i))
		if !slices.ContainsFunc(rights, func(r right) bool { return !r.same(&before, after) }) {
			t.Errorf("a change of %s goes unseen", typ.Field(i).Name)
		}
	}
}

func TestCopiesShareNothing(t *testing.T) {
	a := whole(plugin.OnInput)
	b := cloneContext(&a)
	changeAll(b)
	b.Input.Media[0].Data[0] = 9
	if want := whole(plugin.OnInput); !reflect.DeepEqual(a, want) {
		t.Errorf("the original is %+v", a)
	}
}

func TestDenyEndsTheStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		api := r.Core("core")
		api.RegisterStage(plugin.BeforeToolcall, func(_ context.Context, sc *plugin.StageContext) error { sc.Deny = true; return nil })
		api.RegisterStage(plugin.BeforeToolcall, func(_ context.Context, sc *plugin.StageContext) error { sc.Deny = false; return nil })
		if sc := r.Stage(context.Background(), whole(plugin.BeforeToolcall)); !sc.Deny {
			t.Error("a later handler has allowed what an earlier one denied")
		}
	})
}

func TestStageStatusGarbage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Core("core").RegisterStage(plugin.AfterToolcall, func(_ context.Context, sc *plugin.StageContext) error {
			sc.Result.Status, sc.Result.Text = "splendid", "a\xff"+strings.Repeat("x", MaxToolText)
			return nil
		})
		res := r.Stage(context.Background(), whole(plugin.AfterToolcall)).Result
		if res.Status != tool.Done || !strings.Contains(res.Text, "\ufffd") || len(res.Text) > MaxToolText+100 {
			t.Errorf("status %s, %d bytes", res.Status, len(res.Text))
		}
	})
}

func TestCheck(t *testing.T) {
	h := New(Options{Log: slog.New(slog.DiscardHandler)})
	d := nopDef
	d.Parameters = json.RawMessage(`{"type":"object","properties":{"state":{"enum":["on","off"]},"seconds":{"type":"number","minimum":1},` +
		`"deep":{"type":"object","properties":{"n":{"type":"integer"}}}},"required":["state"],"additionalProperties":false}`)
	if err := h.Core("core").RegisterTool("lamp", d, nop); err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name, tool, args string
		want             []string // nil lets it pass
	}{
		{"good", "lamp", `{"state":"on","seconds":2.5}`, nil},
		{"missing", "lamp", `{}`, []string{"missing properties: [\"state\"]"}},
		{"bad value", "lamp", `{"state":"dim"}`, []string{"state: ", "[on off]"}},
		{"wrong type", "lamp", `{"state":"on","seconds":"many"}`, []string{"seconds: type: many has type \"string\", want \"number\""}},
		{"wrong type inside", "lamp", `{"state":"on","deep":{"n":1.5}}`, []string{"deep.n: type: "}},
		{"not known", "lamp", `{"state":"on","colour":"red"}`, []string{"unexpected additional properties [\"colour\"]"}},
		{"an array", "lamp", `[]`, []string{"has type \"array\", want \"object\""}},
		{"no JSON", "lamp", `{"state":`, []string{"not valid JSON"}},
		{"two values", "lamp", `{"state":"on"} {}`, []string{"not valid JSON"}},
		{"nothing", "lamp", ``, []string{"not valid JSON"}},
		{"no such tool", "lamb", `{}`, []string{`no tool called "lamb"`, "The tools are: lamp"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, bad := h.Check(tool.Call{ID: "c", Name: row.tool, Args: json.RawMessage(row.args)})
			if row.want == nil {
				if bad != nil {
					t.Errorf("refused: %+v", bad)
				}
				return
			}
			if bad == nil || bad.Status != tool.Failed || bad.CallID != "c" {
				t.Fatalf("got %+v", bad)
			}
			for _, w := range row.want {
				if !strings.Contains(bad.Text, w) {
					t.Errorf("%q lacks %q", bad.Text, w)
				}
			}
		})
	}
}

func TestToolOfAStoppedPlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Add(&fake{name: "p", start: func(_ context.Context, api plugin.API) error {
			return api.RegisterTool("wait", nopDef, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
				<-ctx.Done()
				return tool.Result{}, errors.New("the plugin has stopped")
			})
		}})
		r.Start(context.Background())
		got := make(chan tool.Result, 1)
		go func() {
			got <- r.RunTool(context.Background(), tool.Call{ID: "c", Name: "wait", Args: json.RawMessage(`{}`)})
		}()
		synctest.Wait()
		r.Stop(context.Background())
		if res := <-got; res.Status != tool.Failed || res.Text != "the plugin has stopped" {
			t.Errorf("a running call: %+v", res)
		}
		if res := r.RunTool(context.Background(), tool.Call{ID: "c", Name: "wait"}); res.Status != tool.Failed {
			t.Errorf("a later call: %+v", res)
		}
	})
}

func TestChannelRouting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		api := r.Core("core")
		var got []string
		for _, name := range []string{"web", "voice"} {
			api.Channel(name, sink(func(m plugin.Message) error { got = append(got, name+"<"+m.Channel); return nil }))
		}
		api.Channel("broken", sink(func(plugin.Message) error { panic("boom") }))
		for _, c := range []string{"web:1", "web", "voice", "web:a:b"} {
			if err := r.Send(context.Background(), plugin.Message{Channel: c}); err != nil {
				t.Errorf("%s: %v", c, err)
			}
		}
		if s := strings.Join(got, " "); s != "web<web:1 web<web voice<voice web<web:a:b" {
			t.Errorf("routed %s", s)
		}
		var none *NoChannelError
		for _, c := range []string{"webx:1", "fax", "", ":"} {
			if err := r.Send(context.Background(), plugin.Message{Channel: c}); !errors.As(err, &none) || !strings.Contains(err.Error(), "broken, voice, web") {
				t.Errorf("%q: %v", c, err)
			}
		}
		var p *PanicError
		if err := r.Send(context.Background(), plugin.Message{Channel: "broken"}); !errors.As(err, &p) || len(r.reported("channel_failed")) != 1 {
			t.Errorf("a panic: %v", err)
		}
		if r.Drafter("web:1") != nil || r.Drafter("fax") != nil {
			t.Error("a channel without drafts has a drafter")
		}
	})
}

// openerFake offers two devices.
type openerFake struct {
	pcm.Opener
	list    []pcm.Info
	err     error
	opened  []string
	choices [2]string
}

func (o *openerFake) Devices(context.Context) ([]pcm.Info, error) { return o.list, o.err }

func (o *openerFake) OpenSource(_ context.Context, id string, _ pcm.Format) (pcm.Source, error) {
	if id == "panic" {
		panic("boom")
	}
	o.opened = append(o.opened, "<"+id)
	return nil, nil
}

func (o *openerFake) OpenSink(_ context.Context, id string, _ pcm.Format) (pcm.Sink, error) {
	o.opened = append(o.opened, ">"+id)
	return nil, nil
}

// chooser is an opener that knows the default.
type chooser struct{ *openerFake }

func (c chooser) DefaultCapture() string  { return c.choices[0] }
func (c chooser) DefaultPlayback() string { return c.choices[1] }

func TestAudio(t *testing.T) {
	ctx := context.Background()
	build := func(o Options, chosen [2]string) (pcm.Devices, *openerFake, *openerFake) {
		o.Log = slog.New(slog.DiscardHandler)
		h := New(o)
		file := &openerFake{list: []pcm.Info{{Name: "out", Playback: true}}}
		card := &openerFake{list: []pcm.Info{{Name: "card:hw:1", Capture: true, Playback: true}}, choices: chosen}
		api := h.Core("core")
		if err := errors.Join(api.AudioDevice("file", file), api.AudioDevice("card", chooser{card})); err != nil {
			t.Fatal(err)
		}
		return api.Audio(), file, card
	}
	dev, file, card := build(Options{}, [2]string{"", ""})
	list, err := dev.List(ctx)
	if err != nil || len(list) != 2 || list[0].Name != "file:out" || list[1].Name != "card:hw:1" {
		t.Errorf("list %+v, %v", list, err)
	}
	dev.Capture(ctx, "card:hw:1", pcm.Voice)
	dev.Capture(ctx, "", pcm.Voice)  // the first that captures
	dev.Playback(ctx, "", pcm.Voice) // the first that plays
	if got := strings.Join(append(card.opened, file.opened...), " "); got != "<hw:1 <hw:1 >out" {
		t.Errorf("opened %s", got)
	}
	var de *pcm.DeviceError
	if _, err := dev.Capture(ctx, "fax:1", pcm.Voice); !errors.As(err, &de) || de.Device != "fax:1" || !errors.Is(err, ErrNoDevice) {
		t.Errorf("unknown device: %v", err)
	}
	if _, err := dev.Capture(ctx, "card:panic", pcm.Voice); !errors.As(err, &de) {
		t.Errorf("a panic: %v", err)
	}
	card.err = errors.New("unplugged")
	if list, err := dev.List(ctx); err == nil || len(list) != 2 {
		t.Errorf("an opener that fails: %v, %v", list, err)
	}

	dev, _, card = build(Options{}, [2]string{"card:mic", "card:loud"})
	dev.Capture(ctx, "", pcm.Voice)
	dev.Playback(ctx, "", pcm.Voice)
	if got := strings.Join(card.opened, " "); got != "<mic >loud" {
		t.Errorf("the chooser's defaults: %s", got)
	}
	dev, file, _ = build(Options{Capture: "file:in", Playback: "file:x"}, [2]string{"card:mic", "card:loud"})
	dev.Capture(ctx, "", pcm.Voice)
	dev.Playback(ctx, "", pcm.Voice)
	if got := strings.Join(file.opened, " "); got != "<in >x" {
		t.Errorf("the configured defaults: %s", got)
	}
}

// wire is a connection that notes its closing.
type wire struct{ closed int }

func (w *wire) Read([]byte) (int, error)    { return 0, io.EOF }
func (w *wire) Write(p []byte) (int, error) { return len(p), nil }
func (w *wire) Close() error                { w.closed++; return nil }

// reply is a plugin.Reply that keeps nothing.
type reply struct{}

func (reply) Write(p []byte) (int, error) { return len(p), nil }
func (reply) Status(int, string)          {}

func TestStreamsAndEndpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ended := make(chan struct{}, 2)
		r.Add(&fake{name: "p", start: func(_ context.Context, api plugin.API) error {
			return errors.Join(
				api.Streams("good", func(ctx context.Context, _ io.ReadWriteCloser, peer string) {
					if peer != "10.0.0.2" {
						t.Errorf("peer %q", peer)
					}
					<-ctx.Done()
					ended <- struct{}{}
				}),
				api.Streams("bad", func(context.Context, io.ReadWriteCloser, string) { panic("boom") }),
				api.Endpoint("good", func(ctx context.Context, _ *plugin.Request, _ plugin.Reply) error {
					<-ctx.Done()
					ended <- struct{}{}
					return ctx.Err()
				}),
				api.Endpoint("bad", func(context.Context, *plugin.Request, plugin.Reply) error { panic("boom") }),
			)
		}})
		r.Start(context.Background())
		if !slices.Equal(r.Streams(), []string{"bad", "good"}) || !slices.Equal(r.Endpoints(), []string{"bad", "good"}) {
			t.Errorf("streams %v, endpoints %v", r.Streams(), r.Endpoints())
		}
		if _, ok := r.Stream("none"); ok {
			t.Error("a stream nobody offers")
		}
		if _, ok := r.Endpoint("none"); ok {
			t.Error("an endpoint nobody offers")
		}
		s, _ := r.Stream("bad")
		w := &wire{}
		s(context.Background(), w, "10.0.0.2")
		e, _ := r.Endpoint("bad")
		if err := e(context.Background(), &plugin.Request{}, reply{}); err == nil || w.closed != 1 || len(r.reported("panic")) != 2 {
			t.Errorf("panics: %v, closed %d times, %v", err, w.closed, r.reported("panic"))
		}
		good := &wire{}
		s, _ = r.Stream("good")
		e, _ = r.Endpoint("good")
		go s(context.Background(), good, "10.0.0.2")
		go e(context.Background(), &plugin.Request{}, reply{})
		synctest.Wait()
		r.Stop(context.Background())
		<-ended
		<-ended
		synctest.Wait()
		if good.closed != 1 {
			t.Errorf("closed %d times", good.closed)
		}
		if _, ok := r.Stream("good"); ok {
			t.Error("a stopped plugin still offers its stream")
		}
	})
}
