package audio

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/agent/pcm"
)

// fakeLibrary is PortAudio as a script: cards that come and go, formats that
// are refused, streams that a test drives.
type fakeLibrary struct {
	t       *testing.T
	plugged string // what cards says
	list    []device
	refuse  func(d device, f pcm.Format) error
	fail    map[string]error // by call: start, end, open, run

	mu      sync.Mutex
	started bool
	starts  int
	known   []device // the list when it was started
	streams []*fakeStream
}

type fakeStream struct {
	l       *fakeLibrary
	d       device
	f       pcm.Format
	cb      func([]int16)
	running bool
	ended   bool
	hang    chan struct{}
}

func (l *fakeLibrary) start() error {
	if l.started {
		l.t.Error("the library was started twice")
	}
	if err := l.fail["start"]; err != nil {
		return err
	}
	l.started = true
	l.starts++
	l.known = slices.Clone(l.list)
	return nil
}
func (l *fakeLibrary) end() error {
	for _, s := range l.streams {
		if !s.ended {
			l.t.Error("the library was ended under an open stream")
		}
	}
	l.started = false
	return l.fail["end"]
}
func (l *fakeLibrary) cards() string { return l.plugged }
func (l *fakeLibrary) devices() ([]device, error) {
	if !l.started {
		l.t.Error("devices before start")
	}
	return l.known, nil
}
func (l *fakeLibrary) supports(d device, capture bool, f pcm.Format) error {
	if l.refuse != nil {
		return l.refuse(d, f)
	}
	return nil
}
func (l *fakeLibrary) open(d device, capture bool, f pcm.Format, cb func([]int16)) (stream, error) {
	if err := l.fail["open"]; err != nil {
		return nil, err
	}
	s := &fakeStream{l: l, d: d, f: f, cb: cb}
	l.streams = append(l.streams, s)
	return s, nil
}
func (s *fakeStream) run() error {
	if err := s.l.fail["run"]; err != nil {
		return err
	}
	s.running = true
	return nil
}
func (s *fakeStream) latency() time.Duration { return 20 * time.Millisecond }
func (s *fakeStream) end() error {
	if s.hang != nil {
		<-s.hang
	}
	s.ended = true
	return nil
}

var (
	usb  = device{index: 0, id: "Device,0", label: "USB microphone", in: 1, rate: 48000}
	hdmi = device{index: 1, id: "vc4hdmi,0", label: "HDMI", out: 8, rate: 48000}
	both = device{index: 2, id: "default", label: "default", in: 32, out: 32, rate: 44100, defIn: true, defOut: true}
)

func newFake(t *testing.T, devices ...device) (*fakeLibrary, *portAudio) {
	l := &fakeLibrary{t: t, plugged: "a", list: devices, fail: map[string]error{}}
	p := newPortAudio(l, NewGain(100), Config{})
	t.Cleanup(func() {
		if p.shut(); l.started {
			t.Error("the library is still started")
		}
		for _, s := range l.streams {
			if !s.ended {
				t.Error("a stream was left open")
			}
		}
	})
	return l, p
}

// Which device a name means, and what is said about one that is not there.
func TestFind(t *testing.T) {
	for _, tc := range []struct {
		name    string
		devices []device
		id      string
		capture bool
		want    string // device id, or text of the error
		fails   bool
	}{
		{"by id", []device{usb, hdmi, both}, "Device,0", true, "Device,0", false},
		{"default", []device{usb, hdmi, both}, "default", true, "default", false},
		{"empty is default", []device{usb, hdmi, both}, "", false, "default", false},
		{"default without one is the first that fits", []device{hdmi, usb}, "default", true, "Device,0", false},
		{"wrong direction", []device{usb, hdmi}, "vc4hdmi,0", true, "there are: portaudio:Device,0", true},
		{"unknown", []device{usb, hdmi, both}, "moon", false, "there are: portaudio:vc4hdmi,0, portaudio:default", true},
		{"no devices", nil, "", true, "plug one in", true},
		{"no device of the direction", []device{hdmi}, "default", true, "plug one in", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, p := newFake(t, tc.devices...)
			var err error
			if tc.capture {
				var s pcm.Source
				if s, err = p.OpenSource(t.Context(), tc.id, pcm.Voice); err == nil {
					defer s.Close()
				}
			} else {
				var s pcm.Sink
				if s, err = p.OpenSink(t.Context(), tc.id, pcm.Voice); err == nil {
					defer s.Close()
				}
			}
			if tc.fails {
				var d *pcm.DeviceError
				if !errors.As(err, &d) || d.Op != "open" || d.Device != "portaudio:"+tc.id || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || l.streams[0].d.id != tc.want || !l.streams[0].running {
				t.Errorf("opened %+v, %v", l.streams, err)
			}
		})
	}
}

