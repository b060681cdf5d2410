package voice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"homeagent/agent/pcm"
	"homeagent/drivers/voice/sentence"
	"homeagent/drivers/voice/speech"
)

const (
	// longestSpoken bounds one message in characters; the rest can be read.
	longestSpoken = 800
	// mouthQueue bounds the messages that wait to be spoken.
	mouthQueue = 16
	// synthWait bounds each wait for a synthesizer, writeWait for the speaker.
	synthWait = 15 * time.Second
	writeWait = 5 * time.Second
	// itemWait bounds one message, whatever happens.
	itemWait = 10 * time.Minute
	// audible is the smallest sample that counts as sound, -50 dBFS.
	audible = 100
)

// item is one thing to play.
type item struct {
	text, lang string
	input      string // that this answers, "" if none
	cue        bool   // a tone instead of text
	trace      *Trace // of the utterance that this answers; the loop's own
}

// mouthEvent tells the loop what the mouth does.
type mouthEvent struct {
	kind  mouthKind
	item  item
	at    time.Time // of mouthSound
	err   error     // of mouthDone
	stop  bool      // of mouthDone: it was cut short
	sound []int16   // of mouthDone, where a tape runs along: what was heard of it
}

type mouthKind int

const (
	mouthSound mouthKind = iota // the first audible sample was handed over
	mouthDone                   // an item is over
)

// errSilent is a language that no synthesizer speaks.
var errSilent = errors.New("no synthesizer")

// mouth plays one item after another. say and stop may be called from any
// goroutine and never wait.
type mouth struct {
	synths []speech.Synthesizer
	open   func(ctx context.Context, f pcm.Format) (pcm.Sink, error)
	events chan mouthEvent
	tape   *tape // nil for a real speaker

	mu     sync.Mutex
	queue  []item
	now    *item
	cancel context.CancelFunc // of now
	sink   pcm.Sink           // kept open between items of one format
	wake   chan struct{}
}

func newMouth(synths []speech.Synthesizer, open func(context.Context, pcm.Format) (pcm.Sink, error)) *mouth {
	return &mouth{synths: synths, open: open, events: make(chan mouthEvent, 64), wake: make(chan struct{}, 1)}
}

// say queues an item and reports false when the queue is full.
func (m *mouth) say(it item) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) >= mouthQueue {
		return false
	}
	m.queue = append(m.queue, it)
	select {
	case m.wake <- struct{}{}:
	default:
	}
	return true
}

// stop falls silent at once and drops what waits.
func (m *mouth) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = nil
	if m.cancel != nil {
		m.cancel()
	}
	if m.sink != nil {
		m.sink.Flush() // a speaker that cannot even do that is found lost by the next Write
	}
}

// saying returns the text that is being spoken; ok is false in silence. A tone
// is no speech.
func (m *mouth) saying() (text string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now != nil && !m.now.cue {
		return m.now.text, true
	}
	for _, it := range m.queue {
		if !it.cue {
			return it.text, true
		}
	}
	return "", false
}

// idle reports that nothing is played and nothing waits.
func (m *mouth) idle() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now == nil && len(m.queue) == 0
}

