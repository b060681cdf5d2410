package voice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/pcm"
	"homeagent/agent/plugin"
	"homeagent/drivers/voice/openai"
	"homeagent/drivers/voice/speech"
)

// channel is the way out that this plugin offers.
const channel = "voice"

// Plugin is the sense that listens and speaks.
type Plugin struct {
	opt Options
	cfg Config

	api    plugin.API
	log    *slog.Logger
	routes routes
	// hearing and synths are made at Start and never change.
	hearing *hearing
	synths  []speech.Synthesizer

	speakerMuted atomic.Bool
	micMuted     atomic.Bool
	warming      atomic.Bool  // an engine is being loaded
	state        atomic.Value // State of the live session

	mu       sync.Mutex
	started  bool
	cancel   context.CancelFunc
	ctx      context.Context
	live     *session
	sessions map[*session]bool // all that run, the live one too
	hearings int               // recordings heard so far, for names
	atOnce   int               // recordings heard now
	said     map[string]bool
	running  sync.WaitGroup
}

var _ plugin.Plugin = (*Plugin)(nil)

// New makes the plugin; it has no effect until Start.
func New(opt Options) *Plugin {
	return &Plugin{opt: opt, cfg: opt.Config.withDefaults()}
}

// Name implements plugin.Plugin.
func (p *Plugin) Name() string { return "voice" }

// Version implements plugin.Plugin.
func (p *Plugin) Version() string { return "1" }

// Start implements plugin.Plugin. A missing microphone, model or program is no
// error: the plugin says so and works with the rest.
func (p *Plugin) Start(ctx context.Context, api plugin.API) error {
	if err := p.opt.Config.Validate(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started {
		return errors.New("voice is started already")
	}
	p.api, p.log = api, api.Log()
	p.routes = routes{owner: map[string]*session{}, lost: p.sendLive}
	p.sessions, p.said = map[*session]bool{}, map[string]bool{}
	if err := p.makeEngines(); err != nil {
		return err
	}
	for name, h := range map[string]plugin.EndpointHandler{"voice": p.serveVoice, "listen": p.serveListen, "hear": p.serveHear, "wake": p.serveWake} {
		if err := api.Endpoint(name, h); err != nil {
			return fmt.Errorf("endpoint %s: %w", name, err)
		}
	}
	if err := api.Channel(channel, sender{p}); err != nil {
		return fmt.Errorf("channel: %w", err)
	}
	api.Subscribe(event.Control, p.onControl)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.state.Store(Idle)
	p.live = p.newLive()
	p.launch(p.ctx, p.live)
	p.started = true
	return nil
}

// makeEngines joins what the configuration asks for with what was given.
func (p *Plugin) makeEngines() error {
	h := &hearing{english: p.opt.English, remote: p.opt.Transcription, grammar: p.opt.Grammar, names: p.deviceNames, free: p.freeSpeech}
	p.synths = p.opt.Synthesizers
	if c := p.cfg.Transcription; c != nil && h.remote == nil {
		t, err := openai.NewTranscriber(openai.Config{BaseURL: c.BaseURL, Model: c.Model, Languages: c.Languages, Key: p.secret(c.Key)})
		if err != nil {
			return fmt.Errorf("voice.transcription: %w", err)
		}
		h.remote = t
	}
	if c := p.cfg.Speech; c != nil {
		s, err := openai.NewSpeaker(openai.Config{BaseURL: c.BaseURL, Model: c.Model, Voice: c.Voice, Languages: c.Languages, Key: p.secret(c.Key)})
		if err != nil {
			return fmt.Errorf("voice.speech: %w", err)
		}
		p.synths = append([]speech.Synthesizer{s}, p.synths...)
	}
	p.hearing = h
	return nil
}

// secret reads a key each time it is needed, for it may be changed.
func (p *Plugin) secret(name string) func() string {
	return func() string {
		if name == "" {
			return ""
		}
		return p.api.Secret(name)
	}
}

// Stop implements plugin.Plugin.
func (p *Plugin) Stop(ctx context.Context) error {
	p.mu.Lock()
	if !p.started {
		p.mu.Unlock()
		return nil
	}
	p.started = false
	p.cancel()
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.running.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop voice: a session did not end: %w", ctx.Err())
	}
}

// newLive makes the session of the configured devices.
func (p *Plugin) newLive() *session {
	s := newSession(p, "voice")
	s.live = true
	if p.cfg.Microphone != off {
		s.mic = newMicrophone(p.capture(p.cfg.Microphone), false)
		if v, err := p.api.Store().Get(mutedKey); err == nil && len(v) > 0 {
			p.micMuted.Store(true)
			s.mic.setMuted(true)
		}
	}
	api := p.api
	s.mouth = newMouth(p.synths, func(ctx context.Context, f pcm.Format) (pcm.Sink, error) {
		if p.cfg.Speaker == off {
			return nil, &pcm.DeviceError{Device: off, Op: "open", Err: errors.New("voice.speaker is off")}
		}
		return api.Audio().Playback(ctx, p.cfg.Speaker, f)
	})
	return s
}

// capture opens a device in the format of the voice path. An opening that was
// given up may outlive a restart of the plugin, so it keeps the API it began with.
func (p *Plugin) capture(name string) func(context.Context) (pcm.Source, error) {
	api := p.api
	return func(ctx context.Context) (pcm.Source, error) {
		src, err := api.Audio().Capture(ctx, name, pcm.Voice)
		if err == nil && ctx.Err() != nil {
			src.Close() // nobody waits for it any more
			return nil, ctx.Err()
		}
		return src, err
	}
}

