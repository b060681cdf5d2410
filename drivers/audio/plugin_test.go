package audio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.yaml.in/yaml/v3"

	"homeagent/agent/event"
	"homeagent/agent/pcm"
	"homeagent/agent/plugin"
	"homeagent/agent/tool"
)

// fakeAPI is as much of a host as this plugin uses. Anything else panics.
type fakeAPI struct {
	plugin.API
	store   *store
	tools   map[string]tool.Def
	calls   map[string]tool.Handler
	openers map[string]pcm.Opener
	serve   plugin.EndpointHandler
	control func(event.Event)
	taken   string // what is refused

	mu     sync.Mutex
	states []string
}

func newAPI(s *store) *fakeAPI {
	return &fakeAPI{store: s, tools: map[string]tool.Def{}, calls: map[string]tool.Handler{}, openers: map[string]pcm.Opener{}}
}

func (a *fakeAPI) Log() *slog.Logger   { return slog.New(slog.DiscardHandler) }
func (a *fakeAPI) Store() plugin.Store { return a.store }
func (a *fakeAPI) AudioDevice(name string, o pcm.Opener) error {
	if name == a.taken {
		return errors.New("taken")
	}
	a.openers[name] = o
	return nil
}
func (a *fakeAPI) Endpoint(name string, h plugin.EndpointHandler) error { a.serve = h; return nil }
func (a *fakeAPI) RegisterTool(name string, def tool.Def, h tool.Handler) error {
	a.tools[name], a.calls[name] = def, h
	return nil
}
func (a *fakeAPI) Subscribe(t event.Type, h func(event.Event)) func() {
	if t == event.Control {
		a.control = h
	}
	return func() { a.control = nil }
}
func (a *fakeAPI) Publish(e event.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.states = append(a.states, e.State)
}
func (a *fakeAPI) published() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.states)
}

func (a *fakeAPI) call(t *testing.T, lang, name, args string) (string, error) {
	t.Helper()
	res, err := a.calls[name](plugin.WithInput(t.Context(), plugin.Input{Lang: lang}), tool.Call{ID: "1", Name: name, Args: []byte(args)})
	return res.Text, err
}

// store is a Store of one key.
type store struct {
	plugin.Store
	mu    sync.Mutex
	value []byte
	fail  error
}

func (s *store) Get(key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value, s.fail
}
func (s *store) Put(key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		s.value = bytes.Clone(value)
	}
	return s.fail
}

func begin(t *testing.T, cfg Config, api *fakeAPI, devices ...device) (*Plugin, *fakeLibrary) {
	t.Helper()
	l := &fakeLibrary{t: t, list: devices, fail: map[string]error{}}
	p := newPlugin(cfg, l)
	if err := p.Start(t.Context(), api); err != nil {
		t.Fatal(err)
	}
	return p, l
}

func stop(t *testing.T, p *Plugin) {
	t.Helper()
	if err := errors.Join(p.Stop(context.Background()), p.Stop(context.Background())); err != nil {
		t.Error(err)
	}
}

func TestVolumeTools(t *testing.T) {
	for _, tc := range []struct {
		lang, tool, args string
		want             string
		percent          int
		fails            bool
	}{
		{"en", "volume_set", `{"percent":30}`, "The volume is now 30 percent.", 30, false},
		{"zh", "volume_set", `{"percent":30.4}`, "音量现在是百分之30。", 30, false},
		{"en", "volume_set", `{"percent":0}`, "0 percent", 0, false},
		{"en", "volume_set", `{"percent":101}`, "between 0 and 100", 80, true},
		{"zh", "volume_set", `{"percent":-1}`, "0 到 100", 80, true},
		{"en", "volume_set", `{}`, "between 0 and 100", 80, true},
		{"en", "volume_set", `{"percent":"half"}`, "arguments", 80, true},
		{"en", "volume_set", `{"percent":3,"x":1}`, "x", 80, true},
		{"en", "volume_change", `{"delta":-15}`, "65 percent", 65, false},
		{"zh", "volume_change", `{"delta":100}`, "百分之100", 100, false},
		{"en", "volume_change", `{"delta":-1000}`, "between -100 and 100", 80, true},
		{"zh", "volume_change", `{}`, "-100 到 100", 80, true},
		{"en", "volume_change", `[]`, "arguments", 80, true},
	} {
		t.Run(tc.tool+" "+tc.lang+" "+tc.args, func(t *testing.T) {
			s := &store{}
			api := newAPI(s)
			p, _ := begin(t, Config{}, api)
			defer stop(t, p)
			text, err := api.call(t, tc.lang, tc.tool, tc.args)
			if (err != nil) != tc.fails {
				t.Fatalf("got %q, %v", text, err)
			}
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, tc.want) || p.Gain().Percent() != tc.percent {
				t.Errorf("got %q at %d%%, want %q at %d%%", text, p.Gain().Percent(), tc.want, tc.percent)
			}
			if tc.fails != (s.value == nil) {
				t.Errorf("stored %s", s.value)
			}
		})
	}
}

