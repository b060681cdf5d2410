package voice

import (
	"context"
	"io"
	"math"
	"sync/atomic"

	"homeagent/agent/pcm"
)

// samplesSource plays samples that are in memory.
type samplesSource struct {
	f      pcm.Format
	left   []int16
	closed atomic.Bool
}

var _ pcm.Source = (*samplesSource)(nil)

func (s *samplesSource) Format() pcm.Format { return s.f }

func (s *samplesSource) Read(ctx context.Context, buf []int16) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if s.closed.Load() {
		return 0, io.ErrClosedPipe
	}
	n := copy(buf, s.left)
	s.left = s.left[n:]
	if n < len(buf) {
		return n, io.EOF
	}
	return n, nil
}

func (s *samplesSource) Close() error { s.closed.Store(true); return nil }

// cueFormat is that of the ear-con; it equals espeak's, so that the speaker
// stays open from the tone to the answer.
var cueFormat = pcm.Format{Rate: 22050, Channels: 1}

// earCon is the sound of being awake: two soft rising notes, 120 ms together,
// faded in and out, at -22 dBFS so that it does not drown a command.
func earCon() pcm.Source {
	var out []int16
	for _, hz := range []float64{660, 880} {
		n := cueFormat.Rate * 60 / 1000
		for i := range n {
			fade := math.Sin(math.Pi * float64(i) / float64(n))
			out = append(out, int16(2600*fade*math.Sin(2*math.Pi*hz*float64(i)/float64(cueFormat.Rate))))
		}
	}
	return &samplesSource{f: cueFormat, left: out}
}
