package resample_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/resample"
)

// tone is a mono sine of the amplitude in 16-bit steps.
func tone(hz float64, rate, n int, amplitude float64) []int16 {
	out := make([]int16, n)
	for i := range out {
		out[i] = int16(math.Round(amplitude * math.Sin(2*math.Pi*hz*float64(i)/float64(rate))))
	}
	return out
}

// level is the amplitude of the part of x at hz, by correlation with sine and cosine.
func level(x []int16, hz float64, rate int) float64 {
	var re, im float64
	for i, v := range x {
		s, c := math.Sincos(2 * math.Pi * hz * float64(i) / float64(rate))
		re += float64(v) * c
		im += float64(v) * s
	}
	return 2 * math.Hypot(re, im) / float64(len(x))
}

// rms is the root of the mean square.
func rms(x []int16) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(x)))
}

// db is a ratio of amplitudes in decibels.
func db(ratio float64) float64 { return 20 * math.Log10(ratio) }

// convert runs src through a new Converter in blocks of n samples.
func convert(t *testing.T, in, out pcm.Format, src []int16, n int) []int16 {
	t.Helper()
	c, err := resample.New(in, out)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var dst []int16
	for part := range slices.Chunk(src, n) {
		if dst, err = c.Convert(dst, part); err != nil {
			t.Fatal(err)
		}
	}
	if dst, err = c.Flush(dst); err != nil {
		t.Fatal(err)
	}
	return dst
}

// A tone keeps its frequency, its level and its length, whatever the rates.
func TestToneKept(t *testing.T) {
	for _, tc := range []struct {
		in, out int
		hz      float64
	}{
		{8000, 16000, 440}, {8000, 16000, 3000}, {22050, 16000, 1000}, {44100, 16000, 440}, {44100, 16000, 1000},
		{44100, 16000, 6500}, {48000, 16000, 440}, {48000, 16000, 1000}, {48000, 16000, 6500}, {96000, 16000, 1000},
		{192000, 16000, 1000}, {16000, 48000, 1000}, {16000, 44100, 6500}, {22050, 48000, 1000}, {11025, 16000, 2000},
		{16000, 16000, 1000},
	} {
		t.Run(fmt.Sprintf("%d to %d at %g", tc.in, tc.out, tc.hz), func(t *testing.T) {
			const amplitude = 12000
			got := convert(t, pcm.Format{Rate: tc.in, Channels: 1}, pcm.Format{Rate: tc.out, Channels: 1},
				tone(tc.hz, tc.in, tc.in, amplitude), tc.in/100)
			if d := len(got) - tc.out; d < -2 || d > 2 {
				t.Errorf("one second became %d samples, want %d", len(got), tc.out)
			}
			mid := got[tc.out/10 : tc.out*9/10] // whole periods of every tone above, away from the ends
			if off := math.Abs(db(level(mid, tc.hz, tc.out) / amplitude)); off > 0.1 {
				t.Errorf("level is off by %.2f dB", off)
			}
			// What is not the tone itself lies far below it.
			rest := make([]int16, len(mid))
			re, im := phase(mid, tc.hz, tc.out)
			for i, v := range mid {
				s, c := math.Sincos(2 * math.Pi * tc.hz * float64(i) / float64(tc.out))
				rest[i] = int16(math.Round(float64(v) - re*c - im*s))
			}
			if r := db(rms(rest) / rms(mid)); r > -70 {
				t.Errorf("distortion and noise %.1f dB, want below -70", r)
			}
		})
	}
}

// phase gives the cosine and sine parts of x at hz.
func phase(x []int16, hz float64, rate int) (re, im float64) {
	for i, v := range x {
		s, c := math.Sincos(2 * math.Pi * hz * float64(i) / float64(rate))
		re += float64(v) * c
		im += float64(v) * s
	}
	n := float64(len(x)) / 2
	return re / n, im / n
}

// What lies above half the new rate must not come back as another tone.
func TestAliasing(t *testing.T) {
	for _, tc := range []struct {
		in, out int
		hz      float64
	}{{48000, 16000, 12000}, {48000, 16000, 9000}, {48000, 16000, 20000}, {44100, 16000, 12000}, {96000, 16000, 12000}, {16000, 8000, 6000}} {
		t.Run(fmt.Sprintf("%d to %d at %g", tc.in, tc.out, tc.hz), func(t *testing.T) {
			got := convert(t, pcm.Format{Rate: tc.in, Channels: 1}, pcm.Format{Rate: tc.out, Channels: 1},
				tone(tc.hz, tc.in, tc.in, 16000), 480)
			left := db(rms(got[tc.out/10:tc.out*9/10]) / (16000 / math.Sqrt2))
			t.Logf("left over: %.1f dB", left)
			if left > -60 {
				t.Errorf("%g Hz comes through at %.1f dB, want below -60", tc.hz, left)
			}
		})
	}
}