// Control intents act at once, are kept, and outlive a restart.
func TestControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		api := newAPI(s)
		gain := 40
		p, _ := begin(t, Config{Gain: &gain}, api)
		for _, tc := range []struct {
			state   string
			percent int
			muted   bool
			event   string
		}{
			{"louder", 50, false, "volume:50"}, {"softer", 40, false, "volume:40"}, {"mute", 40, true, "volume:muted"},
			{"softer", 30, false, "volume:30"}, {"stop", 30, false, ""}, {"mute", 30, true, "volume:muted"},
		} {
			before := len(api.published())
			api.control(event.Event{Type: event.Control, State: tc.state})
			if p.Gain().Percent() != tc.percent || p.Gain().Muted() != tc.muted {
				t.Errorf("%s: %d%%, muted %v", tc.state, p.Gain().Percent(), p.Gain().Muted())
			}
			synctest.Wait()
			if got := strings.Join(api.published()[before:], " "); got != tc.event {
				t.Errorf("%s: published %q, want %q", tc.state, got, tc.event)
			}
		}
		stop(t, p)
		p, _ = begin(t, Config{Gain: &gain}, newAPI(s))
		if p.Gain().Percent() != 30 || !p.Gain().Muted() {
			t.Errorf("after a restart %d%%, muted %v", p.Gain().Percent(), p.Gain().Muted())
		}
		stop(t, p)
		for _, bad := range []string{"", "{", `{"percent":900}`} {
			s.value = []byte(bad)
			p, _ = begin(t, Config{Gain: &gain}, newAPI(s))
			if p.Gain().Percent() != 40 || p.Gain().Muted() {
				t.Errorf("with %q stored: %d%%", bad, p.Gain().Percent())
			}
			stop(t, p)
		}
	})
}

func TestStoreFails(t *testing.T) {
	full := errors.New("no space left on device")
	s := &store{}
	api := newAPI(s)
	p, _ := begin(t, Config{}, api)
	s.mu.Lock()
	s.fail = full
	s.mu.Unlock()
	if _, err := api.call(t, "en", "volume_set", `{"percent":5}`); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	api.control(event.Event{State: "mute"})
	if !p.Gain().Muted() {
		t.Error("mute waits for the disk")
	}
	stop(t, p)
	if _, err := api.call(t, "en", "volume_set", `{"percent":5}`); err == nil {
		t.Error("a stopped plugin took a call")
	}
	if err := newPlugin(Config{}, &fakeLibrary{t: t}).Start(t.Context(), newAPI(s)); !errors.Is(err, full) {
		t.Errorf("start gave %v", err)
	}
}

// Starting touches no device; a machine without sound starts and says what is
// missing; stopping ends open streams.
func TestLife(t *testing.T) {
	api := newAPI(&store{})
	p, l := begin(t, Config{}, api)
	if l.starts != 0 {
		t.Error("PortAudio was started before anyone asked for it")
	}
	var d *pcm.DeviceError
	if _, err := api.openers["portaudio"].OpenSource(t.Context(), "default", pcm.Voice); !errors.As(err, &d) {
		t.Errorf("open without devices gave %v", err)
	}
	st := p.Status(t.Context(), "en")
	if st.Microphone.Present || st.Speaker.Present || !strings.Contains(st.Microphone.Note, "no microphone") || !strings.Contains(st.Speaker.Note, "no speaker") {
		t.Errorf("status %+v", st)
	}
	stop(t, p)

	api = newAPI(&store{})
	p, l = begin(t, Config{}, api, both)
	src, err := api.openers["portaudio"].OpenSource(t.Context(), "default", pcm.Voice)
	if err != nil {
		t.Fatal(err)
	}
	stop(t, p)
	if _, err := src.Read(t.Context(), make([]int16, 10)); !errors.As(err, &d) || !l.streams[0].ended || l.started {
		t.Errorf("after stop: %v", err)
	}
	if err := src.Close(); err != nil {
		t.Error(err)
	}
	if newPlugin(Config{}, l).Start(t.Context(), &fakeAPI{store: &store{}, taken: "wav", openers: map[string]pcm.Opener{}}) == nil {
		t.Error("a taken name was ignored")
	}
	if newPlugin(Config{Speaker: "loud"}, l).Start(t.Context(), newAPI(&store{})) == nil {
		t.Error("a wrong config was accepted")
	}
	if p := New(Config{}); p.Name() != "audio" || p.Version() == "" || p.Stop(t.Context()) != nil {
		t.Error("a plugin that was never started")
	}
}

