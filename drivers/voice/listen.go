package voice

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/pcm"
	"homeagent/drivers/voice/speech"
)

const (
	openEndpointWait = 3 * time.Second
	acceptWait       = 2 * time.Second
	// cueAfter is how long after the wake word the tone comes if nobody speaks.
	cueAfter = 300 * time.Millisecond
	// lead and tail are kept around speech: recognizers miss words that begin
	// or end with the audio.
	lead = 400 * time.Millisecond
	tail = 300 * time.Millisecond
	// shortest is what counts as speech; below it is a click, or the end of the
	// wake word itself.
	shortest = 200 * time.Millisecond
	// again is how long after the first wake word a second one begins anew.
	again = 1500 * time.Millisecond
	// queueLength bounds utterances that wait for an engine.
	queueLength = 8
)

// n is d in samples of the voice path.
func n(d time.Duration) int64 { return int64(pcm.Voice.Samples(d)) }

// listening is one wait for an utterance. Positions are the session's.
type listening struct {
	from int64 // the first sample that may belong to the utterance
	wake string
	// retry marks a wait that goes on after a short first utterance without meaning.
	retry bool
	quiet int64 // nobody has spoken up to here: give up
	take  chan<- []int16

	ep      speech.Endpointer
	coarse  bool // ep judges by loudness
	epBase  int64
	audio   []int16
	base    int64 // position of audio[0]
	fed     int64
	started bool
	start   int64
	cued    bool
	wall    time.Time
}

// utterance is sound with speech in it.
type utterance struct {
	audio      []int16
	start, end int64
	l          listening
	trace      Trace
}

// openDetector opens the detector over the words of the moment.
func (s *session) openDetector() {
	s.det = nil
	if s.p.opt.Wake == nil {
		s.tell("wake", event.System, sprintf(noteNoWake.in(s.own), speech.ErrMissing))
		return
	}
	words, err := s.p.words()
	if err == nil {
		s.det, err = s.p.opt.Wake.Open(words)
	}
	if err != nil {
		s.det = nil
		s.p.log.Warn("wake word", "err", err)
		s.tell("wake", event.System, sprintf(noteNoWake.in(s.own), reason(err, s.own)))
	}
	s.detBase = s.ring.end
}

// resetDetector makes the detector forget; its positions go on.
func (s *session) resetDetector() { s.det.Reset() }

// detect asks the detector. One that panics is given up: it must not take the
// microphone with it.
func (s *session) detect(samples []int16) (hits []speech.Hit) {
	defer func() {
		if p := recover(); p != nil {
			s.p.log.Error("wake word", "panic", p)
			s.det, hits = nil, nil
			s.tell("wake", event.System, sprintf(noteNoWake.in(s.own), fmt.Sprint(p)))
		}
	}()
	return s.det.Accept(samples)
}

// onSound takes the next samples.
func (s *session) onSound(samples []int16, at time.Time) {
	s.ring.write(samples)
	s.at = at
	if s.whole > 0 && s.ring.end >= s.whole {
		s.finish(s.whole)
	}
	if s.det != nil && !s.open {
		for _, h := range s.detect(samples) {
			s.onHit(h)
		}
	} else if s.det == nil {
		s.detBase = s.ring.end
	}
	s.relisten()
	if s.listen != nil {
		s.feed()
	}
}

// onHit takes a wake word.
func (s *session) onHit(h speech.Hit) {
	end := min(max(s.detBase+h.End, s.ring.start()), s.ring.end)
	text, speaking := s.mouth.saying()
	if speaking && s.live && strings.Contains(strings.ToLower(text), strings.ToLower(h.Word)) {
		return // the box itself said it
	}
	if l := s.listen; l != nil {
		// Called twice in a row: the second call is no part of the command. Later
		// the word belongs to the sentence.
		if l.take != nil || l.started && end-l.start > n(again) {
			return
		}
		s.endListening()
	}
	if speaking {
		s.mouth.stop()
	}
	s.startListening(listening{from: end, wake: h.Word})
}

// startListening opens an endpointer and gives it what the ring has from
// l.from on.
func (s *session) startListening(l listening) {
	l.from = max(l.from, s.ring.start())
	l.base, l.fed, l.epBase = l.from, l.from, l.from
	if l.quiet == 0 {
		l.quiet = l.from + n(s.cfg.NoSpeech)
	}
	l.wall = time.Now().Add(s.cfg.NoSpeech + s.cfg.Longest + 5*time.Second)
	if l.take == nil {
		s.warm()
	}
	l.cued = !s.live || !s.cfg.earCon() || l.take != nil || l.retry
	cfg := speech.EndpointConfig{Trailing: s.cfg.Trailing}
	if s.p.opt.Endpointing == nil {
		l.ep, l.coarse = newEnergy(cfg), true
	} else {
		ep, err := bounded(s.ctx, openEndpointWait, func(ctx context.Context) (speech.Endpointer, error) {
			return s.p.opt.Endpointing.OpenEndpointer(ctx, cfg)
		})
		if err != nil {
			s.endpointFailed(err)
			l.ep, l.coarse = newEnergy(cfg), true
		} else {
			l.ep = ep
		}
	}
	s.listen = &l
	s.feed()
}

// warm loads the local engine while somebody speaks.
func (s *session) warm() {
	if s.p.opt.Warm == nil || s.p.opt.English == nil || s.lang == "zh" || !s.p.warming.CompareAndSwap(false, true) {
		return
	}
	s.work.Go(func() {
		defer s.p.warming.Store(false)
		_, err := bounded(s.ctx, recogniseWait, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, s.p.opt.Warm(ctx)
		})
		if err != nil && s.ctx.Err() == nil {
			s.p.log.Debug("loading the speech engine", "err", err) // the recognition itself tells people
		}
	})
}

