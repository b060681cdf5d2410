package resample

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"homeagent/agent/pcm"
)

// step is how much of a stream is converted at once; it bounds what a live
// source adds to the filter's latency.
const step = 10 * time.Millisecond

// Source gives another Source in the wanted format. Close closes the inner one.
type Source struct {
	inner pcm.Source
	conv  *Converter
	in    []int16
	out   []int16 // converted; what lies before pos has been read
	pos   int
	err   error // what ended the inner source
}

var _ pcm.Source = (*Source)(nil)

// NewSource wraps src unless it has the wanted format already. The result owns
// src; on an error src is still the caller's.
func NewSource(src pcm.Source, want pcm.Format) (pcm.Source, error) {
	if src.Format() == want {
		return src, nil
	}
	conv, err := New(src.Format(), want)
	if err != nil {
		return nil, err
	}
	return &Source{inner: src, conv: conv, in: make([]int16, src.Format().Samples(step))}, nil
}

// Format is the wanted format.
func (s *Source) Format() pcm.Format { return s.conv.Out() }

// Read implements pcm.Source.
func (s *Source) Read(ctx context.Context, buf []int16) (int, error) {
	n := 0
	for {
		k := copy(buf[n:], s.out[s.pos:])
		s.pos += k
		if n += k; n == len(buf) {
			return n, nil
		}
		if s.err != nil {
			return n, s.err
		}
		if err := s.fill(ctx); err != nil {
			return n, err
		}
	}
}

// fill converts one more step. It returns only errors that do not end the
// source; an ending one is kept until what was converted has been read.
func (s *Source) fill(ctx context.Context) error {
	got, err := s.inner.Read(ctx, s.in)
	out, cerr := s.conv.Convert(s.out[:0], s.in[:got])
	if cerr != nil {
		s.err = cerr
		return cerr
	}
	s.out, s.pos = out, 0
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return err
	case errors.Is(err, io.EOF):
		s.err = io.EOF
		if s.out, cerr = s.conv.Flush(s.out); cerr != nil {
			s.err = cerr
		}
	default:
		s.err = err
	}
	return nil
}

// Close closes the inner source, which ends a waiting Read. The filter is left
// to the garbage collector, for a Read may still be using it.
func (s *Source) Close() error { return s.inner.Close() }

// Sink takes samples in one format and hands them to a Sink of another.
type Sink struct {
	inner pcm.Sink

	mu   sync.Mutex // guards conv, out and gen against Flush
	conv *Converter
	out  []int16
	gen  int // counts flushes
}

var _ pcm.Sink = (*Sink)(nil)

// NewSink wraps dst unless it takes the format already. The result owns dst; on
// an error dst is still the caller's.
func NewSink(dst pcm.Sink, from pcm.Format) (pcm.Sink, error) {
	if dst.Format() == from {
		return dst, nil
	}
	conv, err := New(from, dst.Format())
	if err != nil {
		return nil, err
	}
	return &Sink{inner: dst, conv: conv}, nil
}

// Format is the format that Write takes.
func (s *Sink) Format() pcm.Format { return s.conv.In() }

// Write implements pcm.Sink. A Flush during Write drops the rest of buf too.
func (s *Sink) Write(ctx context.Context, buf []int16) (int, error) {
	s.mu.Lock()
	gen := s.gen
	s.mu.Unlock()
	block := s.conv.In().Samples(step)
	for n := 0; n < len(buf); {
		k := min(block, len(buf)-n)
		out, err := s.convert(gen, buf[n:n+k], false)
		if err != nil {
			return n, err
		}
		if _, err := s.inner.Write(ctx, out); err != nil {
			return n, err
		}
		n += k
	}
	return len(buf), nil
}

// convert runs the filter unless a Flush has come since gen. The result is
// valid until the next call.
func (s *Sink) convert(gen int, in []int16, end bool) ([]int16, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gen != s.gen {
		return nil, nil
	}
	var err error
	if s.out, err = s.conv.Convert(s.out[:0], in); err == nil && end {
		s.out, err = s.conv.Flush(s.out)
	}
	return s.out, err
}

// Drain hands on what the filter holds and waits for the device.
func (s *Sink) Drain(ctx context.Context) error {
	s.mu.Lock()
	gen := s.gen
	s.mu.Unlock()
	out, err := s.convert(gen, nil, true)
	if err != nil {
		return err
	}
	if _, err := s.inner.Write(ctx, out); err != nil {
		return err
	}
	return s.inner.Drain(ctx)
}

// Flush drops what the filter and the device hold.
func (s *Sink) Flush() error {
	s.mu.Lock()
	s.gen++
	s.conv.Reset()
	s.mu.Unlock()
	return s.inner.Flush()
}

// Close closes the inner sink. The filter is left to the garbage collector, for
// a Write may still be using it.
func (s *Sink) Close() error { return s.inner.Close() }
