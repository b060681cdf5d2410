package voice

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/pcm"
	"homeagent/drivers/voice/speech"
)

// State is what a session is doing, as published in event.Voice.
type State string

const (
	Idle        State = "idle"        // waits for the wake word
	Listening   State = "listening"   // waits for speech, or for its end
	Recognising State = "recognising" // an engine works on an utterance
	Thinking    State = "thinking"    // the agent has the text
	Speaking    State = "speaking"
	Muted       State = "muted" // the microphone is closed on purpose
	Deaf        State = "deaf"  // there is no microphone, or it was lost
)

// Ignored is published, with the text, for English that is no known command
// while free speech is off. It is no state that lasts.
const Ignored State = "ignored"

// ringLength is how much sound is kept for a command that began before its
// wake word was recognised.
const ringLength = 2 * time.Second

// session owns one microphone and one mouth. Everything below "loop" belongs
// to the goroutine of run.
type session struct {
	p     *Plugin
	name  string // "voice", or "hear-1" and so on
	live  bool   // devices, not a recording
	open  bool   // every utterance counts, no wake word is asked for
	cfg   Config
	lang  string // zh, en, auto: what is spoken here
	mic   *microphone
	mouth *mouth
	lines func(Line) // nil for the live session

	calls chan func()
	heard chan recognised
	taken chan injection
	done  chan struct{} // closed when run has ended
	work  sync.WaitGroup

	// loop
	ctx      context.Context
	own      string // language of the box's own words: the last one heard
	micState State  // Muted, Deaf or ""
	micSaid  bool   // the loss was told
	mouthErr string // why the last sentence was not spoken, "" if it was
	ring     *ring
	at       time.Time // when the sample before ring.end was captured
	det      speech.Detector
	detBase  int64
	listen   *listening
	queue    []utterance
	rec      *recognition
	gen      int
	giving   int // InjectInput calls that run
	waiting  map[string]*turn
	control  map[string]bool // inputs that turned out to be control intents
	held     []item
	whole    int64 // length of the recording; a device may add silence, which is not waited for
	ended    bool  // the recording is over
	endAt    int64 // where it ended
	told     map[string]time.Time
	state    State
}

func newSession(p *Plugin, name string) *session {
	return &session{
		p: p, name: name, cfg: p.cfg, lang: p.cfg.Language, own: p.ownLang(),
		calls: make(chan func(), 64), heard: make(chan recognised, 4), taken: make(chan injection, 8),
		done: make(chan struct{}),
		ring: newRing(pcm.Voice.Samples(ringLength)), waiting: map[string]*turn{}, control: map[string]bool{},
		told: map[string]time.Time{}, micState: Deaf,
	}
}

// do runs f in the loop. It waits only while the loop is behind, and reports
// false when the session has ended or ctx ends first.
func (s *session) do(ctx context.Context, f func()) bool {
	select {
	case <-s.done:
		return false
	default:
	}
	select {
	case s.calls <- f:
		return true
	case <-s.done:
	case <-ctx.Done():
	}
	return false
}

// run works until ctx ends, or until a recording and its last answer are over.
func (s *session) run(parent context.Context) {
	ctx, cancel := context.WithCancel(parent)
	s.ctx = ctx
	var parts sync.WaitGroup
	parts.Go(func() { s.mouth.run(ctx) })
	var sound chan micEvent
	if s.mic != nil {
		sound = s.mic.out
		parts.Go(func() { s.mic.run(ctx) })
	} else {
		s.tell("mic off", event.System, noteMicOff.in(s.own))
	}
	defer func() {
		cancel()
		close(s.done)
		s.endListening()
		parts.Wait()
		s.work.Wait()
	}()
	if s.live || !s.open {
		s.openDetector()
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		s.release()
		s.publishState()
		if s.over() {
			return
		}
		timer.Reset(time.Until(s.deadline()))
		select {
		case <-ctx.Done():
			return
		case e := <-sound:
			s.onMic(e)
		case f := <-s.calls:
			f()
		case r := <-s.heard:
			s.onRecognised(r)
		case i := <-s.taken:
			s.onTaken(i)
		case e := <-s.mouth.events:
			s.onMouth(e)
		case now := <-timer.C:
			s.onDeadline(now)
		}
	}
}

// over reports that a recording has been heard and answered to the end.
func (s *session) over() bool {
	if !s.ended {
		return false
	}
	// A second behind the end covers the wake word's delay and the trailing silence.
	if tail := s.ring.end - s.endAt; tail < int64(pcm.Voice.Rate) || s.listen != nil && s.listen.started {
		return false
	}
	return len(s.queue) == 0 && s.rec == nil && s.giving == 0 && len(s.waiting) == 0 &&
		len(s.held) == 0 && s.mouth.idle() && len(s.mouth.events) == 0 && len(s.calls) == 0
}

// current derives the state from what runs.
func (s *session) current() State {
	_, speaking := s.mouth.saying()
	switch {
	case s.listen != nil && (!s.open || s.listen.started):
		return Listening
	case speaking:
		return Speaking
	case s.rec != nil || len(s.queue) > 0:
		return Recognising
	case len(s.waiting) > 0 || s.giving > 0:
		return Thinking
	case s.open && s.listen != nil:
		return Listening
	case s.micState != "":
		return s.micState
	}
	return Idle
}

func (s *session) publishState() {
	if now := s.current(); now != s.state {
		s.state = now
		s.publish(now, "", "")
	}
}

// publish tells the house and, where a recording is heard, whoever sent it.
func (s *session) publish(state State, text, input string) {
	s.p.api.Publish(event.Event{Type: event.Voice, Time: time.Now(), Source: s.name, Channel: channel, State: string(state), Text: text, Input: input})
	if s.live {
		s.p.setState(state)
	}
	if state != Ignored {
		s.line(Line{Event: "state", State: state, Text: text, Input: input})
	}
}

// line writes to whoever sent the recording.
func (s *session) line(l Line) {
	if s.lines != nil {
		s.lines(l)
	}
}

// tell publishes a remark, at most once in ten minutes under one key.
func (s *session) tell(key string, t event.Type, text string) {
	if last, ok := s.told[key]; ok && time.Since(last) < 10*time.Minute {
		return
	}
	s.told[key] = time.Now()
	s.p.api.Publish(event.Event{Type: t, Time: time.Now(), Source: s.name, Channel: channel, State: "notice", Text: text})
	s.line(Line{Event: "notice", Text: text})
}

// deadline is when something has taken too long, an hour from now if nothing runs.
func (s *session) deadline() time.Time {
	at := time.Now().Add(time.Hour)
	earlier := func(t time.Time) {
		if t.Before(at) {
			at = t
		}
	}
	if s.listen != nil {
		earlier(s.listen.wall)
	}
	if s.rec != nil {
		earlier(s.rec.deadline)
	}
	for _, t := range s.waiting {
		earlier(t.deadline)
	}
	return at
}

// onDeadline ends what has taken too long.
func (s *session) onDeadline(now time.Time) {
	if l := s.listen; l != nil && !now.Before(l.wall) {
		// The sound stopped coming; what was said so far is not understood.
		s.endListening()
		s.relisten()
	}
	if r := s.rec; r != nil && !now.Before(r.deadline) {
		r.cancel()
		s.onRecognised(recognised{gen: r.gen, v: verdict{outcome: failed, err: errHung}})
	}
	for id, t := range s.waiting {
		if now.Before(t.deadline) {
			continue
		}
		delete(s.waiting, id)
		if t.acted {
			s.p.routes.forget(id)
			continue
		}
		s.line(Line{Event: "notice", Text: sayLate.in(s.own), Input: id})
		if s.live {
			s.speak(item{text: sayLate.in(s.own), lang: s.own})
		}
	}
}

// onMic takes what the microphone reports.
func (s *session) onMic(e micEvent) {
	switch e.kind {
	case micSound:
		s.onSound(e.samples, e.at)
	case micOpened:
		s.micState = ""
		if s.micSaid {
			s.micSaid = false
			delete(s.told, "mic")
			s.p.api.Publish(event.Event{Type: event.System, Time: time.Now(), Source: s.name, State: "microphone_back", Text: noteMicBack.in(s.own)})
		}
		if s.det != nil {
			s.resetDetector()
		}
		s.relisten()
	case micMuted:
		s.micState = Muted
		s.endListening()
	case micLost:
		s.micState = Deaf
		s.endListening()
		if s.micSaid { // every try to open it again fails the same way
			s.p.log.Debug("microphone", "session", s.name, "err", e.err)
		} else {
			s.micSaid = true
			s.p.log.Warn("microphone", "session", s.name, "err", e.err)
			s.p.api.Publish(event.Event{Type: event.System, Time: time.Now(), Source: s.name, State: "microphone_lost", Text: sprintf(noteMicLost.in(s.own), reason(e.err, s.own))})
		}
	case micEnded:
		if e.err != nil {
			s.line(Line{Event: "notice", Text: sprintf(noteMicLost.in(s.own), reason(e.err, s.own))})
		}
		s.micState = ""
		s.finish(s.ring.end)
	}
}

// finish notes that the recording is over.
func (s *session) finish(at int64) {
	if !s.ended {
		s.ended, s.endAt = true, at
	}
}

// relisten begins to listen where no wake word is asked for.
func (s *session) relisten() {
	if s.open && s.listen == nil && s.micState == "" {
		s.startListening(listening{from: s.ring.end})
	}
}

// onMouth takes what the mouth reports.
func (s *session) onMouth(e mouthEvent) {
	switch e.kind {
	case mouthSound:
		if t := e.item.trace; t != nil && t.FirstSound.IsZero() {
			t.FirstSound = e.at
			if s.p.opt.Observe != nil {
				s.p.opt.Observe(*t)
			}
			c := *t
			s.line(Line{Event: "trace", Input: t.Input, Trace: &c})
		}
	case mouthDone:
		if e.err == nil {
			s.mouthErr = ""
		} else {
			level := slog.LevelWarn
			if s.mouthErr == e.err.Error() { // every sentence fails the same way
				level = slog.LevelDebug
			}
			s.mouthErr = e.err.Error()
			s.p.log.Log(s.ctx, level, "speaking", "session", s.name, "err", e.err)
			text := sprintf(noteCannotSpeak.in(s.own), reason(e.err, s.own))
			switch {
			case errors.Is(e.err, speech.ErrMissing):
				text = noteNoSynth.in(s.own)
			case isDevice(e.err):
				text = sprintf(noteSpeakerLost.in(s.own), reason(e.err, s.own))
			}
			s.tell("mouth", event.System, text)
		}
		if !e.item.cue {
			l := Line{Event: "answer", Text: e.item.text, Lang: e.item.lang, Input: e.item.input, Stopped: e.stop}
			l.setSound(e.sound)
			s.line(l)
		}
		if s.live && s.det != nil && s.listen == nil && s.mouth.idle() {
			s.det.Reset() // the tail of the box's own voice
		}
	}
}