func (s *session) endpointFailed(err error) {
	if s.ctx.Err() != nil {
		return
	}
	s.p.log.Warn("endpoint", "err", err)
	s.tell("endpoint", event.System, sprintf(noteEndpoint.in(s.own), reason(err, s.own)))
}

// endListening drops the wait, if there is one. Whoever waits for a take learns
// that none came.
func (s *session) endListening() {
	l := s.listen
	if l == nil {
		return
	}
	s.listen = nil
	if l.take != nil {
		close(l.take)
	}
	s.closeEndpointer(l.ep)
}

// closeEndpointer closes beside the loop: an engine may hang.
func (s *session) closeEndpointer(ep speech.Endpointer) {
	s.work.Go(func() {
		bounded(context.WithoutCancel(s.ctx), acceptWait, func(context.Context) (struct{}, error) {
			return struct{}{}, ep.Close()
		})
	})
}

// feed gives the endpointer what is new and acts on what it finds.
func (s *session) feed() {
	l := s.listen
	chunk := s.ring.from(l.fed)
	l.fed = s.ring.end
	l.audio = append(l.audio, chunk...)
	sp := s.judge(l, chunk)
	if sp.Started && !l.started {
		l.started = true
		// The ends an engine names are not trusted.
		l.start = min(max(l.epBase+sp.Start, l.from), l.fed)
		s.publishState()
	}
	switch {
	case sp.Ended && sp.Started:
		end := min(max(l.epBase+sp.End, l.start), l.fed)
		switch {
		case end-l.start >= n(shortest):
			s.utter(l, end)
		case s.open || l.fed < l.quiet:
			s.restartEndpointer(l, end)
		default:
			s.giveUp()
		}
	case l.started && l.fed-l.start >= n(s.cfg.Longest):
		s.utter(l, l.fed)
	case !l.started && !s.open && (l.fed >= l.quiet || s.ended && l.fed-s.endAt >= n(time.Second)):
		s.giveUp()
	case !l.started:
		if l.wake != "" && !l.cued && l.fed-l.from >= n(cueAfter) {
			l.cued = true
			s.mouth.say(item{cue: true})
		}
		// Without speech only the lead is needed; an open wait may last for hours.
		if keep := n(2 * time.Second); int64(len(l.audio)) > 2*keep {
			drop := int64(len(l.audio)) - keep
			l.audio = append([]int16(nil), l.audio[drop:]...)
			l.base += drop
		}
		if s.open {
			l.wall = time.Now().Add(s.cfg.NoSpeech + s.cfg.Longest + 5*time.Second)
		}
	}
}

// giveUp ends a wait in which nobody spoke.
func (s *session) giveUp() {
	if s.listen.take == nil {
		s.line(Line{Event: "nothing"})
	}
	s.endListening()
}

// judge asks the endpointer; one that fails is replaced by loudness, which
// hears the wait from its beginning.
func (s *session) judge(l *listening, chunk []int16) speech.Speech {
	ep := l.ep
	sp, err := bounded(s.ctx, acceptWait, func(ctx context.Context) (speech.Speech, error) {
		return ep.Accept(ctx, chunk)
	})
	if err == nil {
		return sp
	}
	if l.coarse || s.ctx.Err() != nil {
		return speech.Speech{}
	}
	s.endpointFailed(err)
	s.closeEndpointer(ep)
	l.ep, l.coarse, l.epBase = newEnergy(speech.EndpointConfig{Trailing: s.cfg.Trailing}), true, l.base
	sp, _ = l.ep.Accept(s.ctx, l.audio) // energy gives no error
	return sp
}

// restartEndpointer goes on after a sound that was too short.
func (s *session) restartEndpointer(l *listening, end int64) {
	next := *l
	s.listen = nil
	s.closeEndpointer(l.ep)
	wall, cued := l.wall, l.cued
	s.startListening(listening{from: end, wake: next.wake, quiet: next.quiet, take: next.take, retry: next.retry})
	if s.listen != nil {
		s.listen.wall, s.listen.cued = wall, cued
	}
}

// utter ends the wait with an utterance that ends at end.
func (s *session) utter(l *listening, end int64) {
	from := max(l.start-n(lead), l.base)
	to := min(end+n(tail), l.fed)
	u := utterance{audio: l.audio[from-l.base : to-l.base], start: l.start, end: end, l: *l}
	u.trace = Trace{Session: s.name, LastSpeech: s.clock(end), Endpoint: time.Now()}
	s.listen = nil
	s.closeEndpointer(l.ep)
	switch {
	case l.take != nil:
		l.take <- u.audio // has room for one
		close(l.take)
	case len(s.queue) < queueLength:
		s.queue = append(s.queue, u)
		s.recognise()
	default:
		s.p.log.Warn("utterance dropped", "session", s.name, "queue", len(s.queue))
		s.line(Line{Event: "notice", Text: sayFailed.in(s.own)})
	}
	if s.open && s.listen == nil {
		s.startListening(listening{from: end})
	}
}

// clock tells when the sample at pos was captured.
func (s *session) clock(pos int64) time.Time {
	return s.at.Add(-pcm.Voice.Duration(int(s.ring.end - pos)))
}

// errNoMicrophone is push to talk without a microphone.
var errNoMicrophone = errors.New("no microphone")

// push starts listening without a wake word; it runs in the loop.
func (s *session) push(take chan<- []int16) error {
	if s.micState != "" || s.mic == nil {
		if take != nil {
			close(take)
		}
		return errNoMicrophone
	}
	if s.listen != nil {
		s.endListening()
	}
	if _, speaking := s.mouth.saying(); speaking {
		s.mouth.stop()
	}
	s.startListening(listening{from: s.ring.end, take: take})
	return nil
}
