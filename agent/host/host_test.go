package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/agent/bus"
	"homeagent/agent/event"
	"homeagent/agent/home"
	"homeagent/agent/pcm"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory/embed"
)

// rig is a host with what it reported.
type rig struct {
	*Host
	mu     sync.Mutex
	events []event.Event
}

func newRig(t *testing.T, change ...func(*Options)) *rig {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	b := bus.New(log, nil)
	o := Options{Log: log, Bus: b}
	for _, c := range change {
		c(&o)
	}
	r := &rig{Host: New(o)}
	b.Subscribe("rig", event.System, func(e event.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	})
	t.Cleanup(func() {
		r.Stop(context.Background())
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) reported(state string) (out []string) {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.State == state {
			out = append(out, e.Text)
		}
	}
	return out
}

// fake is a plugin made of functions.
type fake struct {
	name  string
	start func(ctx context.Context, api plugin.API) error
	stop  func(ctx context.Context) error
}

func (f *fake) Name() string    { return f.name }
func (f *fake) Version() string { return "1.0" }
func (f *fake) Start(ctx context.Context, api plugin.API) error {
	if f.start == nil {
		return nil
	}
	return f.start(ctx, api)
}
func (f *fake) Stop(ctx context.Context) error {
	if f.stop == nil {
		return nil
	}
	return f.stop(ctx)
}

// nop is a tool without effect.
func nop(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "ok"}, nil }

var nopDef = tool.Def{Description: "does nothing", Risk: tool.Read}

// offering is a plugin that registers one of everything.
func offering(name string) *fake {
	return &fake{name: name, start: func(_ context.Context, api plugin.API) error {
		return errors.Join(
			api.RegisterTool(name+"_tool", nopDef, nop),
			api.RegisterStage(plugin.OnInput, func(context.Context, *plugin.StageContext) error { return nil }),
			api.Channel(name, sink(func(plugin.Message) error { return nil })),
			api.Provider(name, nil2{}),
			api.Embedder(name, embed.Hash{}),
			api.AudioDevice(name, &openerFake{}),
			api.Streams(name, func(context.Context, io.ReadWriteCloser, string) {}),
			api.Endpoint(name, func(context.Context, *plugin.Request, plugin.Reply) error { return nil }),
		)
	}}
}

type sink func(plugin.Message) error

func (s sink) Send(_ context.Context, m plugin.Message) error { return s(m) }

// nil2 is a provider that is never asked.
type nil2 struct{ provider.Provider }

func (h *Host) counts() [8]int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return [8]int{len(h.reg.tools), len(h.reg.stages[plugin.OnInput]), len(h.reg.channels), len(h.reg.providers), len(h.reg.embedders),
		len(h.reg.openers), len(h.reg.streams), len(h.reg.endpoints)}
}

func TestStartAndStopInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var order []string
		for _, name := range []string{"a", "b", "c"} {
			p := offering(name)
			start := p.start
			p.start = func(ctx context.Context, api plugin.API) error {
				order = append(order, "+"+name)
				return start(ctx, api)
			}
			p.stop = func(context.Context) error { order = append(order, "-"+name); return nil }
			if err := r.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		r.Start(context.Background())
		r.Start(context.Background()) // running ones are left alone
		if got := r.counts(); got != [8]int{3, 3, 3, 3, 3, 3, 3, 3} {
			t.Errorf("registered %v", got)
		}
		if err := r.Restart(context.Background(), "b"); err != nil {
			t.Error(err)
		}
		if err := r.Restart(context.Background(), "x"); err == nil {
			t.Error("a plugin nobody knows is restarted")
		}
		r.Stop(context.Background())
		r.Stop(context.Background())
		if got := strings.Join(order, ""); got != "+a+b+c-b+b-c-b-a" {
			t.Errorf("order %s", got)
		}
		if got := r.counts(); got != [8]int{} {
			t.Errorf("left after stop: %v", got)
		}
		for _, s := range r.Plugins() {
			if s.State != Stopped {
				t.Errorf("%+v", s)
			}
		}
	})
}