// launch runs a session; p.mu is held.
func (p *Plugin) launch(ctx context.Context, s *session) {
	p.sessions[s] = true
	p.running.Go(func() {
		s.run(ctx)
		p.routes.drop(s)
		p.mu.Lock()
		delete(p.sessions, s)
		p.mu.Unlock()
	})
}

// each calls f for every session that runs.
func (p *Plugin) each(f func(*session)) {
	p.mu.Lock()
	all := make([]*session, 0, len(p.sessions))
	for s := range p.sessions {
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, s := range all {
		f(s)
	}
}

// onControl is called at once when a control intent was decided, and stops the
// mouths before anything else happens.
func (p *Plugin) onControl(e event.Event) {
	switch e.State {
	case "mute":
		p.speakerMuted.Store(true)
	case "louder":
		p.speakerMuted.Store(false)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	p.each(func(s *session) {
		switch e.State {
		case "stop", "cancel":
			s.mouth.stop()
		case "mute":
			if s.live {
				s.mouth.stop()
			}
		}
	})
	p.each(func(s *session) { s.do(ctx, func() { s.onControl(e) }) })
}

// sender is the channel "voice".
type sender struct{ p *Plugin }

// sendWait bounds how long a message waits for a session's loop.
const sendWait = 5 * time.Second

// Send implements plugin.Sender.
func (c sender) Send(ctx context.Context, m plugin.Message) error {
	ctx, cancel := context.WithTimeout(ctx, sendWait)
	defer cancel()
	s, kept := c.p.routes.pick(m)
	if kept {
		return nil
	}
	if s != nil && s.do(ctx, func() { s.onMessage(m) }) {
		return nil
	}
	live := c.p.live
	if live.do(ctx, func() { live.onMessage(m) }) {
		return nil
	}
	return errors.New("the voice channel is not taking messages now")
}

// sendLive speaks a message whose input is not ours.
func (p *Plugin) sendLive(m plugin.Message) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if !p.live.do(ctx, func() { p.live.onMessage(m) }) {
		p.log.Warn("message dropped", "reply_to", m.ReplyTo)
	}
}

// Listen starts listening on the live microphone as if the box had been
// called, for a button or a ring.
func (p *Plugin) Listen(ctx context.Context) error {
	p.mu.Lock()
	live, started := p.live, p.started
	p.mu.Unlock()
	if !started {
		return errors.New("voice is not started")
	}
	res := make(chan error, 1)
	if !live.do(ctx, func() { res <- live.push(nil) }) {
		return context.Cause(ctx)
	}
	select {
	case err := <-res:
		return err
	case <-live.done:
		return errors.New("voice is stopping")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mutedKey is kept in the plugin's store: a microphone that was muted must not
// be open again after a restart.
const mutedKey = "microphone/muted"

// MuteMicrophone closes the live microphone, or opens it again. It is muted
// even where an error tells that this will not outlast a restart.
func (p *Plugin) MuteMicrophone(muted bool) error {
	p.mu.Lock()
	live, started := p.live, p.started
	p.mu.Unlock()
	if !started {
		return errors.New("voice is not started")
	}
	p.micMuted.Store(muted)
	if live.mic != nil {
		live.mic.setMuted(muted)
	}
	if muted {
		return p.api.Store().Put(mutedKey, []byte("1"))
	}
	return p.api.Store().Delete(mutedKey)
}

func (p *Plugin) setState(s State) { p.state.Store(s) }

// first reports whether key is asked for the first time.
func (p *Plugin) first(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.said[key]
	p.said[key] = true
	return !was
}

// freeSpeech reports whether English that is no command goes to the agent.
func (p *Plugin) freeSpeech() bool {
	if p.cfg.FreeSpeech != nil {
		return *p.cfg.FreeSpeech
	}
	return p.opt.LLM != nil && p.opt.LLM()
}

// ownLang is the language of the box's words before anyone has spoken: the one
// that is spoken to it, and where that is left open the house's.
func (p *Plugin) ownLang() string {
	lang := p.cfg.Language
	if lang == "auto" {
		lang = p.opt.Lang
	}
	if lang == "en" {
		return "en"
	}
	return "zh"
}

// deviceNames lists what people call rooms and devices, for a service's prompt.
func (p *Plugin) deviceNames() []string {
	var out []string
	seen := map[string]bool{}
	add := func(aliases map[string][]string) {
		for _, lang := range []string{"zh", "en"} {
			for _, a := range aliases[lang] {
				if a = strings.TrimSpace(a); a != "" && !seen[a] && len(out) < 200 {
					seen[a] = true
					out = append(out, a)
				}
			}
		}
	}
	h := p.api.Home()
	if h == nil {
		return nil
	}
	for _, d := range h.Devices {
		add(d.Aliases)
	}
	for _, r := range h.Rooms {
		add(r.Aliases)
	}
	return out
}

// reason gives an error in words: its own where it has any, else its text.
func reason(err error, lang string) string {
	if err == nil {
		return ""
	}
	var w sayer
	if errors.As(err, &w) {
		return strings.TrimRight(w.In(lang), "。.")
	}
	return short(err.Error(), 200)
}

func short(s string, max int) string {
	if r := []rune(s); len(r) > max {
		return string(r[:max]) + "…"
	}
	return s
}

// sprintf fills in a phrase.
func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }
