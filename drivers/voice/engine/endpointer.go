package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"homeagent/drivers/voice/engine/wire"
	"homeagent/drivers/voice/speech"
)

// closeTime is how long Close waits for the process.
const closeTime = time.Second

// endpointer is one stream of sound in the process. It keeps the process from
// being idle until Close.
type endpointer struct {
	c      *Client
	p      *process
	stream uint64
	cfg    speech.EndpointConfig
	found  wire.Speech
}

var _ speech.Endpointer = (*endpointer)(nil)

// OpenEndpointer starts the process if need be; an absent model wraps
// speech.ErrMissing. The endpointer must be closed.
func (c *Client) OpenEndpointer(ctx context.Context, cfg speech.EndpointConfig) (speech.Endpointer, error) {
	e := &endpointer{c: c, cfg: cfg}
	err := e.open(ctx)
	if errors.Is(err, ErrCrashed) {
		err = e.open(ctx)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// open begins a stream on the present process, where the last one had got to.
func (e *endpointer) open(ctx context.Context) error {
	p, err := e.c.acquire(ctx)
	if err != nil {
		return err
	}
	req := wire.Request{Op: wire.Open, TrailingMS: int(e.cfg.Trailing.Milliseconds())}
	if e.found.Heard > 0 {
		found := e.found
		req.Speech = &found
	}
	rep, err := e.c.on(ctx, p, req, nil)
	if err != nil {
		e.c.release()
		return err
	}
	e.p, e.stream = p, rep.ID
	return nil
}

// Accept gives the engine more sound. If the process is lost it goes on in a
// new one once, not knowing any more whether the last second was speech.
func (e *endpointer) Accept(ctx context.Context, samples []int16) (speech.Speech, error) {
	for len(samples) > 0 && !e.found.Ended {
		part := samples[:min(len(samples), wire.MaxSound/2)]
		samples = samples[len(part):]
		err := e.feed(ctx, part)
		if errors.Is(err, ErrCrashed) {
			e.c.log.Warn("speech engines: listening goes on in a new process", "err", err)
			e.drop()
			err = e.feed(ctx, part)
		}
		if err != nil {
			return e.speech(), err
		}
	}
	return e.speech(), nil
}

// feed sends one piece, opening a stream where there is none.
func (e *endpointer) feed(ctx context.Context, part []int16) error {
	if e.p == nil {
		if err := e.open(ctx); err != nil {
			return err
		}
	}
	rep, err := e.c.on(ctx, e.p, wire.Request{Op: wire.Feed, Stream: e.stream}, part)
	if err != nil {
		return err
	}
	if rep.Speech != nil {
		e.found = *rep.Speech
	}
	return nil
}

func (e *endpointer) speech() speech.Speech {
	return speech.Speech{Started: e.found.Started, Ended: e.found.Ended, Start: e.found.Start, End: e.found.End}
}

// drop forgets a stream whose process is lost.
func (e *endpointer) drop() {
	if e.p != nil {
		e.p = nil
		e.c.release()
	}
}

// Close ends the stream; twice is harmless.
func (e *endpointer) Close() error {
	if e.p == nil {
		return nil
	}
	e.found.Ended = true // Accept does nothing from now on
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_, err := e.p.call(ctx, wire.Request{Op: wire.Close, Stream: e.stream}, nil)
	e.drop()
	if err != nil && !errors.Is(err, ErrCrashed) {
		return fmt.Errorf("close endpointer: %w", err)
	}
	return nil
}
