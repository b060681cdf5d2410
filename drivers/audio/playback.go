package audio

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"homeagent/agent/pcm"
)

// playbackRing is how much sound is queued ahead of a device.
const playbackRing = 200 * time.Millisecond

// playback is an open speaker in its own format.
type playback struct {
	name    string // full name
	f       pcm.Format
	gain    *Gain
	q       *ring
	room    chan struct{}
	beats   atomic.Int64
	flushes atomic.Int64
	latency time.Duration // from the callback to the ear
	gone    gone
	stop    func() error
	once    sync.Once

	level float32 // the amplitude the last block ended with; the callback's own
}

// newPlayback makes the stream; stop is called once, by the first Close.
func newPlayback(name string, f pcm.Format, gain *Gain, stop func() error) *playback {
	return &playback{name: name, f: f, gain: gain, q: newRing(f.Samples(playbackRing)), room: make(chan struct{}, 1),
		gone: newGone(), stop: stop, level: gain.Level()}
}

var _ pcm.Sink = (*playback)(nil)

// fill is the device's callback: it takes what is queued, silence for the rest,
// applies the gain and returns how many samples were not mere silence.
func (p *playback) fill(out []int16) int {
	n := p.q.pop(out)
	clear(out[n:])
	p.level = p.gain.Apply(out[:n], p.level)
	if n == 0 {
		p.level = p.gain.Level() // nothing was heard, so there is nothing to slide from
	}
	p.beats.Add(1)
	signal(p.room)
	return n
}

// Format implements pcm.Sink.
func (p *playback) Format() pcm.Format { return p.f }

// Write implements pcm.Sink. A Flush during Write drops the rest of buf as well.
func (p *playback) Write(ctx context.Context, buf []int16) (int, error) {
	flushes := p.flushes.Load()
	stall := newStall(&p.beats)
	defer stall.stop()
	for n := 0; ; {
		select {
		case <-p.gone.ch:
			return n, &pcm.DeviceError{Device: p.name, Op: "write", Err: p.gone.err()}
		default:
		}
		if p.flushes.Load() != flushes {
			return len(buf), nil
		}
		if n += p.q.push(buf[n:]); p.flushes.Load() != flushes {
			p.q.drop() // the Flush may have come between the look and the push
			return len(buf), nil
		}
		if n == len(buf) {
			return n, nil
		}
		if err := p.await(ctx, stall); err != nil {
			return n, err
		}
	}
}

// await waits for the next callback.
func (p *playback) await(ctx context.Context, stall *stall) error {
	select {
	case <-p.room:
	case <-ctx.Done():
		return ctx.Err()
	case <-p.gone.ch:
		return &pcm.DeviceError{Device: p.name, Op: "write", Err: p.gone.err()}
	case <-stall.c():
		if stall.over() {
			return &pcm.DeviceError{Device: p.name, Op: "write", Err: errStalled}
		}
	}
	return nil
}

// Drain implements pcm.Sink.
func (p *playback) Drain(ctx context.Context) error {
	stall := newStall(&p.beats)
	defer stall.stop()
	for p.q.queued() > 0 {
		if err := p.await(ctx, stall); err != nil {
			return err
		}
	}
	t := time.NewTimer(p.latency)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.gone.ch:
		return &pcm.DeviceError{Device: p.name, Op: "write", Err: p.gone.err()}
	}
}

// Flush implements pcm.Sink. What the callback has taken already, latency long,
// is still heard.
func (p *playback) Flush() error {
	p.flushes.Add(1)
	p.q.drop()
	signal(p.room)
	return nil
}

// Close implements pcm.Sink. Closing twice is harmless.
func (p *playback) Close() (err error) {
	p.gone.lose(os.ErrClosed)
	p.once.Do(func() { err = p.stop() })
	return err
}
