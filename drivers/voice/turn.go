package voice

import (
	"context"
	"strings"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/drivers/voice/sentence"
)

const (
	// recogniseWait bounds one utterance, all engines together.
	recogniseWait = 30 * time.Second
	injectWait    = 10 * time.Second
	// heldItems bounds what waits while somebody speaks.
	heldItems = 16
	// longestMessage is how much of a message is looked at, in bytes; far more
	// than is ever spoken.
	longestMessage = 64 << 10
)

// recognition is the one that runs.
type recognition struct {
	gen      int
	u        utterance
	cancel   context.CancelFunc
	deadline time.Time
}

type recognised struct {
	gen int
	v   verdict
}

// injection is an input that the agent has taken, or has not.
type injection struct {
	id    string
	lang  string
	trace Trace
	err   error
}

// turn is an input that has no final answer yet.
type turn struct {
	trace    *Trace
	deadline time.Time
	// acted marks a turn that was stopped, or a control intent: an answer may
	// still come, but nobody waits for it long.
	acted bool
}

// done shortens the wait of a turn that needs no answer.
func (t *turn) done() {
	t.acted = true
	if at := time.Now().Add(controlWait); at.Before(t.deadline) {
		t.deadline = at
	}
}

// recognise starts on the oldest utterance unless one is being worked on.
func (s *session) recognise() {
	if s.rec != nil || len(s.queue) == 0 {
		return
	}
	u := s.queue[0]
	s.queue = s.queue[1:]
	s.gen++
	ctx, cancel := context.WithTimeout(s.ctx, recogniseWait)
	s.rec = &recognition{gen: s.gen, u: u, cancel: cancel, deadline: time.Now().Add(recogniseWait + time.Second)}
	gen, audio, lang := s.gen, u.audio, s.lang
	s.work.Go(func() {
		defer cancel()
		r := recognised{gen, s.p.hearing.understand(ctx, audio, lang)}
		select {
		case s.heard <- r:
		case <-s.ctx.Done():
		}
	})
}

// onRecognised takes an engine's verdict.
func (s *session) onRecognised(r recognised) {
	if s.rec == nil || s.rec.gen != r.gen {
		return // given up before
	}
	u := s.rec.u
	s.rec = nil
	defer s.recognise()
	u.trace.Recognised = time.Now()
	u.trace.Heard, u.trace.Engine = r.v.t.Text, r.v.t.Engine
	switch r.v.outcome {
	case understood:
		if r.v.t.Lang == "" { // a number is in every language
			r.v.t.Lang = s.own
		}
		s.own = r.v.t.Lang
		s.give(u, r.v)
	case nothing:
		if !s.goOn(u) {
			s.line(Line{Event: "nothing"})
		}
	case notCommand:
		if s.goOn(u) {
			return
		}
		s.publish(Ignored, r.v.t.Text, "")
		s.line(Line{Event: "ignored", Text: r.v.t.Text, Lang: r.v.t.Lang, Engine: r.v.t.Engine})
		// Shown, never spoken: it may have been somebody talking to somebody else.
		if s.p.hearing.remote == nil && s.lang != "en" {
			s.tell("english only", event.System, noteEnglishOnly.in(s.own))
		}
	case noEngine:
		if s.p.hearing.english == nil {
			s.sayOnce("no engine", sayNoEngine)
		} else {
			s.tell("english only", event.System, noteEnglishOnly.in(s.own))
		}
		s.line(Line{Event: "error", Text: sayNoEngine.in(s.own)})
	case failed:
		s.p.log.Warn("recognition", "session", s.name, "err", r.v.err)
		text := sprintf(noteRecognition.in(s.own), reason(r.v.err, s.own))
		s.tell("recognition", event.System, text)
		s.line(Line{Event: "error", Text: text})
		s.speak(item{text: sayFailed.in(s.own), lang: s.own})
	}
}

// goOn waits on where a short sound right after the wake word meant nothing:
// it was the word's own end, and the command is still to come.
func (s *session) goOn(u utterance) bool {
	l := u.l
	if l.wake == "" || l.retry || s.listen != nil || s.micState != "" ||
		u.end-u.start > n(700*time.Millisecond) || u.start-l.from > n(300*time.Millisecond) || s.ring.end >= l.quiet {
		return false
	}
	s.startListening(listening{from: u.end, wake: l.wake, quiet: l.quiet, retry: true})
	return true
}

// sayOnce says something once in the plugin's life; the page shows it each time.
func (s *session) sayOnce(key string, p phrase) {
	s.tell(key, event.System, p.in(s.own))
	if s.p.first(key) {
		s.speak(item{text: p.in(s.own), lang: s.own})
	}
}

