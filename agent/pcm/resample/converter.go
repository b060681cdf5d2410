package resample

import (
	"fmt"
	"runtime"
	"time"

	"homeagent/agent/pcm"
)

// Converter turns one stream of interleaved samples into another format. It is
// used by one goroutine. Close frees memory of the C library; a Converter that
// is dropped without Close is freed by the garbage collector.
type Converter struct {
	in, out pcm.Format
	core    int    // channels that pass the filter
	filter  *speex // nil where both rates are equal
	mixed   []int16
	work    []int16
	cleanup runtime.Cleanup
}

// New returns a Converter between two valid formats.
func New(in, out pcm.Format) (*Converter, error) {
	if !in.Valid() || !out.Valid() {
		return nil, fmt.Errorf("resample %s to %s: outside 8 to 192 kHz, 1 to 32 channels", in, out)
	}
	c := &Converter{in: in, out: out, core: 1}
	if in.Channels == out.Channels {
		c.core = in.Channels
	}
	if in.Rate != out.Rate {
		f, err := newSpeex(c.core, in.Rate, out.Rate)
		if err != nil {
			return nil, err
		}
		c.filter = f
		c.cleanup = runtime.AddCleanup(c, (*speex).close, f)
	}
	return c, nil
}

// In and Out are the two formats.
func (c *Converter) In() pcm.Format { return c.in }

// Out is the format of what Convert gives.
func (c *Converter) Out() pcm.Format { return c.out }

// Latency is how long a sample stays in the filter.
func (c *Converter) Latency() time.Duration {
	if c.filter == nil {
		return 0
	}
	return time.Duration(c.filter.inputLatency()) * time.Second / time.Duration(c.in.Rate)
}

// Convert appends to dst what src gives, and returns it. src holds whole
// frames. What the filter still holds comes with the next call or with Flush.
func (c *Converter) Convert(dst, src []int16) ([]int16, error) {
	if len(src)%c.in.Channels != 0 {
		return dst, fmt.Errorf("resample: %d samples are no whole frames of %s", len(src), c.in)
	}
	return c.feed(dst, c.mixDown(src))
}

// Flush appends to dst what the filter still holds, and returns it. The
// Converter begins anew afterwards.
func (c *Converter) Flush(dst []int16) ([]int16, error) {
	if c.filter == nil {
		return dst, nil
	}
	dst, err := c.feed(dst, make([]int16, c.filter.inputLatency()*c.core))
	c.filter.reset()
	return dst, err
}

// Reset forgets what the filter holds, as after a jump in the stream.
func (c *Converter) Reset() {
	if c.filter != nil {
		c.filter.reset()
	}
}

// Close frees the filter. Closing twice is harmless; nothing else may be called
// afterwards.
func (c *Converter) Close() error {
	if c.filter != nil {
		c.cleanup.Stop()
		c.filter.close()
	}
	return nil
}

// mixDown brings src to the channel count of the filter.
func (c *Converter) mixDown(src []int16) []int16 {
	if c.in.Channels == c.core {
		return src
	}
	c.mixed = c.mixed[:0]
	for ; len(src) > 0; src = src[c.in.Channels:] {
		sum := 0
		for _, s := range src[:c.in.Channels] {
			sum += int(s)
		}
		c.mixed = append(c.mixed, mean(sum, c.in.Channels))
	}
	return c.mixed
}

// mean divides, rounding to the nearest, halves away from zero.
func mean(sum, n int) int16 {
	if sum < 0 {
		return int16(-((-sum + n/2) / n))
	}
	return int16((sum + n/2) / n)
}

// feed sends src through the filter and copies the result to all channels.
func (c *Converter) feed(dst, src []int16) ([]int16, error) {
	if c.filter == nil {
		return c.mixUp(dst, src), nil
	}
	if len(c.work) == 0 {
		c.work = make([]int16, 1024*c.core)
	}
	for len(src) > 0 {
		took, gave, err := c.filter.process(src, c.work)
		if err != nil {
			return dst, err
		}
		if took == 0 && gave == 0 {
			return dst, fmt.Errorf("resample: the filter took nothing of %d samples", len(src))
		}
		dst = c.mixUp(dst, c.work[:gave])
		src = src[took:]
	}
	return dst, nil
}

// mixUp appends src, copied to as many channels as are wanted.
func (c *Converter) mixUp(dst, src []int16) []int16 {
	if c.out.Channels == c.core {
		return append(dst, src...)
	}
	for _, s := range src {
		for range c.out.Channels {
			dst = append(dst, s)
		}
	}
	return dst
}
