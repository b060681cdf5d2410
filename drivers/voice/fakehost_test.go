package voice

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/home"
	"homeagent/agent/pcm"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/drivers/voice/speech/speechtest"
	"homeagent/memory/embed"
)

// fakeAPI is the host, as far as this plugin needs it.
type fakeAPI struct {
	t   *testing.T
	dev *fakeDevices

	mu        sync.Mutex
	endpoints map[string]plugin.EndpointHandler
	sender    plugin.Sender
	control   func(event.Event)
	events    []event.Event
	inputs    []plugin.Input
	store     map[string][]byte
	secrets   map[string]string
	// onInput is called with each input, in InjectInput, after its id is known.
	onInput func(in plugin.Input)
	refuse  error
	logger  *slog.Logger // nil drops what is logged
}

var _ plugin.API = (*fakeAPI)(nil)

func newFakeAPI(t *testing.T) *fakeAPI {
	return &fakeAPI{t: t, dev: &fakeDevices{mic: &fakeMic{}, spk: &fakeSpeaker{}, wav: wavOpener}, endpoints: map[string]plugin.EndpointHandler{}, store: map[string][]byte{}, secrets: map[string]string{}}
}

func (a *fakeAPI) Log() *slog.Logger {
	if a.logger != nil {
		return a.logger
	}
	return slog.New(slog.DiscardHandler)
}

func (a *fakeAPI) RegisterTool(string, tool.Def, tool.Handler) error { return nil }

func (a *fakeAPI) RegisterStage(plugin.Stage, plugin.StageHandler) error { return nil }

func (a *fakeAPI) Subscribe(t event.Type, h func(event.Event)) func() {
	if t == event.Control {
		a.control = h
	}
	return func() {}
}

func (a *fakeAPI) Publish(e event.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
}

// InjectInput gives ids in1, in2 and so on; "stop" and the like are control
// intents, as the agent decides them.
func (a *fakeAPI) InjectInput(ctx context.Context, in plugin.Input) (string, error) {
	a.mu.Lock()
	if a.refuse != nil {
		defer a.mu.Unlock()
		return "", a.refuse
	}
	in.ID = "in" + string(rune('1'+len(a.inputs)))
	a.inputs = append(a.inputs, in)
	f := a.onInput
	a.mu.Unlock()
	if slices.Contains([]string{"stop", "cancel", "mute", "louder"}, in.Payload) {
		a.control(event.Event{Type: event.Control, Input: in.ID, Source: in.Source, State: in.Payload})
	}
	if f != nil {
		f(in)
	}
	return in.ID, nil
}

func (a *fakeAPI) Channel(name string, s plugin.Sender) error { a.sender = s; return nil }

func (a *fakeAPI) Provider(string, provider.Provider) error { return nil }
func (a *fakeAPI) Embedder(string, embed.Embedder) error    { return nil }

func (a *fakeAPI) Audio() pcm.Devices { return a.dev }

func (a *fakeAPI) AudioDevice(string, pcm.Opener) error { return nil }

func (a *fakeAPI) Streams(string, plugin.StreamHandler) error { return nil }

func (a *fakeAPI) Endpoint(name string, h plugin.EndpointHandler) error {
	a.endpoints[name] = h
	return nil
}

func (a *fakeAPI) Memory() plugin.Memory { return nil }

func (a *fakeAPI) Store() plugin.Store { return (*fakeStore)(a) }

func (a *fakeAPI) Home() *home.Home {
	return &home.Home{Devices: []home.Device{{Name: "living_room_lamp", Aliases: home.Names{"zh": {"客厅灯"}, "en": {"living room lamp"}}}}}
}

func (a *fakeAPI) Secret(name string) string { return a.secrets[name] }

func (a *fakeAPI) Tool(context.Context, tool.Call, plugin.Input) (tool.Result, error) {
	return tool.Result{}, errors.New("not here")
}

type fakeStore fakeAPI

func (s *fakeStore) Get(k string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store[k], nil
}

func (s *fakeStore) Put(k string, v []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store[k] = v
	return nil
}

func (s *fakeStore) Delete(k string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.store, k)
	return nil
}

