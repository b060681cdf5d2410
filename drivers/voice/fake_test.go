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
	"testing/synctest"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/home"
	"homeagent/agent/pcm"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/speech/speechtest"
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
	return &fakeAPI{t: t, dev: &fakeDevices{mic: &fakeMic{}, spk: &fakeSpeaker{}}, endpoints: map[string]plugin.EndpointHandler{}, store: map[string][]byte{}, secrets: map[string]string{}}
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

// magic is the loudness of the fake wake word, which nothing else has.
const magic = 12345

// wakeWord is the sound of the fake wake word: half a second.
func wakeWord() []int16 {
	out := make([]int16, pcm.Voice.Rate/2)
	for i := range out {
		out[i] = magic * int16(1-2*(i/40%2))
	}
	return out
}

// fakeDetector hears wakeWord 100 ms after it has ended.
type fakeDetector struct {
	pos, run int64
	since    int64 // samples since a whole word, -1 if none
	mu       *sync.Mutex
	panics   bool
}

func (d *fakeDetector) Accept(s []int16) (hits []speech.Hit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.panics {
		panic("detector")
	}
	for _, v := range s {
		d.pos++
		if v == magic || v == -magic {
			d.run++
		} else {
			d.run = 0
		}
		if d.run == int64(pcm.Voice.Rate/2) {
			d.since, d.run = 0, 0
		} else if d.since >= 0 {
			if d.since++; d.since == int64(pcm.Voice.Rate/10) {
				hits = append(hits, speech.Hit{Word: "computer", Score: 1, End: d.pos - d.since})
				d.since = -1
			}
		}
	}
	return hits
}

func (d *fakeDetector) Reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.run, d.since = 0, -1
}

// fakeWake is a Wake whose words are the number of their takes.
type fakeWake struct {
	mu      sync.Mutex
	last    *fakeDetector
	missing error
	builtIn bool
}

func (w *fakeWake) Open(words []Word) (speech.Detector, error) {
	if w.missing != nil {
		return nil, w.missing
	}
	if len(words) == 0 && !w.builtIn {
		return nil, errNoWord{}
	}
	d := &fakeDetector{since: -1, mu: &w.mu}
	w.mu.Lock()
	w.last = d
	w.mu.Unlock()
	return d, nil
}

func (w *fakeWake) Learn(_ context.Context, name string, takes [][]int16) ([]byte, func(string) string, error) {
	if w.missing != nil {
		return nil, nil, w.missing
	}
	for _, t := range takes {
		if speechtest.RMS(t) < 500 {
			return nil, nil, errors.New("a take is silent")
		}
	}
	return []byte{byte(len(takes))}, func(string) string { return "fine" }, nil
}

func (w *fakeWake) BuiltIn() string {
	if w.builtIn {
		return "computer"
	}
	return ""
}

// fakeRecognizer gives scripted transcripts.
type fakeRecognizer struct {
	name  string
	langs []string
	mu    sync.Mutex
	next  []speech.Transcript // in order; the last one stays
	heard [][]int16
	hints []speech.Hint
	err   error
	wait  time.Duration
	hang  chan struct{} // not even the context ends a call until it is closed
	panic bool
}

func (r *fakeRecognizer) Name() string    { return r.name }
func (r *fakeRecognizer) Langs() []string { return r.langs }

func (r *fakeRecognizer) Recognize(ctx context.Context, audio []int16, hint speech.Hint) (speech.Transcript, error) {
	if err := ctx.Err(); err != nil {
		return speech.Transcript{}, err
	}
	r.mu.Lock()
	r.heard = append(r.heard, slices.Clone(audio))
	r.hints = append(r.hints, hint)
	t := speech.Transcript{}
	if len(r.next) > 0 && speechtest.RMS(audio) > 200 {
		t = r.next[0]
		if len(r.next) > 1 {
			r.next = r.next[1:]
		}
	}
	if t.Engine = r.name; t.Lang == "" {
		t.Lang = hint.Lang
	}
	err, wait, hang, dies := r.err, r.wait, r.hang, r.panic
	r.mu.Unlock()
	if dies {
		panic("engine")
	}
	if hang != nil {
		<-hang
	}
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return speech.Transcript{}, ctx.Err()
		}
	}
	return t, err
}

func (r *fakeRecognizer) set(f func(r *fakeRecognizer)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r)
}