// reply keeps an endpoint's answer.
type reply struct{ bytes.Buffer }

func (*reply) Status(int, string) {}

func TestStatus(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.wav")
	for _, tc := range []struct {
		name     string
		cfg      Config
		lang     string
		devices  []device
		fail     error
		mic, spk string // name, label, note
		list     int
	}{
		{"all there", Config{}, "en", []device{usb, hdmi}, nil, "portaudio:default|USB microphone|true|", "portaudio:default|HDMI|true|", 2},
		{"chosen and absent", Config{Microphone: "portaudio:Gone,0"}, "zh", []device{usb, hdmi}, nil,
			"portaudio:Gone,0||false|没有找到麦克风。", "portaudio:default|HDMI|true|", 2},
		{"no speaker", Config{Speaker: "portaudio:Device,0"}, "zh", []device{usb}, nil,
			"portaudio:default|USB microphone|true|", "portaudio:Device,0||false|没有找到扬声器。", 1},
		{"files", Config{Microphone: "wav:" + file, Speaker: "wav:" + file}, "zh", nil, nil,
			"wav:" + file + "|" + file + "|false|找不到这个 WAV 文件。", "wav:" + file + "|" + file + "|true|", 0},
		{"files in English", Config{Microphone: "wav:" + file}, "en", []device{both}, nil,
			"wav:" + file + "|" + file + "|false|The WAV file is not there.", "portaudio:default|default|true|", 1},
		{"library broken", Config{}, "en", nil, errors.New("cannot start"), "portaudio:default|cannot start|false|There is no microphone.",
			"portaudio:default|cannot start|false|There is no speaker.", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			api := newAPI(&store{})
			p, l := begin(t, tc.cfg, api, tc.devices...)
			defer stop(t, p)
			if tc.fail != nil {
				l.fail["start"] = tc.fail
			}
			var out reply
			if err := api.serve(t.Context(), &plugin.Request{Method: "GET", Lang: tc.lang}, &out); err != nil {
				t.Fatal(err)
			}
			var st Status
			if err := json.Unmarshal(out.Bytes(), &st); err != nil {
				t.Fatal(err)
			}
			flat := func(d Device) string {
				present := "false"
				if d.Present {
					present = "true"
				}
				return d.Name + "|" + d.Label + "|" + present + "|" + d.Note
			}
			if !strings.HasPrefix(flat(st.Microphone), tc.mic) || !strings.HasPrefix(flat(st.Speaker), tc.spk) ||
				(strings.HasSuffix(tc.mic, "true|") && st.Microphone.Note != "") || st.Volume != 80 || len(st.Devices) != tc.list {
				t.Errorf("status %+v", st)
			}
		})
	}
	api := newAPI(&store{})
	p, _ := begin(t, Config{}, api)
	defer stop(t, p)
	for _, lang := range []string{"zh", "en"} {
		var f *plugin.Fault
		if err := api.serve(t.Context(), &plugin.Request{Method: "POST", Lang: lang}, &reply{}); !errors.As(err, &f) || f.Status != http.StatusNotFound || f.Title == "" {
			t.Errorf("POST gave %v", err)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", ``, ""},
		{"all", "microphone: portaudio:Device,0\nspeaker: wav:/tmp/a.wav\ngain: 0", ""},
		{"unknown key", `mic: x`, "mic"},
		{"no opener", `microphone: Device`, "audio.microphone"},
		{"no id", `speaker: "wav:"`, "audio.speaker"},
		{"gain", `gain: 101`, "audio.gain"},
		{"gain in words", `gain: loud`, "audio"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(tc.text), &doc); err != nil {
				t.Fatal(err)
			}
			var node *yaml.Node
			if len(doc.Content) > 0 {
				node = doc.Content[0]
			}
			c, err := ParseConfig(node)
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %+v, %v, want %q in the error", c, err, tc.want)
			}
		})
	}
	zero := 0
	if (Config{Gain: &zero}).volume() != 0 || (Config{}).volume() != 80 {
		t.Error("the first volume is not the configured one")
	}
}