// give hands the text to the agent.
func (s *session) give(u utterance, v verdict) {
	s.p.routes.begin()
	s.giving++
	in := plugin.Input{Time: time.Now(), Source: "voice", Type: plugin.Text, Payload: v.t.Text, Channel: channel, Lang: v.t.Lang}
	inj := injection{lang: v.t.Lang, trace: u.trace}
	s.line(Line{Event: "heard", Text: v.t.Text, Lang: v.t.Lang, Engine: v.t.Engine, Command: v.t.Command})
	s.p.api.Publish(event.Event{Type: event.Voice, Time: time.Now(), Source: s.name, Channel: channel, State: string(Thinking), Text: v.t.Text})
	s.work.Go(func() {
		inj.id, inj.err = bounded(s.ctx, injectWait, func(ctx context.Context) (string, error) {
			return s.p.api.InjectInput(ctx, in)
		})
		select {
		case s.taken <- inj:
		case <-s.ctx.Done():
			s.p.routes.done("", s)
		}
	})
}

// onTaken learns the id of an input, and with it which answers are its own.
func (s *session) onTaken(i injection) {
	s.giving--
	if i.err != nil {
		s.p.routes.done("", s)
		s.p.log.Warn("input not taken", "err", i.err)
		s.line(Line{Event: "error", Text: sayNotTaken.in(i.lang)})
		s.speak(item{text: sayNotTaken.in(i.lang), lang: i.lang})
		return
	}
	i.trace.Input = i.id
	t := &turn{trace: &i.trace, deadline: time.Now().Add(s.cfg.Answer)}
	if s.control[i.id] {
		t.done()
	}
	s.waiting[i.id] = t
	if s.giving == 0 {
		clear(s.control)
	}
	for _, m := range s.p.routes.done(i.id, s) {
		s.onMessage(m)
	}
}

// controlWait is how long a control intent may take to be answered; it has
// acted already.
const controlWait = 2 * time.Second

// onControl takes a control intent; the mouth has been stopped already where
// that was asked for.
func (s *session) onControl(e event.Event) {
	if t := s.waiting[e.Input]; t != nil {
		t.done()
	} else if s.giving > 0 && e.Input != "" {
		s.control[e.Input] = true // it may be ours; onTaken will know
	}
	switch e.State {
	case "stop", "cancel":
		s.held = nil
		for _, t := range s.waiting {
			t.done()
		}
	case "mute":
		if s.live {
			s.held = nil
		}
	}
}

// onMessage takes what the agent says.
func (s *session) onMessage(m plugin.Message) {
	text := m.Text
	if len(text) > longestMessage {
		text = strings.ToValidUTF8(text[:longestMessage], "")
	}
	it := item{text: sentence.Plain(text), lang: m.Lang, input: m.ReplyTo}
	if it.lang == "" {
		it.lang = plugin.LangOf(it.text)
	}
	if it.lang == "" {
		it.lang = s.own
	}
	if t := s.waiting[m.ReplyTo]; t != nil {
		if it.text != "" && t.trace.Answered.IsZero() {
			t.trace.Answered = time.Now()
			t.trace.Answer = it.text
			it.trace = t.trace
		}
		if m.Final {
			delete(s.waiting, m.ReplyTo)
			s.p.routes.forget(m.ReplyTo)
		}
		if !t.acted {
			t.deadline = time.Now().Add(s.cfg.Answer) // a sign of life
		}
	}
	if it.text == "" {
		return
	}
	s.speak(it)
}

// speak says something, at once or when nobody is speaking any more.
func (s *session) speak(it item) {
	if s.live && s.p.speakerMuted.Load() {
		s.tell("speaker muted", event.System, noteSpeakerMuted.in(s.own))
		return
	}
	if len(s.held) >= heldItems {
		s.tell("dropped", event.System, noteDropped.in(s.own))
		return
	}
	s.held = append(s.held, it)
	s.release()
}

// release hands the mouth what was held back. While somebody speaks to the box
// it is silent, and until it knows what was said: it may have been "stop".
func (s *session) release() {
	if len(s.held) == 0 {
		return
	}
	if !s.open && (s.listen != nil || s.rec != nil || len(s.queue) > 0 || s.giving > 0) {
		return
	}
	for _, it := range s.held {
		if !s.mouth.say(it) {
			s.tell("dropped", event.System, noteDropped.in(s.own))
		}
	}
	s.held = nil
}
