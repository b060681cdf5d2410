package audio

import (
	"testing"

	"homeagent/agent/event"
	"homeagent/agent/pcm"
	"homeagent/agent/plugin"
	"homeagent/agent/plugin/plugintest"
	"homeagent/agent/tool"
)

func TestConformance(t *testing.T) {
	var l *fakeLibrary
	plugintest.Suite{
		New: func(t *testing.T) plugin.Plugin {
			l = &fakeLibrary{t: t, list: []device{both}, fail: map[string]error{}}
			return newPlugin(Config{}, l)
		},
		Unplug: func(*testing.T, plugin.Plugin) { l.list, l.plugged = nil, "none" },
		Plug:   func(*testing.T, plugin.Plugin) { l.list, l.plugged = []device{both}, "both" },
	}.Run(t)
}

// In the real host: the empty name is the configured device, volume reaches a
// sink that is open, a control intent is heard.
func TestInHost(t *testing.T) {
	l := &fakeLibrary{t: t, list: []device{usb, both}, fail: map[string]error{}}
	b := plugintest.New(t)
	p := newPlugin(Config{Microphone: "portaudio:Device,0"}, l)
	b.MustStart(p)
	api := b.Host.Core("voice")
	src, err := api.Audio().Capture(t.Context(), "", pcm.Voice)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	sink, err := api.Audio().Playback(t.Context(), "", pcm.Voice)
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	if l.streams[0].d.id != "Device,0" || l.streams[1].d.id != "default" {
		t.Errorf("opened %s and %s", l.streams[0].d.id, l.streams[1].d.id)
	}
	if r := b.Call("volume_set", map[string]any{"percent": 50}); r.Status != tool.Done {
		t.Fatalf("got %+v", r)
	}
	if _, err := sink.Write(t.Context(), []int16{8000, 8000}); err != nil {
		t.Fatal(err)
	}
	out := make([]int16, 2)
	if l.streams[1].cb(out); out[1] != 1000 {
		t.Errorf("at half volume 8000 became %d, want 1000", out[1])
	}
	b.Bus.Publish(event.Event{Type: event.Control, State: "mute"})
	b.WaitEvent("muting", func(e event.Event) bool { return e.State == "volume:muted" })
	if r := b.Call("volume_change", map[string]any{"delta": 10}); r.Text != "The volume is now 60 percent." {
		t.Errorf("got %+v", r)
	}
	if a := b.Request("audio", "GET", "", nil); a.Err != nil || a.Code != 200 {
		t.Errorf("status: %+v", a)
	}
}
