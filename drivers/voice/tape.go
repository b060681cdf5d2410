package voice

import (
	"context"
	"sync"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/resample"
)

// tapeFormat is what a tape records, whatever is played: espeak's own.
var tapeFormat = pcm.Format{Rate: 22050, Channels: 1}

// tapeAhead is how much may be queued before a Write waits, as in a speaker.
const tapeAhead = 200 * time.Millisecond

// tape stands for a speaker and records what it would have played. It keeps
// real time, so that a recording with several commands, or with a "stop" in
// it, meets an answer that is still being spoken.
type tape struct {
	mu      sync.Mutex
	samples []int16
	until   time.Time // when what was written will have been played
}

// sink gives a Sink of the format that records on the tape.
func (t *tape) sink(f pcm.Format) (pcm.Sink, error) {
	return resample.NewSink(tapeSink{t}, f)
}

// take returns what was played since the last call.
func (t *tape) take() []int16 {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.samples
	t.samples = nil
	return s
}

// wait returns when no more than ahead is left to play.
func (t *tape) wait(ctx context.Context, ahead time.Duration) error {
	for {
		t.mu.Lock()
		left := time.Until(t.until) - ahead
		t.mu.Unlock()
		if left <= 0 {
			return ctx.Err()
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// tapeSink is the tape as a pcm.Sink in the tape's own format.
type tapeSink struct{ t *tape }

var _ pcm.Sink = tapeSink{}

func (s tapeSink) Format() pcm.Format { return tapeFormat }

func (s tapeSink) Write(ctx context.Context, buf []int16) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	t := s.t
	t.mu.Lock()
	t.samples = append(t.samples, buf...)
	if now := time.Now(); t.until.Before(now) {
		t.until = now
	}
	t.until = t.until.Add(tapeFormat.Duration(len(buf)))
	t.mu.Unlock()
	return len(buf), t.wait(ctx, tapeAhead)
}

func (s tapeSink) Drain(ctx context.Context) error { return s.t.wait(ctx, 0) }

// Flush forgets what was not played yet.
func (s tapeSink) Flush() error {
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if left := time.Until(t.until); left > 0 {
		t.samples = t.samples[:max(0, len(t.samples)-tapeFormat.Samples(left))]
		t.until = time.Now()
	}
	return nil
}

func (s tapeSink) Close() error { return nil }
