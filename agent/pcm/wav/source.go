package wav

import (
	"context"
	"errors"
	"io"
	"os"

	"homeagent/agent/pcm"
)

// Source plays a WAV file as a pcm.Source as fast as it is read, in the file's
// own rate and channel count. agent/pcm/pace makes it last as long as it
// sounds, agent/pcm/resample gives it another format.
type Source struct {
	r *Reader
	c io.Closer
}

var _ pcm.Source = (*Source)(nil)

// NewSource reads the header of rc. The Source owns rc from then on, also when
// an error is returned. The error is *Error.
func NewSource(rc io.ReadCloser) (*Source, error) {
	r, err := NewReader(rc)
	if err != nil {
		rc.Close() // the header's error says more
		return nil, err
	}
	return &Source{r: r, c: rc}, nil
}

// Open opens a file. The error is *Error for what the file holds, else that of
// the operating system.
func Open(path string) (*Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return NewSource(f)
}

// Info describes the file.
func (s *Source) Info() Info { return s.r.Info() }

// Format is the file's own rate and channel count.
func (s *Source) Format() pcm.Format { return s.r.Format() }

// Notice is Reader.Notice.
func (s *Source) Notice() *Error { return s.r.Notice() }

// Read implements pcm.Source; it ends with io.EOF. A length that is no multiple
// of the channel count is rounded down.
func (s *Source) Read(ctx context.Context, buf []int16) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(buf)
}

// Close closes the file. Closing twice is harmless.
func (s *Source) Close() error {
	err := s.c.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