// The nearest format that a device takes; the stream has the wanted one anyway.
func TestNegotiate(t *testing.T) {
	only := func(ok ...pcm.Format) func(device, pcm.Format) error {
		return func(_ device, f pcm.Format) error {
			if slices.Contains(ok, f) {
				return nil
			}
			return fmt.Errorf("invalid format %s", f)
		}
	}
	for _, tc := range []struct {
		name   string
		refuse func(device, pcm.Format) error
		want   pcm.Format
		native pcm.Format
		fails  bool
	}{
		{"as wanted", nil, pcm.Voice, pcm.Voice, false},
		{"48 kHz only", only(pcm.Format{Rate: 48000, Channels: 1}), pcm.Voice, pcm.Format{Rate: 48000, Channels: 1}, false},
		{"stereo only", only(pcm.Format{Rate: 16000, Channels: 2}), pcm.Voice, pcm.Format{Rate: 16000, Channels: 2}, false},
		{"44.1 kHz stereo only", only(pcm.Format{Rate: 44100, Channels: 2}), pcm.Voice, pcm.Format{Rate: 44100, Channels: 2}, false},
		{"mono for stereo", only(pcm.Format{Rate: 48000, Channels: 1}), pcm.Format{Rate: 22050, Channels: 2}, pcm.Format{Rate: 48000, Channels: 1}, false},
		{"nothing", only(), pcm.Voice, pcm.Format{}, true},
		{"nonsense wanted", nil, pcm.Format{Rate: 1, Channels: 1}, pcm.Format{}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, p := newFake(t, both)
			l.refuse = tc.refuse
			src, err := p.OpenSource(t.Context(), "default", tc.want)
			sink, err2 := p.OpenSink(t.Context(), "default", tc.want)
			if (err != nil) != tc.fails || (err2 != nil) != tc.fails {
				t.Fatalf("got %v, %v", err, err2)
			}
			if tc.fails {
				return
			}
			if src.Format() != tc.want || sink.Format() != tc.want || l.streams[0].f != tc.native || l.streams[1].f != tc.native {
				t.Errorf("streams %s, %s on %s, %s", src.Format(), sink.Format(), l.streams[0].f, l.streams[1].f)
			}
			if errors.Join(src.Close(), src.Close(), sink.Close(), sink.Close()) != nil {
				t.Error("closing failed")
			}
		})
	}
}

// Nothing of a failed open stays behind, and the next one may succeed.
func TestOpenFails(t *testing.T) {
	busy := errors.New("device unavailable")
	for _, call := range []string{"start", "open", "run"} {
		t.Run(call, func(t *testing.T) {
			l, p := newFake(t, both)
			l.fail[call] = busy
			_, err := p.OpenSource(t.Context(), "", pcm.Voice)
			_, err2 := p.OpenSink(t.Context(), "", pcm.Voice)
			var d *pcm.DeviceError
			if !errors.Is(err, busy) || !errors.As(err, &d) || !errors.Is(err2, busy) || !errors.As(err2, &d) {
				t.Errorf("got %v, %v", err, err2)
			}
			delete(l.fail, call)
			src, err := p.OpenSource(t.Context(), "", pcm.Voice)
			if err != nil {
				t.Fatalf("afterwards: %v", err)
			}
			src.Close()
		})
	}
}

// Samples reach the reader in the wanted format; overruns stay counted after
// the stream has ended.
func TestCaptureThroughOpener(t *testing.T) {
	l, p := newFake(t, usb)
	l.refuse = func(_ device, f pcm.Format) error {
		if f.Rate != 48000 {
			return errors.New("48 kHz only")
		}
		return nil
	}
	src, err := p.OpenSource(t.Context(), "Device,0", pcm.Voice)
	if err != nil {
		t.Fatal(err)
	}
	cb := l.streams[0].cb
	for range 100 {
		cb(slices.Repeat([]int16{1000}, 480))
	}
	buf := make([]int16, 8000)
	if n, err := src.Read(t.Context(), buf); n != 8000 || err != nil || buf[4000] < 999 || buf[4000] > 1001 {
		t.Errorf("read %d, %v, %d", n, err, buf[4000])
	}
	for range 400 {
		cb(make([]int16, 480))
	}
	before := p.overruns()
	src.Close()
	if before == 0 || p.overruns() != before {
		t.Errorf("%d overruns, after closing %d", before, p.overruns())
	}
}