// says makes transcripts of a recognizer, commands where the text begins with "!".
func says(texts ...string) (out []speech.Transcript) {
	for _, s := range texts {
		text, cmd := strings.CutPrefix(s, "!")
		out = append(out, speech.Transcript{Text: text, Command: cmd})
	}
	return out
}

// fakeSynthesizer hums a tenth of a second for each letter.
type fakeSynthesizer struct {
	name  string
	langs []string
	mu    sync.Mutex
	said  []string
	err   error
	quiet time.Duration // silence before the hum
}

func (s *fakeSynthesizer) Name() string    { return s.name }
func (s *fakeSynthesizer) Langs() []string { return s.langs }

func (s *fakeSynthesizer) Synthesize(ctx context.Context, text, lang string) (pcm.Source, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	text = strings.Trim(text, " \n*.\x00\x01\xff\xfe")
	if len(text) > 10000 {
		text = text[:10000]
	}
	s.said = append(s.said, text)
	f := pcm.Format{Rate: 16000, Channels: 1}
	return &samplesSource{f: f, left: speechtest.Join(make([]int16, f.Samples(s.quiet)), speechtest.Buzz(time.Duration(len([]rune(text)))*100*time.Millisecond))}, nil
}

func (s *fakeSynthesizer) texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said)
}

// fakeEndpointing is loudness with faults.
type fakeEndpointing struct {
	mu      sync.Mutex
	openErr error
	err     error
	hang    chan struct{}
	garbage bool
	open    int
}

func (f *fakeEndpointing) OpenEndpointer(ctx context.Context, cfg speech.EndpointConfig) (speech.Endpointer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.openErr != nil {
		return nil, f.openErr
	}
	f.open++
	return &fakeEndpointer{energy: newEnergy(cfg), f: f}, nil
}

type fakeEndpointer struct {
	*energy
	f    *fakeEndpointing
	once sync.Once
}

func (e *fakeEndpointer) Accept(ctx context.Context, s []int16) (speech.Speech, error) {
	e.f.mu.Lock()
	err, hang, garbage := e.f.err, e.f.hang, e.f.garbage
	e.f.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if err != nil {
		return speech.Speech{}, err
	}
	sp, _ := e.energy.Accept(ctx, s)
	if garbage {
		sp.Start, sp.End = 1<<40, -1<<40
	}
	return sp, nil
}

func (e *fakeEndpointer) Close() error {
	e.once.Do(func() {
		e.f.mu.Lock()
		e.f.open--
		e.f.mu.Unlock()
	})
	return nil
}

// The fakes keep the contract that the real engines keep.
func TestFakesConform(t *testing.T) {
	t.Run("detector", func(t *testing.T) {
		speechtest.Detector(t, speechtest.DetectorFixture{
			New:   func(*testing.T) speech.Detector { return &fakeDetector{since: -1, mu: &sync.Mutex{}} },
			Word:  "computer",
			Sound: wakeWord(),
			Other: speechtest.Buzz(10 * time.Second),
		})
	})
	t.Run("recognizer", func(t *testing.T) {
		speechtest.Recognizer(t, speechtest.RecognizerFixture{
			New:    func(*testing.T) speech.Recognizer { return &fakeRecognizer{name: "fake", next: says("!hello")} },
			Speech: speechtest.Buzz(time.Second),
			Hint:   speech.Hint{Lang: "en"},
			Want: func(t speech.Transcript) string {
				if t.Text != "hello" || !t.Command || t.Lang != "en" {
					return "wrong"
				}
				return ""
			},
		})
	})
	t.Run("synthesizer", func(t *testing.T) {
		speechtest.Synthesizer(t, speechtest.SynthesizerFixture{
			New:   func(*testing.T) speech.Synthesizer { return &fakeSynthesizer{name: "fake"} },
			Texts: map[string]string{"en": "The lamp is on.", "zh": "客厅的灯开了。"},
		})
	})
	t.Run("endpointing", func(t *testing.T) {
		speechtest.Endpointing(t, speechtest.EndpointingFixture{
			New:    func(*testing.T) speech.Endpointing { return &fakeEndpointing{} },
			Speech: speechtest.Buzz(1500 * time.Millisecond),
		})
	})
}

// rig is a started plugin with fakes around it, in a synctest bubble.
type rig struct {
	t       *testing.T
	api     *fakeAPI
	p       *Plugin
	mic     *fakeMic
	spk     *fakeSpeaker
	wake    *fakeWake
	english *fakeRecognizer
	ends    *fakeEndpointing
	synth   *fakeSynthesizer
	mu      sync.Mutex
	traces  []Trace
}