// run plays until ctx ends.
func (m *mouth) run(ctx context.Context) {
	defer m.closeSink()
	for {
		it, ictx, cancel := m.next(ctx)
		if ictx == nil {
			select {
			case <-m.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		err := m.play(ictx, it)
		stopped := errors.Is(ictx.Err(), context.Canceled)
		if stopped {
			err = nil
			m.flush() // a chunk may have slipped in behind the stop
		}
		cancel()
		e := mouthEvent{kind: mouthDone, item: it, err: err, stop: stopped}
		if m.tape != nil {
			e.sound = m.tape.take()
		}
		m.mu.Lock()
		m.now, m.cancel = nil, nil
		m.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		m.report(ctx, e)
	}
}

// next takes the oldest item and the context that stop ends, nil if none waits.
func (m *mouth) next(ctx context.Context) (item, context.Context, context.CancelFunc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 || ctx.Err() != nil {
		return item{}, nil, nil
	}
	it := m.queue[0]
	m.queue = m.queue[1:]
	ictx, cancel := context.WithTimeout(ctx, itemWait)
	m.now, m.cancel = &it, cancel
	return it, ictx, cancel
}

func (m *mouth) report(ctx context.Context, e mouthEvent) {
	select {
	case m.events <- e:
	case <-ctx.Done():
	}
}

// play speaks one item. An engine that fails before its first sample is
// replaced by the next one that speaks the language.
func (m *mouth) play(ctx context.Context, it item) error {
	if it.cue {
		_, err := m.stream(ctx, it, earCon())
		return err
	}
	text, more := sentence.Cut(it.text, longestSpoken)
	if more {
		text += " " + noteRest.in(it.lang)
	}
	err := fmt.Errorf("speak %q: %w: %w", it.lang, errSilent, speech.ErrMissing)
	for _, s := range m.synths {
		if !offers(s.Langs(), it.lang) {
			continue
		}
		var src pcm.Source
		src, err = bounded(ctx, synthWait, func(ctx context.Context) (pcm.Source, error) {
			return s.Synthesize(ctx, text, it.lang)
		})
		var began bool
		if err == nil {
			began, err = m.stream(ctx, it, src)
		}
		if err == nil || began || ctx.Err() != nil || isDevice(err) {
			return err
		}
		err = fmt.Errorf("speak with %s: %w", s.Name(), err)
	}
	return err
}

func isDevice(err error) bool {
	var lost *pcm.DeviceError
	return errors.As(err, &lost)
}

// stream plays a source and closes it; began tells that some of it was played.
func (m *mouth) stream(ctx context.Context, it item, src pcm.Source) (began bool, err error) {
	defer src.Close()
	hung := time.AfterFunc(synthWait, func() { src.Close() })
	defer hung.Stop()
	f := src.Format()
	if !f.Valid() {
		return false, fmt.Errorf("synthesizer gives %s", f)
	}
	buf := make([]int16, f.Samples(20*time.Millisecond))
	heard := false
	for {
		hung.Reset(synthWait)
		n, rerr := src.Read(ctx, buf)
		hung.Stop()
		if n > 0 {
			if err := m.write(ctx, f, buf[:n]); err != nil {
				return began, err
			}
			began = true
			if !heard && loud(buf[:n]) {
				heard = true
				m.report(ctx, mouthEvent{kind: mouthSound, item: it, at: time.Now()})
			}
		}
		switch {
		case rerr == io.EOF:
			return true, m.drain(ctx)
		case rerr != nil:
			return began, rerr
		case n == 0:
			return began, errors.New("synthesizer gives nothing")
		}
	}
}

// write hands samples to the speaker, opening it where need be, and once more
// where it was lost.
func (m *mouth) write(ctx context.Context, f pcm.Format, buf []int16) error {
	for try := 0; ; try++ {
		sink, err := m.sinkFor(ctx, f)
		if err != nil {
			return err
		}
		wctx, cancel := context.WithTimeout(ctx, writeWait)
		_, err = sink.Write(wctx, buf)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		m.closeSink()
		if try > 0 {
			var lost *pcm.DeviceError
			if !errors.As(err, &lost) {
				err = &pcm.DeviceError{Op: "write", Err: err}
			}
			return err
		}
	}
}

// sinkFor returns the open sink, opened anew where the format changed.
func (m *mouth) sinkFor(ctx context.Context, f pcm.Format) (pcm.Sink, error) {
	m.mu.Lock()
	sink := m.sink
	m.mu.Unlock()
	if sink != nil && sink.Format() == f {
		return sink, nil
	}
	m.closeSink()
	sink, err := bounded(ctx, openWait, func(ctx context.Context) (pcm.Sink, error) {
		s, err := m.open(ctx, f)
		if err == nil && ctx.Err() != nil {
			s.Close() // nobody waits for it any more
			return nil, ctx.Err()
		}
		return s, err
	})
	if err != nil {
		var lost *pcm.DeviceError
		if !errors.As(err, &lost) {
			err = &pcm.DeviceError{Op: "open", Err: err}
		}
		return nil, err
	}
	m.mu.Lock()
	m.sink = sink
	m.mu.Unlock()
	return sink, nil
}

// drain waits for the last sample to be heard; the speaker holds little.
func (m *mouth) drain(ctx context.Context) error {
	m.mu.Lock()
	sink := m.sink
	m.mu.Unlock()
	if sink == nil {
		return nil
	}
	dctx, cancel := context.WithTimeout(ctx, writeWait)
	defer cancel()
	return sink.Drain(dctx)
}

func (m *mouth) flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sink != nil {
		m.sink.Flush() // see stop
	}
}

func (m *mouth) closeSink() {
	m.mu.Lock()
	sink := m.sink
	m.sink = nil
	m.mu.Unlock()
	if sink != nil {
		sink.Close()
	}
}

// loud reports whether any sample can be heard.
func loud(s []int16) bool {
	return slices.ContainsFunc(s, func(v int16) bool { return v > audible || v < -audible })
}