func TestStates(t *testing.T) {
	gone, late := make(chan struct{}), make(chan plugin.API, 1)
	rows := []struct {
		name   string
		start  func(ctx context.Context, api plugin.API) error
		state  State
		reason string
	}{
		{"runs", nil, Running, ""},
		{"absent", func(context.Context, plugin.API) error {
			return fmt.Errorf("no camera at /dev/video0: %w", plugin.ErrNotHere)
		}, NotHere, "/dev/video0"},
		{"fails", func(context.Context, plugin.API) error { return errors.New("no permission") }, Failed, "no permission"},
		{"panics", func(context.Context, plugin.API) error { panic("boom") }, Failed, "boom"},
		{"hangs", func(_ context.Context, api plugin.API) error { late <- api; <-gone; return nil }, Failed, "did not return"},
		{"slow", func(ctx context.Context, _ plugin.API) error { <-ctx.Done(); return ctx.Err() }, Failed, "deadline"},
	}
	synctest.Test(t, func(t *testing.T) {
		gone, late = make(chan struct{}), make(chan plugin.API, 1)
		r := newRig(t)
		stopped := make(chan string, len(rows))
		for _, row := range rows {
			start := row.start
			p := &fake{name: row.name, start: func(ctx context.Context, api plugin.API) error {
				if err := api.RegisterTool(row.name+"_tool", nopDef, nop); err != nil {
					return err
				}
				if start == nil {
					return nil
				}
				return start(ctx, api)
			}, stop: func(context.Context) error { stopped <- row.name; return nil }}
			if err := r.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		r.Start(context.Background())
		for i, s := range r.Plugins() {
			if s.State != rows[i].state || !strings.Contains(s.Reason, rows[i].reason) || s.Version != "1.0" || s.Since.IsZero() {
				t.Errorf("%s: %+v", rows[i].name, s)
			}
		}
		if got := r.Tools(); len(got) != 1 || got[0].Name != "runs_tool" {
			t.Errorf("tools %v", got)
		}
		if hung := r.Guard().Hung(); hung["start of plugin hangs"] != 1 || len(hung) != 1 {
			t.Errorf("hung: %v", hung)
		}
		if err := r.Restart(context.Background(), "hangs"); err == nil {
			t.Error("a plugin whose start hangs is started beside itself")
		}
		if err := (<-late).RegisterTool("late", nopDef, nop); !errors.Is(err, ErrStopped) {
			t.Errorf("a start that was given up registers: %v", err)
		}
		close(gone) // it succeeds after all, and so has to be stopped
		synctest.Wait()
		if got := <-stopped; got != "hangs" || len(r.Guard().Hung()) != 0 {
			t.Errorf("stopped %s, hung %v", got, r.Guard().Hung())
		}
		if n := len(r.reported("plugin_failed")); n != 5 { // four starts, and the restart
			t.Errorf("%d failures were reported", n)
		}
	})
}

func TestStopThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		r := newRig(t)
		p := offering("stuck")
		p.stop = func(context.Context) error { <-gone; return nil }
		if err := r.Add(p); err != nil {
			t.Fatal(err)
		}
		r.Start(context.Background())
		r.Stop(context.Background())
		if s := r.Plugins()[0]; s.State != Stopped || s.Reason == "" || r.counts() != [8]int{} {
			t.Errorf("%+v, left %v", s, r.counts())
		}
		close(gone)
		synctest.Wait()
	})
}

func TestTakenNamesNameBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		if err := errors.Join(r.Add(offering("first")), r.Add(&fake{name: "second", start: func(_ context.Context, api plugin.API) error {
			for kind, err := range map[string]error{
				"tool":         api.RegisterTool("first_tool", nopDef, nop),
				"channel":      api.Channel("first", sink(nil)),
				"provider":     api.Provider("first", nil2{}),
				"embedder":     api.Embedder("first", embed.Hash{}),
				"audio device": api.AudioDevice("first", &openerFake{}),
				"stream":       api.Streams("first", func(context.Context, io.ReadWriteCloser, string) {}),
				"endpoint":     api.Endpoint("first", func(context.Context, *plugin.Request, plugin.Reply) error { return nil }),
			} {
				if err == nil || !strings.Contains(err.Error(), kind) || !strings.Contains(err.Error(), "plugin first") || !strings.Contains(err.Error(), "plugin second") {
					t.Errorf("%s: %v", kind, err)
				}
			}
			return nil
		}})); err != nil {
			t.Fatal(err)
		}
		r.Start(context.Background())
		if got := r.counts(); got != [8]int{1, 1, 1, 1, 1, 1, 1, 1} {
			t.Errorf("registered %v", got)
		}
	})
	r := New(Options{Log: slog.New(slog.DiscardHandler)})
	if err := r.Add(&fake{name: "Bad-Name"}); err == nil {
		t.Error("a malformed name is taken")
	}
	r.Add(&fake{name: "twice"})
	if err := r.Add(&fake{name: "twice"}); err == nil {
		t.Error("two plugins of one name")
	}
}