// The list of devices is renewed when cards have changed: at once if nothing is
// open, and at the cost of the open streams where a device is missed.
func TestReplug(t *testing.T) {
	l, p := newFake(t, hdmi)
	names := func() string {
		list, err := p.Devices(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, d := range list {
			out = append(out, d.Name)
		}
		return strings.Join(out, " ")
	}
	if got := names(); got != "portaudio:vc4hdmi,0" || l.starts != 1 {
		t.Errorf("devices %s after %d starts", got, l.starts)
	}
	l.list, l.plugged = []device{hdmi, usb}, "b"
	if got := names(); got != "portaudio:vc4hdmi,0 portaudio:Device,0" || l.starts != 2 {
		t.Errorf("devices %s after %d starts", got, l.starts)
	}
	if names(); l.starts != 2 {
		t.Error("the library was started without need")
	}
	sink, err := p.OpenSink(t.Context(), "vc4hdmi,0", pcm.Voice)
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	l.list, l.plugged = []device{hdmi}, "c"
	if got := names(); got != "portaudio:vc4hdmi,0 portaudio:Device,0" || l.starts != 2 {
		t.Errorf("an open speaker was taken away for a list: %s, %d starts", got, l.starts)
	}
	next := device{index: 5, id: "Other,0", in: 2, rate: 16000}
	l.list, l.plugged = []device{hdmi, next}, "d"
	src, err := p.OpenSource(t.Context(), "Other,0", pcm.Voice)
	if err != nil || l.starts != 3 {
		t.Fatalf("open after replugging: %v, %d starts", err, l.starts)
	}
	defer src.Close()
	var d *pcm.DeviceError
	if _, err := sink.Write(t.Context(), make([]int16, 10)); !errors.As(err, &d) || !errors.Is(err, errReplugged) {
		t.Errorf("the old speaker gave %v", err)
	}
	if _, err := p.OpenSource(t.Context(), "moon", pcm.Voice); err == nil || l.starts != 3 {
		t.Errorf("a name that never was: %v, %d starts", err, l.starts)
	}
}

// A card that never lets go costs a bounded time.
func TestStuckClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeLibrary{t: t, list: []device{both}, fail: map[string]error{}}
		p := newPortAudio(l, NewGain(100), Config{})
		src, err := p.OpenSource(t.Context(), "", pcm.Voice)
		if err != nil {
			t.Fatal(err)
		}
		l.streams[0].hang = make(chan struct{})
		begin := time.Now()
		if err := src.Close(); err == nil || time.Since(begin) != closeLimit {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
		close(l.streams[0].hang)
		synctest.Wait()
		p.shut()
	})
}

func TestChosen(t *testing.T) {
	p := newPortAudio(nil, NewGain(1), Config{Microphone: "wav:/a.wav"})
	if p.DefaultCapture() != "wav:/a.wav" || p.DefaultPlayback() != "portaudio:default" {
		t.Errorf("chosen %s, %s", p.DefaultCapture(), p.DefaultPlayback())
	}
}

// Names do not depend on card numbers.
func TestStableID(t *testing.T) {
	l := &realLibrary{asound: t.TempDir()}
	if l.cards() != "" {
		t.Error("cards without a sound system")
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(l.asound, "card1"), 0o700),
		os.WriteFile(filepath.Join(l.asound, "card1", "id"), []byte("Device\n"), 0o600),
		os.WriteFile(filepath.Join(l.asound, "cards"), []byte(" 1 [Device]"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if l.cards() != " 1 [Device]" {
		t.Errorf("cards %q", l.cards())
	}
	for name, want := range map[string]string{
		"USB PnP Audio: Audio (hw:1,0)": "Device,0",
		"Ghost: x (hw:4,2)":             "hw:4,2",
		"default":                       "default",
		"odd (hw:1,0) tail":             "odd (hw:1,0) tail",
	} {
		if got := stableID(name, l.cardID); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
