package pace

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"homeagent/agent/pcm"
)

// Source plays another Source in real time. The clock starts with the first
// Read; a reader that falls behind loses nothing and catches up.
type Source struct {
	inner  pcm.Source
	left   int // samples of silence still to come
	start  time.Time
	played int
	end    bool // the inner source has ended
	closed chan struct{}
	once   sync.Once
}

var _ pcm.Source = (*Source)(nil)

// NewSource paces src and appends silence. The result owns src.
func NewSource(src pcm.Source, silence time.Duration) *Source {
	return &Source{inner: src, left: src.Format().Samples(silence), closed: make(chan struct{})}
}

// Format is that of the inner source.
func (s *Source) Format() pcm.Format { return s.inner.Format() }

// Read implements pcm.Source: it returns when the last sample it gives would
// have been heard. A length that is no multiple of the channel count is rounded
// down. After the sound and the silence comes io.EOF.
func (s *Source) Read(ctx context.Context, buf []int16) (int, error) {
	select {
	case <-s.closed:
		return 0, s.lost()
	default:
	}
	buf = buf[:len(buf)/s.Format().Channels*s.Format().Channels]
	if s.start.IsZero() {
		s.start = time.Now()
	}
	n := 0
	if !s.end {
		k, err := s.inner.Read(ctx, buf)
		n = k
		if err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
		s.end = err != nil
	}
	if s.end {
		k := min(len(buf)-n, s.left)
		clear(buf[n : n+k])
		s.left -= k
		n += k
	}
	s.played += n
	if err := s.wait(ctx); err != nil {
		return n, err
	}
	if n < len(buf) {
		return n, io.EOF
	}
	return n, nil
}

// wait returns when all that was played so far would have been heard.
func (s *Source) wait(ctx context.Context) error {
	d := time.Until(s.start.Add(s.Format().Duration(s.played)))
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return s.lost()
	}
}

// lost is what a Read gives after Close.
func (s *Source) lost() error {
	return &pcm.DeviceError{Device: "file", Op: "read", Err: os.ErrClosed}
}

// Close ends a waiting Read and closes the inner source.
func (s *Source) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.inner.Close()
}