func (s *fakeStore) List(prefix string, f func(string, []byte) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(s.store)) {
		if strings.HasPrefix(k, prefix) && !f(k, s.store[k]) {
			break
		}
	}
	return nil
}

// fakeDevices offers one microphone, one speaker and wav: files.
type fakeDevices struct {
	mic *fakeMic
	spk *fakeSpeaker
	wav func(path string) (pcm.Source, error)
}

func (d *fakeDevices) List(context.Context) ([]pcm.Info, error) { return nil, nil }

func (d *fakeDevices) Capture(ctx context.Context, name string, want pcm.Format) (pcm.Source, error) {
	if path, ok := strings.CutPrefix(name, "wav:"); ok {
		return d.wav(path)
	}
	return d.mic.open()
}

func (d *fakeDevices) Playback(ctx context.Context, name string, want pcm.Format) (pcm.Sink, error) {
	return d.spk.open(want)
}

// fakeMic is a room: quiet but for what is played into it.
type fakeMic struct {
	mu      sync.Mutex
	queue   []int16
	lost    error // open and Read fail with it while it is set
	stalled bool  // Read waits until Close
	opened  int
	live    int
}

// hear plays sound into the room.
func (m *fakeMic) hear(sound ...[]int16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, speechtest.Join(sound...)...)
}

func (m *fakeMic) set(f func(m *fakeMic)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m)
}

func (m *fakeMic) open() (pcm.Source, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost != nil {
		return nil, &pcm.DeviceError{Device: "fake:mic", Op: "open", Err: m.lost}
	}
	m.opened++
	m.live++
	return &fakeCapture{m: m, next: time.Now(), closed: make(chan struct{})}, nil
}

type fakeCapture struct {
	m      *fakeMic
	next   time.Time
	once   sync.Once
	closed chan struct{}
}

func (c *fakeCapture) Format() pcm.Format { return pcm.Voice }

func (c *fakeCapture) Read(ctx context.Context, buf []int16) (int, error) {
	c.next = c.next.Add(pcm.Voice.Duration(len(buf)))
	timer := time.NewTimer(time.Until(c.next))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-c.closed:
		return 0, io.ErrClosedPipe
	}
	c.m.mu.Lock()
	lost, stalled := c.m.lost, c.m.stalled
	if lost == nil && !stalled {
		n := copy(buf, c.m.queue)
		c.m.queue = c.m.queue[n:]
		copy(buf[n:], speechtest.Silence(pcm.Voice.Duration(len(buf)-n)))
	}
	c.m.mu.Unlock()
	if lost != nil {
		return 0, &pcm.DeviceError{Device: "fake:mic", Op: "read", Err: lost}
	}
	if stalled {
		<-c.closed
		return 0, io.ErrClosedPipe
	}
	return len(buf), nil
}

func (c *fakeCapture) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.m.mu.Lock()
		c.m.live--
		c.m.mu.Unlock()
	})
	return nil
}

// fakeSpeaker plays in real time and remembers.
type fakeSpeaker struct {
	tape  tape
	mu    sync.Mutex
	fail  int // so many Writes fail
	flush []time.Time
}

func (s *fakeSpeaker) open(f pcm.Format) (pcm.Sink, error) {
	sink, err := s.tape.sink(f)
	return &fakeSink{sink, s}, err
}

// played is how much sound has come so far.
func (s *fakeSpeaker) played() time.Duration {
	s.tape.mu.Lock()
	defer s.tape.mu.Unlock()
	return tapeFormat.Duration(len(s.tape.samples))
}

type fakeSink struct {
	pcm.Sink
	s *fakeSpeaker
}

func (k *fakeSink) Write(ctx context.Context, buf []int16) (int, error) {
	k.s.mu.Lock()
	fail := k.s.fail > 0
	if fail {
		k.s.fail--
	}
	k.s.mu.Unlock()
	if fail {
		return 0, &pcm.DeviceError{Device: "fake:spk", Op: "write", Err: errors.New("unplugged")}
	}
	return k.Sink.Write(ctx, buf)
}

func (k *fakeSink) Flush() error {
	k.s.mu.Lock()
	k.s.flush = append(k.s.flush, time.Now())
	k.s.mu.Unlock()
	return k.Sink.Flush()
}