func TestBadRegistrations(t *testing.T) {
	h := New(Options{Log: slog.New(slog.DiscardHandler)})
	api := h.Core("core")
	def := func(change func(*tool.Def)) tool.Def {
		d := nopDef
		change(&d)
		return d
	}
	rows := []struct {
		name string
		err  error
	}{
		{"capital", api.RegisterTool("Lamp", nopDef, nop)},
		{"empty name", api.RegisterTool("", nopDef, nop)},
		{"endless name", api.RegisterTool(strings.Repeat("a", 65), nopDef, nop)},
		{"another name in the definition", api.RegisterTool("lamp", def(func(d *tool.Def) { d.Name = "lamb" }), nop)},
		{"no handler", api.RegisterTool("lamp", nopDef, nil)},
		{"no description", api.RegisterTool("lamp", def(func(d *tool.Def) { d.Description = " " }), nop)},
		{"no risk", api.RegisterTool("lamp", def(func(d *tool.Def) { d.Risk = "" }), nop)},
		{"bad risk", api.RegisterTool("lamp", def(func(d *tool.Def) { d.Risk = "some" }), nop)},
		{"bad touches", api.RegisterTool("lamp", def(func(d *tool.Def) { d.Touches = "disk" }), nop)},
		{"schema no JSON", api.RegisterTool("lamp", def(func(d *tool.Def) { d.Parameters = json.RawMessage(`{`) }), nop)},
		{"schema no object", api.RegisterTool("lamp", def(func(d *tool.Def) { d.Parameters = json.RawMessage(`{"type":"string"}`) }), nop)},
		{"schema broken", api.RegisterTool("lamp", def(func(d *tool.Def) { d.Parameters = json.RawMessage(`{"type":"object","properties":7}`) }), nop)},
		{"schema reads files", api.RegisterTool("lamp", def(func(d *tool.Def) {
			d.Parameters = json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`)
		}), nop)},
		{"no such stage", api.RegisterStage("before_dawn", func(context.Context, *plugin.StageContext) error { return nil })},
		{"nil stage", api.RegisterStage(plugin.OnInput, nil)},
		{"nil channel", api.Channel("voice", nil)},
		{"bad channel", api.Channel("web:1", sink(nil))},
		{"nil provider", api.Provider("llm", nil)},
		{"nil embedder", api.Embedder("hash", nil)},
		{"nil endpoint", api.Endpoint("x", nil)},
		{"nil stream", api.Streams("x", nil)},
		{"nil opener", api.AudioDevice("x", nil)},
	}
	for _, row := range rows {
		if row.err == nil {
			t.Errorf("%s: taken", row.name)
		}
	}
	if h.counts() != [8]int{} {
		t.Errorf("something was registered: %v", h.counts())
	}
}

func TestToolsAreSortedAndStable(t *testing.T) {
	h := New(Options{Log: slog.New(slog.DiscardHandler)})
	api := h.Core("core")
	for _, name := range []string{"b", "c", "a"} {
		d := nopDef
		d.Parameters = json.RawMessage("{ \"type\" : \"object\" }\n")
		d.NoMemory = name == "c"
		if name == "b" {
			d.Cleaner = strings.ToUpper
		}
		if err := api.RegisterTool(name, d, nop); err != nil {
			t.Fatal(err)
		}
	}
	first, second := h.Tools(), h.Tools()
	if &first[0] != &second[0] || first[0].Name != "a" || first[2].Name != "c" || string(first[0].Parameters) != `{"type":"object"}` || first[0].Plugin != "core" {
		t.Errorf("tools %+v", first)
	}
	if got := h.NoMemoryToolNames(); !slices.Equal(got, []string{"c"}) {
		t.Errorf("without memory: %v", got)
	}
	if h.ToolDefCleaner("b")("x") != "X" || h.ToolDefCleaner("a")("x") != "x" || h.ToolDefCleaner("nobody")("x") != "x" {
		t.Error("cleaners")
	}
}

func TestRestartKeepsTheOrderOfHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var order []string
		for _, name := range []string{"a", "b"} {
			r.Add(&fake{name: name, start: func(_ context.Context, api plugin.API) error {
				for i := range 2 {
					api.RegisterStage(plugin.OnInput, func(context.Context, *plugin.StageContext) error {
						order = append(order, fmt.Sprint(name, i))
						return nil
					})
				}
				return nil
			}})
		}
		r.Start(context.Background())
		r.Restart(context.Background(), "a")
		r.Stage(context.Background(), plugin.StageContext{Phase: plugin.OnInput})
		if got := strings.Join(order, " "); got != "a0 a1 b0 b1" {
			t.Errorf("order %s", got)
		}
	})
}

func TestSubscriptionsEndWithThePlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		n := 0
		var api plugin.API
		r.Add(&fake{name: "ear", start: func(_ context.Context, a plugin.API) error {
			api = a
			a.Subscribe(event.ToolCall, func(e event.Event) {
				if e.Plugin != "mouth" {
					t.Errorf("publisher %q", e.Plugin)
				}
				n++
			})
			return nil
		}})
		r.Start(context.Background())
		mouth := r.Core("mouth")
		mouth.Publish(event.Event{Type: event.ToolCall, Plugin: "somebody else"})
		synctest.Wait()
		r.Stop(context.Background())
		mouth.Publish(event.Event{Type: event.ToolCall})
		api.Subscribe(event.ToolCall, func(event.Event) { t.Error("a stopped plugin subscribes") })
		mouth.Publish(event.Event{Type: event.ToolCall})
		synctest.Wait()
		if n != 1 {
			t.Errorf("heard %d events", n)
		}
	})
}

func TestServicesWithoutABacking(t *testing.T) {
	h := New(Options{Log: slog.New(slog.DiscardHandler)})
	api := h.Core("core")
	if _, err := api.InjectInput(context.Background(), plugin.Input{}); !errors.Is(err, ErrNoMind) {
		t.Errorf("inject: %v", err)
	}
	if _, err := api.Tool(context.Background(), tool.Call{}, plugin.Input{}); !errors.Is(err, ErrNoMind) {
		t.Errorf("tool: %v", err)
	}
	if _, err := api.Memory().Recall(context.Background(), "x", 1); !errors.Is(err, ErrNoMemory) {
		t.Errorf("memory: %v", err)
	}
	if err := api.Store().Put("k", nil); !errors.Is(err, ErrNoStore) {
		t.Errorf("store: %v", err)
	}
	if api.Secret("key") != "" || api.Home() == nil || len(api.Home().Rooms) != 0 {
		t.Error("secret or home")
	}
	if _, err := api.Audio().Capture(context.Background(), "", pcm.Voice); !errors.Is(err, ErrNoDevice) {
		t.Errorf("audio: %v", err)
	}
}

// buckets is host.Stores by name.
type buckets map[string]plugin.Store

func (b buckets) Store(name string) plugin.Store { return b[name] }

func TestServicesAreThePluginsOwn(t *testing.T) {
	b := buckets{"a": noStore{}, "b": nil}
	h := New(Options{Log: slog.New(slog.DiscardHandler), Stores: b, Home: &home.Home{Rooms: []home.Room{{Name: "kitchen"}}},
		Secret: func(name string) string { return "secret of " + name }})
	a := h.Core("a")
	if a.Store() != b["a"] || a.Secret("key") != "secret of key" || a.Home().Rooms[0].Name != "kitchen" {
		t.Error("the services are others'")
	}
}

func TestGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGuard(slog.New(slog.DiscardHandler))
		gate := make(chan struct{})
		if v, err := Do(t.Context(), g, "good", time.Second, 1, func(context.Context) (int, error) { return 7, nil }); v != 7 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
		var p *PanicError
		if err := Run(t.Context(), g, "bad", time.Second, 1, func(context.Context) error { panic("boom") }); !errors.As(err, &p) || p.Value != "boom" {
			t.Errorf("%v", err)
		}
		began := time.Now()
		var hung *HungError
		err := Run(t.Context(), g, "stuck", time.Second, 2, func(context.Context) error { <-gate; return nil })
		if !errors.As(err, &hung) || hung.Busy || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second+grace {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		Run(t.Context(), g, "stuck", time.Second, 2, func(context.Context) error { <-gate; panic("late") })
		if err := Run(t.Context(), g, "stuck", time.Second, 2, func(context.Context) error { return nil }); !errors.As(err, &hung) || !hung.Busy {
			t.Errorf("a third call: %v", err)
		}
		if g.Hung()["stuck"] != 2 {
			t.Errorf("hung: %v", g.Hung())
		}
		close(gate)
		synctest.Wait()
		if err := Run(t.Context(), g, "stuck", 0, 2, func(context.Context) error { return nil }); err != nil || len(g.Hung()) != 0 {
			t.Errorf("after all have returned: %v, %v", err, g.Hung())
		}
		// One that returns within the grace is no hung one, and its own words count.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		late := errors.New("stopped in time")
		if err := Run(ctx, g, "polite", time.Second, 1, func(ctx context.Context) error { <-ctx.Done(); <-time.After(grace / 2); return late }); !errors.Is(err, late) {
			t.Errorf("%v", err)
		}
	})
}