// inRig runs f with a started plugin whose wake word is enrolled and whose agent
// answers every input with "ok" after 300 ms.
func inRig(t *testing.T, change func(*rig, *Options), f func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, api: newFakeAPI(t), wake: &fakeWake{}, english: &fakeRecognizer{name: "local", langs: []string{"en"}, next: says("!turn on the lamp")},
			ends: &fakeEndpointing{}, synth: &fakeSynthesizer{name: "hum"}}
		r.mic, r.spk = r.api.dev.mic, r.api.dev.spk
		r.api.store[wordKey+"computer"] = []byte{3}
		quiet := false
		opt := Options{Config: Config{EarCon: &quiet}, Wake: r.wake, Endpointing: r.ends, English: r.english, Synthesizers: []speech.Synthesizer{r.synth},
			Grammar: func(lang string) string { return "grammar " + lang }, TempDir: t.TempDir(),
			Observe: func(tr Trace) { r.mu.Lock(); r.traces = append(r.traces, tr); r.mu.Unlock() }}
		r.answer("ok", 300*time.Millisecond)
		if change != nil {
			change(r, &opt)
		}
		r.p = New(opt)
		if err := r.p.Start(t.Context(), r.api); err != nil {
			t.Fatal(err)
		}
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := r.p.Stop(ctx); err != nil {
				t.Error(err)
			}
			if err := r.p.Stop(ctx); err != nil {
				t.Errorf("stopping twice: %v", err)
			}
			if r.mic.live != 0 {
				t.Errorf("%d microphones are still open", r.mic.live)
			}
			synctest.Wait()
			if r.ends.open != 0 && r.ends.hang == nil {
				t.Errorf("%d endpointers are still open", r.ends.open)
			}
		}()
		r.reach(string(Idle), Muted, Idle, Deaf)
		f(r)
	})
}

// answer makes the agent answer inputs with a text after a while.
func (r *rig) answer(text string, after time.Duration) {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	r.api.onInput = func(in plugin.Input) {
		time.AfterFunc(after, func() {
			r.api.sender.Send(context.Background(), plugin.Message{Channel: "voice", Text: text, ReplyTo: in.ID, Lang: in.Lang, Final: true})
		})
	}
}

// pass lets time pass in the bubble.
func (r *rig) pass(d time.Duration) { <-time.After(d); synctest.Wait() }

// until waits for a condition, at most two minutes of the bubble's time.
func (r *rig) until(what string, cond func() bool) {
	r.t.Helper()
	for range 2400 {
		synctest.Wait()
		if cond() {
			return
		}
		<-time.After(50 * time.Millisecond)
	}
	r.t.Fatalf("%s did not come; events: %s", what, r.log())
}

// reach waits until the live session is in one of the states.
func (r *rig) reach(what string, states ...State) {
	r.t.Helper()
	r.until(what, func() bool { return slices.Contains(states, r.p.state.Load().(State)) })
}

// saw waits until a state has been published, for how short ever.
func (r *rig) saw(s State) {
	r.t.Helper()
	r.until(string(s), func() bool { return slices.Contains(r.states(), s) })
}

// inputs lists what the agent was given.
func (r *rig) inputs() (out []string) {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	for _, in := range r.api.inputs {
		out = append(out, in.Payload)
	}
	return out
}

// states lists the voice states published so far.
func (r *rig) states() (out []State) {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	for _, e := range r.api.events {
		if e.Type == event.Voice && (e.Text == "" || e.State == string(Ignored)) {
			out = append(out, State(e.State))
		}
	}
	return out
}

// log is every event in short.
func (r *rig) log() string {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	var b strings.Builder
	for _, e := range r.api.events {
		b.WriteString("\n  " + string(e.Type) + " " + e.Source + " " + e.State + " " + e.Text)
	}
	return b.String()
}

// notice reports whether an event of type system has a state.
func (r *rig) notice(state string) bool {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	return slices.ContainsFunc(r.api.events, func(e event.Event) bool { return e.Type == event.System && e.State == state })
}

// same fails the test where two lists differ.
func same[T comparable](t *testing.T, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%v instead of %v", got, want)
	}
}

// command is a spoken sentence of 1.2 s.
func command() []int16 { return speechtest.Buzz(1200 * time.Millisecond) }

// quiet is a pause.
func quiet(d time.Duration) []int16 { return speechtest.Silence(d) }