// However a stream is cut up, the result is the same: no clicks at borders.
func TestBlocksDoNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tc := range []struct{ in, out pcm.Format }{
		{pcm.Format{Rate: 48000, Channels: 2}, pcm.Voice},
		{pcm.Format{Rate: 44100, Channels: 1}, pcm.Voice},
		{pcm.Format{Rate: 8000, Channels: 1}, pcm.Voice},
		{pcm.Voice, pcm.Format{Rate: 44100, Channels: 2}},
		{pcm.Format{Rate: 48000, Channels: 2}, pcm.Format{Rate: 44100, Channels: 2}},
	} {
		t.Run(tc.in.String()+" to "+tc.out.String(), func(t *testing.T) {
			src := make([]int16, 20000*tc.in.Channels)
			for i := range src {
				src[i] = int16(rng.IntN(1<<16) - 1<<15)
			}
			whole := convert(t, tc.in, tc.out, src, len(src))
			for _, frames := range []int{1, 7, 160, 1024} {
				if got := convert(t, tc.in, tc.out, src, frames*tc.in.Channels); !slices.Equal(got, whole) {
					t.Errorf("blocks of %d frames give another stream than one block", frames)
				}
			}
		})
	}
}

// Rate aside, channels are averaged, copied or left alone.
func TestChannels(t *testing.T) {
	at := func(ch int) pcm.Format { return pcm.Format{Rate: 16000, Channels: ch} }
	for _, tc := range []struct {
		name    string
		in, out int
		src     []int16
		want    []int16
	}{
		{"mono stays", 1, 1, []int16{1, -2, 3}, []int16{1, -2, 3}},
		{"stereo stays", 2, 2, []int16{1, -2, 3, 4}, []int16{1, -2, 3, 4}},
		{"stereo to mono", 2, 1, []int16{100, 200, -100, -201, 32767, 32767, -32768, -32768}, []int16{150, -151, 32767, -32768}},
		{"opposite cancels", 2, 1, []int16{500, -500}, []int16{0}},
		{"mono to stereo", 1, 2, []int16{7, -8}, []int16{7, 7, -8, -8}},
		{"four to two", 4, 2, []int16{4, 8, 12, 16}, []int16{10, 10}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := convert(t, at(tc.in), at(tc.out), tc.src, len(tc.src)); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct{ in, out pcm.Format }{
		{pcm.Format{}, pcm.Voice}, {pcm.Voice, pcm.Format{Rate: 4000, Channels: 1}}, {pcm.Voice, pcm.Format{Rate: 16000, Channels: 33}},
	} {
		if _, err := resample.New(tc.in, tc.out); err == nil {
			t.Errorf("%v to %v was accepted", tc.in, tc.out)
		}
	}
	c, err := resample.New(pcm.Format{Rate: 48000, Channels: 2}, pcm.Voice)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Convert(nil, make([]int16, 3)); err == nil {
		t.Error("half a frame was accepted")
	}
	if l := c.Latency(); l <= 0 || l > 5*time.Millisecond {
		t.Errorf("latency %v does not fit the documentation", l)
	}
}

// memory is a Source and a Sink in memory.
type memory struct {
	f       pcm.Format
	data    []int16
	err     error // after data
	closed  bool
	drained bool
	flushed int
}

func (m *memory) Format() pcm.Format { return m.f }
func (m *memory) Read(ctx context.Context, buf []int16) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	n := copy(buf, m.data)
	m.data = m.data[n:]
	if n < len(buf) {
		return n, m.err
	}
	return n, nil
}
func (m *memory) Write(ctx context.Context, buf []int16) (int, error) {
	m.data = append(m.data, buf...)
	return len(buf), m.err
}
func (m *memory) Drain(context.Context) error { m.drained = true; return nil }
func (m *memory) Flush() error                { m.flushed++; return nil }
func (m *memory) Close() error                { m.closed = true; return nil }

// The stream wrappers give what the Converter gives, in any cut.
func TestSource(t *testing.T) {
	in := pcm.Format{Rate: 48000, Channels: 2}
	src := make([]int16, 2*48000/3)
	for i, v := range tone(700, 48000, len(src)/2, 9000) {
		src[2*i], src[2*i+1] = v, v
	}
	want := convert(t, in, pcm.Voice, src, len(src))
	lost := &pcm.DeviceError{Device: "x", Op: "read", Err: errors.New("unplugged")}
	for _, tc := range []struct {
		name string
		end  error
		buf  int
	}{{"to the end", io.EOF, 320}, {"one by one", io.EOF, 1}, {"at once", io.EOF, 1 << 20}, {"lost", lost, 320}} {
		t.Run(tc.name, func(t *testing.T) {
			m := &memory{f: in, data: src, err: tc.end}
			s, err := resample.NewSource(m, pcm.Voice)
			if err != nil {
				t.Fatal(err)
			}
			var got []int16
			buf := make([]int16, tc.buf)
			for {
				n, err := s.Read(t.Context(), buf)
				got = append(got, buf[:n]...)
				if err != nil {
					if !errors.Is(err, tc.end) {
						t.Fatalf("ended with %v, want %v", err, tc.end)
					}
					break
				}
				if n != len(buf) {
					t.Fatalf("%d samples without an error, want %d", n, len(buf))
				}
			}
			if tc.end == io.EOF && !slices.Equal(got, want) {
				t.Errorf("%d samples differ from the Converter's %d", len(got), len(want))
			}
			if tc.end != io.EOF && (len(got) == 0 || !slices.Equal(got, want[:len(got)])) {
				t.Errorf("%d samples before the loss are not the Converter's", len(got))
			}
			if s.Close(); !m.closed {
				t.Error("the inner source was not closed")
			}
		})
	}
	t.Run("same format", func(t *testing.T) {
		m := &memory{f: pcm.Voice}
		if s, err := resample.NewSource(m, pcm.Voice); err != nil || s != pcm.Source(m) {
			t.Errorf("a source that fits was wrapped: %v", err)
		}
	})
	t.Run("canceled read can go on", func(t *testing.T) {
		m := &memory{f: in, data: src, err: io.EOF}
		s, _ := resample.NewSource(m, pcm.Voice)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if n, err := s.Read(ctx, make([]int16, 10)); n != 0 || !errors.Is(err, context.Canceled) {
			t.Fatalf("got %d, %v", n, err)
		}
		if n, err := s.Read(t.Context(), make([]int16, 10)); n != 10 || err != nil {
			t.Fatalf("afterwards got %d, %v", n, err)
		}
	})
}

func TestSink(t *testing.T) {
	src := tone(700, 16000, 16000, 9000)
	out := pcm.Format{Rate: 48000, Channels: 2}
	want := convert(t, pcm.Voice, out, src, len(src))
	m := &memory{f: out}
	s, err := resample.NewSink(m, pcm.Voice)
	if err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(src, 333) {
		if n, err := s.Write(t.Context(), part); n != len(part) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	if err := s.Drain(t.Context()); err != nil || !m.drained {
		t.Fatalf("drain: %v", err)
	}
	if !slices.Equal(m.data, want) {
		t.Errorf("%d samples differ from the Converter's %d", len(m.data), len(want))
	}
	m.data = nil
	if s.Write(t.Context(), src[:800]); len(m.data) == 0 {
		t.Fatal("nothing arrived")
	}
	if err := s.Flush(); err != nil || m.flushed != 1 {
		t.Fatalf("flush: %v", err)
	}
	m.data = nil
	if s.Write(t.Context(), make([]int16, 1600)); rms(m.data) != 0 {
		t.Error("the filter still sounds after Flush")
	}
	m.err = errors.New("gone")
	if n, err := s.Write(t.Context(), src[:320]); n != 0 || err == nil {
		t.Errorf("a failing device gave %d, %v", n, err)
	}
}

func BenchmarkTo16k(b *testing.B) {
	c, err := resample.New(pcm.Format{Rate: 48000, Channels: 2}, pcm.Voice)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	src := make([]int16, 960)
	for i, v := range tone(700, 48000, 480, 9000) {
		src[2*i], src[2*i+1] = v, v
	}
	var dst []int16
	for b.Loop() {
		if dst, err = c.Convert(dst[:0], src); err != nil {
			b.Fatal(err)
		}
	}
}
