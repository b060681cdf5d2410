package audiotest

import (
	"context"
	"sync"
	"time"

	"homeagent/agent/pcm"
)

// Step is one part of a microphone's script. Exactly one field is set.
type Step struct {
	// Sound is heard, in the microphone's native format.
	Sound []int16
	// Silence lasts so long.
	Silence time.Duration
	// Fail ends the Read that comes to it with this error; io.EOF ends the
	// source like a file, anything else is wrapped in a *pcm.DeviceError by the
	// script's author where that is wanted.
	Fail error
}

// source is an open microphone.
type source struct {
	o      *Opener
	id     string
	d      *device
	pulled chan struct{}
	closed chan struct{}
	once   sync.Once
	start  time.Time
	played int
}

func (s *source) Format() pcm.Format { return s.d.native }

// Read implements pcm.Source in real time.
func (s *source) Read(ctx context.Context, buf []int16) (int, error) {
	select {
	case <-s.closed:
		return 0, s.o.lost(s.id, "read", ErrClosed)
	case <-s.pulled:
		return 0, s.o.lost(s.id, "read", ErrUnplugged)
	default:
	}
	if s.start.IsZero() {
		s.start = time.Now()
	}
	n, err := s.next(buf)
	s.played += n
	if werr := s.wait(ctx); werr != nil {
		return n, werr
	}
	return n, err
}

// next takes len(buf) samples off the script.
func (s *source) next(buf []int16) (n int, err error) {
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	for n < len(buf) && len(s.d.script) > 0 {
		st := &s.d.script[0]
		switch {
		case st.Fail != nil:
			if n > 0 {
				return s.short(n)
			}
			err := st.Fail
			s.d.script = s.d.script[1:]
			return 0, err
		case st.Silence > 0:
			k := min(len(buf)-n, max(s.d.native.Samples(st.Silence), s.d.native.Channels))
			clear(buf[n : n+k])
			n += k
			st.Silence -= s.d.native.Duration(k)
		default:
			k := copy(buf[n:], st.Sound)
			n += k
			st.Sound = st.Sound[k:]
		}
		if st.Silence <= 0 && len(st.Sound) == 0 && st.Fail == nil {
			s.d.script = s.d.script[1:]
		}
	}
	clear(buf[n:])
	return len(buf), nil
}

// short ends a Read with the error that stands next in the script, after what
// came before it.
func (s *source) short(n int) (int, error) {
	err := s.d.script[0].Fail
	s.d.script = s.d.script[1:]
	return n, err
}

// wait returns when all that was given so far would have been heard.
func (s *source) wait(ctx context.Context) error {
	t := time.NewTimer(time.Until(s.start.Add(s.Format().Duration(s.played))))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return s.o.lost(s.id, "read", ErrClosed)
	case <-s.pulled:
		return s.o.lost(s.id, "read", ErrUnplugged)
	}
}

// Close implements pcm.Source.
func (s *source) Close() error {
	s.once.Do(func() { close(s.closed) })
	s.o.ended(s)
	return nil
}

// ahead is how much a speaker queues, as a real one does.
const ahead = 200 * time.Millisecond

// sink is an open speaker. What is queued counts as heard as time passes.
type sink struct {
	o      *Opener
	id     string
	d      *device
	pulled chan struct{}
	closed chan struct{}
	once   sync.Once

	mu      sync.Mutex
	queue   []int16
	since   time.Time // up to when the queue was played
	flushes int
}

func (s *sink) Format() pcm.Format { return s.d.native }

// advance moves what is due from the queue to what was heard. The caller holds mu.
func (s *sink) advance() {
	now := time.Now()
	n := min(s.Format().Samples(now.Sub(s.since)), len(s.queue))
	select {
	case <-s.pulled: // nothing is heard from a device that is gone
	default:
		s.o.mu.Lock()
		s.d.heard = append(s.d.heard, s.queue[:n]...)
		s.o.mu.Unlock()
	}
	if s.queue = s.queue[n:]; len(s.queue) == 0 {
		s.since = now
	} else {
		s.since = s.since.Add(s.Format().Duration(n))
	}
}

// Write implements pcm.Sink. A Flush during Write drops the rest of buf as well.
func (s *sink) Write(ctx context.Context, buf []int16) (int, error) {
	s.mu.Lock()
	flushes := s.flushes
	s.mu.Unlock()
	for n := 0; ; {
		if err := s.state(); err != nil {
			return n, err
		}
		s.mu.Lock()
		s.advance()
		if s.flushes != flushes {
			s.mu.Unlock()
			return len(buf), nil
		}
		k := max(min(len(buf)-n, s.Format().Samples(ahead)-len(s.queue)), 0)
		s.queue = append(s.queue, buf[n:n+k]...)
		s.mu.Unlock()
		if n += k; n == len(buf) {
			return n, nil
		}
		if err := s.pause(ctx, 10*time.Millisecond); err != nil {
			return n, err
		}
	}
}

// Drain implements pcm.Sink.
func (s *sink) Drain(ctx context.Context) error {
	for {
		s.mu.Lock()
		s.advance()
		left := len(s.queue)
		s.mu.Unlock()
		if left == 0 {
			return s.state()
		}
		if err := s.pause(ctx, s.Format().Duration(left)); err != nil {
			return err
		}
	}
}

// Flush implements pcm.Sink.
func (s *sink) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	s.queue = nil
	s.flushes++
	return nil
}

// Close implements pcm.Sink: what is still queued is never heard.
func (s *sink) Close() error {
	s.mu.Lock()
	s.advance()
	s.queue = nil
	s.mu.Unlock()
	s.once.Do(func() { close(s.closed) })
	s.o.ended(s)
	return nil
}

// state is the error of a stream that has ended.
func (s *sink) state() error {
	select {
	case <-s.closed:
		return s.o.lost(s.id, "write", ErrClosed)
	case <-s.pulled:
		return s.o.lost(s.id, "write", ErrUnplugged)
	default:
		return nil
	}
}

// pause waits a moment of playing.
func (s *sink) pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return s.state()
	case <-s.pulled:
		return s.state()
	}
}
