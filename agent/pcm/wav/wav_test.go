package wav_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/wav"
)

// file builds WAV files chunk by chunk; numbers are taken literally.
type file struct{ b []byte }

func riff(claim uint32) *file {
	f := &file{b: append(binary.LittleEndian.AppendUint32([]byte("RIFF"), claim), "WAVE"...)}
	return f
}

func (f *file) chunk(name string, claim uint32, body ...byte) *file {
	f.b = append(binary.LittleEndian.AppendUint32(append(f.b, name...), claim), body...)
	return f
}

// format appends a plain format chunk.
func (f *file) format(tag, channels uint16, rate uint32, bits uint16) *file {
	return f.chunk("fmt ", 16, formatBody(tag, channels, rate, (bits+7)/8*channels, bits)...)
}

func formatBody(tag, channels uint16, rate uint32, align, bits uint16) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16(nil, tag)
	b = le.AppendUint16(b, channels)
	b = le.AppendUint32(b, rate)
	b = le.AppendUint32(b, rate*uint32(align))
	b = le.AppendUint16(b, align)
	return le.AppendUint16(b, bits)
}

// extensible appends a WAVE_FORMAT_EXTENSIBLE chunk.
func (f *file) extensible(tag, channels uint16, rate uint32, container, bits uint16) *file {
	le := binary.LittleEndian
	b := formatBody(0xFFFE, channels, rate, container/8*channels, container)
	b = le.AppendUint16(b, 22)
	b = le.AppendUint16(b, bits)
	b = le.AppendUint32(b, 3)
	b = le.AppendUint16(b, tag)
	b = append(b, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71)
	return f.chunk("fmt ", 40, b...)
}

func f32(vs ...float32) (b []byte) {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func f64(vs ...float64) (b []byte) {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// all reads a file to its end.
func all(t testing.TB, r *wav.Reader) []int16 {
	t.Helper()
	var out []int16
	buf := make([]int16, 64*32)
	for {
		n, err := r.Read(buf)
		out = append(out, buf[:n]...)
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("read: %v", err)
		}
	}
}

var nan = float32(math.NaN())

// Every width and layout, its rounding and its clipping, by hand-made bytes.
func TestSamples(t *testing.T) {
	for _, tc := range []struct {
		name string
		file *file
		want []int16
	}{
		{"8 bit", riff(0).format(1, 1, 8000, 8).chunk("data", 4, 0, 128, 129, 255), []int16{-32768, 0, 256, 32512}},
		{"16 bit", riff(0).format(1, 1, 16000, 16).chunk("data", 6, 0, 0x80, 0xFF, 0x7F, 0xFE, 0xFF), []int16{-32768, 32767, -2}},
		{"24 bit rounds to even", riff(0).format(1, 1, 44100, 24).chunk("data", 18,
			0x80, 1, 0, 0x7F, 1, 0, 0x80, 2, 0, 0xFF, 0xFF, 0x7F, 0, 0, 0x80, 0x80, 0xFF, 0xFF),
			[]int16{2, 1, 2, 32767, -32768, 0}},
		{"32 bit", riff(0).format(1, 1, 48000, 32).chunk("data", 12,
			0xFF, 0xFF, 0xFF, 0x7F, 0, 0, 0, 0x80, 0xFF, 0x7F, 3, 0), []int16{32767, -32768, 3}},
		{"12 bit in two bytes", riff(0).format(1, 1, 16000, 12).chunk("data", 2, 0xF0, 0x7F), []int16{0x7FF0}},
		{"float clips", riff(0).format(3, 1, 48000, 32).chunk("data", 24, f32(0, .5, 1, -1, -7, nan)...),
			[]int16{0, 16384, 32767, -32768, -32768, 0}},
		{"double", riff(0).format(3, 1, 48000, 64).chunk("data", 32, f64(-.25, math.Inf(1), math.Inf(-1), 1.5/32768)...),
			[]int16{-8192, 32767, -32768, 2}},
		{"extensible 16", riff(0).extensible(1, 2, 192000, 16, 16).chunk("data", 4, 1, 0, 2, 0), []int16{1, 2}},
		{"extensible 20 in 24", riff(0).extensible(1, 1, 96000, 24, 20).chunk("data", 3, 0, 0, 0x40), []int16{0x4000}},
		{"extensible 24 in 32", riff(0).extensible(1, 1, 96000, 32, 24).chunk("data", 4, 0, 0, 0, 0x40), []int16{0x4000}},
		{"extensible float", riff(0).extensible(3, 1, 48000, 32, 32).chunk("data", 4, f32(-.5)...), []int16{-16384}},
		{"32 channels", riff(0).format(1, 32, 8000, 8).chunk("data", 32, bytes.Repeat([]byte{129}, 32)...),
			slices.Repeat([]int16{256}, 32)},
		{"chunks before and after, odd and padded", riff(0).chunk("JUNK", 3, 1, 2, 3, 0).format(1, 1, 16000, 16).
			chunk("LIST", 5, 1, 2, 3, 4, 5, 0).chunk("data", 2, 9, 0).chunk("LIST", 2, 7, 7), []int16{9}},
		{"odd chunk without its pad", riff(0).chunk("JUNK", 3, 1, 2, 3).format(1, 1, 16000, 16).chunk("data", 2, 9, 0), []int16{9}},
		{"format chunk with a tail", riff(0).chunk("fmt ", 50, append(formatBody(1, 1, 16000, 2, 16), make([]byte, 34)...)...).
			chunk("data", 2, 9, 0), []int16{9}},
		{"second format ignored", riff(0).format(1, 1, 16000, 16).format(1, 2, 8000, 8).chunk("data", 2, 9, 0), []int16{9}},
		{"wrong block length", riff(0).chunk("fmt ", 16, formatBody(1, 1, 16000, 0, 16)...).chunk("data", 2, 9, 0), []int16{9}},
		{"streamed, FFFFFFFF", riff(math.MaxUint32).format(1, 1, 16000, 16).chunk("data", math.MaxUint32, 9, 0, 8, 0), []int16{9, 8}},
		{"streamed, 7FFFF000", riff(0x7FFFF024).format(1, 1, 16000, 16).chunk("data", 0x7FFFF000, 9, 0, 8, 0), []int16{9, 8}},
		{"length never filled in", riff(0).format(1, 1, 16000, 16).chunk("data", 0, 9, 0, 8, 0), []int16{9, 8}},
		{"really empty", riff(36).format(1, 1, 16000, 16).chunk("data", 0), nil},
		{"empty before a list", riff(46).format(1, 1, 16000, 16).chunk("data", 0).chunk("LIST", 2, 1, 2), nil},
		{"RF64", &file{b: append([]byte("RF64\xFF\xFF\xFF\xFFWAVE"), (&file{}).
			chunk("ds64", 28, append([]byte{50, 0, 0, 0, 0, 0, 0, 0, 4}, make([]byte, 19)...)...).
			format(1, 1, 16000, 16).chunk("data", math.MaxUint32, 9, 0, 8, 0).chunk("LIST", 2, 7, 7).b...)}, []int16{9, 8}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"at once":     bytes.NewReader(tc.file.b),
				"byte a read": iotest.OneByteReader(bytes.NewReader(tc.file.b)),
				"data+EOF":    iotest.DataErrReader(bytes.NewReader(tc.file.b)),
			} {
				w, err := wav.NewReader(r)
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				if got := all(t, w); !slices.Equal(got, tc.want) {
					t.Errorf("%s: got %v, want %v", how, got, tc.want)
				}
				if w.Notice() != nil {
					t.Errorf("%s: remark %v about a whole file", how, w.Notice())
				}
			}
		})
	}
}

func TestInfo(t *testing.T) {
	r, err := wav.NewReader(bytes.NewReader(riff(0).extensible(1, 2, 44100, 24, 20).chunk("data", 12, make([]byte, 12)...).b))
	if err != nil {
		t.Fatal(err)
	}
	want := wav.Info{Format: pcm.Format{Rate: 44100, Channels: 2}, Bits: 24, Frames: 2}
	if r.Info() != want || r.Info().String() != "44100 Hz x2, 24 bit" {
		t.Errorf("got %+v, %s", r.Info(), r.Info())
	}
}

// Mono is the mean before rounding: 24-bit parts that vanish singly add up.
func TestMono(t *testing.T) {
	for _, tc := range []struct {
		name string
		file *file
		want []int16
	}{
		{"stereo", riff(0).format(1, 2, 16000, 16).chunk("data", 8, 100, 0, 200, 0, 0xFF, 0x7F, 0xFF, 0x7F), []int16{150, 32767}},
		{"before rounding", riff(0).format(1, 3, 16000, 24).chunk("data", 9, 0x70, 0, 0, 0x70, 0, 0, 0xC0, 0, 0), []int16{1}},
		{"mono", riff(0).format(1, 1, 16000, 16).chunk("data", 2, 5, 0), []int16{5}},
		{"loud floats meet in range", riff(0).format(3, 2, 48000, 32).chunk("data", 8, f32(1.5, -1)...), []int16{8192}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := wav.NewReader(bytes.NewReader(tc.file.b))
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]int16, 100)
			n, err := r.ReadMono(buf)
			if err != io.EOF || !slices.Equal(buf[:n], tc.want) {
				t.Errorf("got %v, %v, want %v", buf[:n], err, tc.want)
			}
		})
	}
}

// A file that is cut short gives what is there and says what is missing.
func TestTruncated(t *testing.T) {
	for _, tc := range []struct {
		name   string
		file   *file
		want   []int16
		remark string
	}{
		{"whole frames", riff(0).format(1, 1, 16000, 16).chunk("data", 8, 1, 0, 2, 0), []int16{1, 2}, "2 of 4 frames missing"},
		{"inside a frame", riff(0).format(1, 2, 16000, 16).chunk("data", 8, 1, 0, 2, 0, 3), []int16{1, 2}, "1 of 2 frames missing"},
		{"nothing at all", riff(0).format(1, 1, 16000, 16).chunk("data", 8), nil, "4 of 4 frames missing"},
		{"claim of two gigabytes", riff(0).format(1, 1, 16000, 16).chunk("data", 0x7FFE0000, 1, 0), []int16{1}, "1073676287 of 1073676288 frames missing"},
		{"claim is no whole frame", riff(0).format(1, 1, 16000, 16).chunk("data", 3, 1, 0, 2), []int16{1}, "cut in two"},
		{"streamed, torn", riff(0).format(1, 1, 16000, 16).chunk("data", math.MaxUint32, 1, 0, 2), []int16{1}, "cut in two"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := wav.NewReader(bytes.NewReader(tc.file.b))
			if err != nil {
				t.Fatal(err)
			}
			if got := all(t, r); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
			n := r.Notice()
			if n == nil || n.Code != wav.Truncated || !strings.Contains(n.Detail, tc.remark) {
				t.Errorf("remark %v, want %q", n, tc.remark)
			}
			if n, err := r.Read(make([]int16, 4)); n != 0 || err != io.EOF {
				t.Errorf("after the end: %d, %v", n, err)
			}
		})
	}
}

// What cannot be read is refused with a class and a sentence in both languages.
func TestRefused(t *testing.T) {
	broken := errors.New("card pulled")
	whole := riff(0).format(1, 1, 16000, 16).chunk("data", 4, 1, 0, 2, 0).b
	for _, tc := range []struct {
		name string
		in   io.Reader
		code wav.Code
	}{
		{"empty", strings.NewReader(""), wav.Empty},
		{"a few bytes", strings.NewReader("RIF"), wav.NotWAV},
		{"text", strings.NewReader("dear diary, today I am not a WAV"), wav.NotWAV},
		{"mp3", strings.NewReader("ID3\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), wav.NotWAV},
		{"AVI", strings.NewReader("RIFF\x00\x00\x00\x00AVI LIST"), wav.NotWAV},
		{"big endian", strings.NewReader("RIFX\x00\x00\x00\x00WAVEfmt "), wav.Unsupported},
		{"only the outer header", bytes.NewReader(riff(0).b), wav.NoSound},
		{"no data chunk", bytes.NewReader(riff(0).format(1, 1, 16000, 16).b), wav.NoSound},
		{"data before format", bytes.NewReader(riff(0).chunk("data", 2, 1, 0).b), wav.Damaged},
		{"format too short", bytes.NewReader(riff(0).chunk("fmt ", 14, make([]byte, 14)...).b), wav.Damaged},
		{"format of 4 GB", bytes.NewReader(riff(0).chunk("fmt ", math.MaxUint32, make([]byte, 99)...).b), wav.Damaged},
		{"ends in the format", bytes.NewReader(whole[:30]), wav.Damaged},
		{"chunk of 4 GB before the sound", bytes.NewReader(riff(0).chunk("LIST", math.MaxUint32, 1).b), wav.Damaged},
		{"extensible too short", bytes.NewReader(riff(0).format(0xFFFE, 1, 16000, 16).chunk("data", 2, 1, 0).b), wav.Damaged},
		{"MP3 inside", bytes.NewReader(riff(0).format(0x55, 1, 16000, 16).chunk("data", 2, 1, 0).b), wav.Unsupported},
		{"A-law", bytes.NewReader(riff(0).format(6, 1, 8000, 8).chunk("data", 2, 1, 0).b), wav.Unsupported},
		{"no channels", bytes.NewReader(riff(0).format(1, 0, 16000, 16).chunk("data", 2, 1, 0).b), wav.Unsupported},
		{"33 channels", bytes.NewReader(riff(0).format(1, 33, 16000, 16).chunk("data", 2, 1, 0).b), wav.Unsupported},
		{"4 kHz", bytes.NewReader(riff(0).format(1, 1, 4000, 16).chunk("data", 2, 1, 0).b), wav.Unsupported},
		{"4 GHz", bytes.NewReader(riff(0).format(1, 1, math.MaxUint32, 16).chunk("data", 2, 1, 0).b), wav.Unsupported},
		{"no width", bytes.NewReader(riff(0).format(1, 1, 16000, 0).chunk("data", 2, 1, 0).b), wav.Unsupported},
		{"64-bit integers", bytes.NewReader(riff(0).format(1, 1, 16000, 64).chunk("data", 8, make([]byte, 8)...).b), wav.Unsupported},
		{"16-bit floats", bytes.NewReader(riff(0).format(3, 1, 16000, 16).chunk("data", 2, 1, 0).b), wav.Unsupported},
		{"disk fails in the header", io.MultiReader(bytes.NewReader(whole[:20]), iotest.ErrReader(broken)), wav.Unreadable},
		{"disk fails at once", iotest.ErrReader(broken), wav.Unreadable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := wav.NewReader(tc.in)
			var e *wav.Error
			if !errors.As(err, &e) || e.Code != tc.code {
				t.Fatalf("got %v, want %s", err, tc.code)
			}
			if tc.code == wav.Unreadable && !errors.Is(err, broken) {
				t.Errorf("%v hides its cause", err)
			}
			sentences(t, e)
		})
	}
	t.Run("disk fails in the sound", func(t *testing.T) {
		r, err := wav.NewReader(io.MultiReader(bytes.NewReader(whole[:46]), iotest.ErrReader(broken)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = r.Read(make([]int16, 2)); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("buffer below a frame", func(t *testing.T) {
		r, _ := wav.NewReader(bytes.NewReader(riff(0).format(1, 2, 16000, 16).chunk("data", 4, 1, 0, 2, 0).b))
		if n, err := r.Read(make([]int16, 1)); n != 0 || err != io.ErrShortBuffer {
			t.Errorf("got %d, %v", n, err)
		}
	})
}

// sentences checks that an error speaks to people in both languages.
func sentences(t *testing.T, e *wav.Error) {
	t.Helper()
	zh, en := e.In("zh"), e.In("en")
	if zh == en || !strings.HasSuffix(zh, "。") || !strings.HasSuffix(en, ".") ||
		!utf8.ValidString(zh) || strings.Contains(zh+en, "%!") {
		t.Errorf("sentences %q and %q", zh, en)
	}
}

// What is written is read back, through a file, a pipe and Encode.
func TestWriter(t *testing.T) {
	for _, f := range []pcm.Format{pcm.Voice, {Rate: 48000, Channels: 2}, {Rate: 192000, Channels: 32}, {Rate: 8000, Channels: 1}} {
		samples := make([]int16, 5000*f.Channels)
		for i := range samples {
			samples[i] = int16(i * 7919)
		}
		write := func(t *testing.T, to io.Writer) {
			w, err := wav.NewWriter(to, f)
			if err != nil {
				t.Fatal(err)
			}
			for part := range slices.Chunk(samples, 333*f.Channels) {
				if err := w.Write(part); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil || w.Frames() != 5000 {
				t.Fatalf("%d frames, %v", w.Frames(), err)
			}
		}
		check := func(t *testing.T, b []byte, frames int64) {
			r, err := wav.NewReader(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if r.Format() != f || r.Info().Frames != frames || !slices.Equal(all(t, r), samples) || r.Notice() != nil {
				t.Errorf("read back another recording: %+v, remark %v", r.Info(), r.Notice())
			}
		}
		t.Run("file "+f.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.wav")
			h, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, h)
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			check(t, b, 5000)
		})
		t.Run("pipe "+f.String(), func(t *testing.T) {
			var b bytes.Buffer
			write(t, &b)
			check(t, b.Bytes(), -1)
		})
		t.Run("encode "+f.String(), func(t *testing.T) {
			b, err := wav.Encode(f, samples)
			if err != nil {
				t.Fatal(err)
			}
			check(t, b, 5000)
		})
	}
}

func TestWriterRefuses(t *testing.T) {
	if _, err := wav.NewWriter(io.Discard, pcm.Format{Rate: 1, Channels: 1}); err == nil {
		t.Error("a rate of 1 Hz was accepted")
	}
	w, err := wav.NewWriter(io.Discard, pcm.Format{Rate: 8000, Channels: 2})
	if err != nil {
		t.Fatal(err)
	}
	if w.Write(make([]int16, 3)) == nil {
		t.Error("half a frame was accepted")
	}
	var e *wav.Error
	if _, err := wav.NewWriter(full{}, pcm.Voice); !errors.As(err, &e) || e.Code != wav.Unreadable {
		t.Errorf("a full disk gave %v", err)
	} else {
		sentences(t, e)
	}
	// The limit of 32 bits is kept to the byte.
	w, _ = wav.NewWriter(io.Discard, pcm.Voice)
	w.Skip(math.MaxUint32 - 44 - 5)
	if err := w.Write(make([]int16, 2)); err != nil {
		t.Errorf("below the limit: %v", err)
	}
	if err := w.Write(make([]int16, 1)); !errors.As(err, &e) || e.Code != wav.TooLong {
		t.Errorf("above the limit: %v", err)
	} else {
		sentences(t, e)
	}
	if w.Write(nil) == nil || w.Close() == nil {
		t.Error("a writer that failed goes on")
	}
}

// full is a disk with no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A ten-minute recording passes in constant memory.
func TestLongInConstantMemory(t *testing.T) {
	head := riff(math.MaxUint32).format(3, 2, 44100, 32).chunk("data", math.MaxUint32).b
	r, err := wav.NewReader(io.MultiReader(bytes.NewReader(head), io.LimitReader(zeros{}, 44100*600*8)))
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]int16, 3200)
	var frames int
	allocs := testing.AllocsPerRun(1, func() {
		for {
			n, err := r.Read(buf)
			if frames += n / 2; err != nil {
				return
			}
		}
	})
	if frames != 44100*600 || allocs > 10 {
		t.Errorf("%d frames with %v allocations", frames, allocs)
	}
}

// zeros reads as zeros without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Recordings of other programs, where they are at hand.
func TestRealRecordings(t *testing.T) {
	paths, _ := filepath.Glob("../../../../shared/audio/*/*.wav")
	if len(paths) == 0 {
		t.Skip("../shared/audio is not there")
	}
	for _, p := range paths {
		t.Run(filepath.Base(p), func(t *testing.T) {
			s, err := wav.Open(p)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			n, sum := 0, 0.0
			buf := make([]int16, 1600*s.Format().Channels)
			for {
				k, err := s.Read(t.Context(), buf)
				for _, v := range buf[:k] {
					sum += float64(v) * float64(v)
				}
				n += k
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			rms := math.Sqrt(sum / float64(n))
			if int64(n/s.Format().Channels) != s.Info().Frames || rms < 50 || rms > 15000 {
				t.Errorf("%s: %d samples of rms %.0f", s.Info(), n, rms)
			}
			if s.Close() != nil || s.Close() != nil {
				t.Error("closing failed")
			}
		})
	}
}

// FuzzReader holds three laws: no bytes of a stranger crash the reader, what it
// gives fits what its header said, and what it gives is read back unchanged
// after writing.
func FuzzReader(f *testing.F) {
	f.Add(riff(0).format(1, 1, 16000, 16).chunk("data", 4, 1, 0, 2, 0).b)
	f.Add(riff(0).chunk("JUNK", 3, 1, 2, 3).format(1, 2, 44100, 24).chunk("data", 60, 1, 2, 3, 4, 5, 6, 7).b)
	f.Add(riff(0).extensible(3, 1, 48000, 32, 32).chunk("data", 0, f32(.5, nan, -2)...).b)
	f.Add(riff(math.MaxUint32).format(3, 2, 8000, 64).chunk("data", math.MaxUint32, f64(1, math.Inf(-1))...).b)
	f.Add([]byte("RF64\xff\xff\xff\xffWAVEds64\x10\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := wav.NewReader(bytes.NewReader(b))
		if err != nil {
			var e *wav.Error
			if !errors.As(err, &e) {
				t.Fatalf("error of type %T", err)
			}
			sentences(t, e)
			return
		}
		info := r.Info()
		samples := all(t, r)
		if len(samples)%info.Format.Channels != 0 || len(samples)*info.Bits/8 > len(b) {
			t.Fatalf("%d samples of %s from %d bytes", len(samples), info, len(b))
		}
		frames := int64(len(samples) / info.Format.Channels)
		if info.Frames >= 0 && (frames > info.Frames || frames < info.Frames && r.Notice() == nil) {
			t.Fatalf("%d of %d frames, remark %v", frames, info.Frames, r.Notice())
		}
		again, err := wav.Encode(info.Format, samples)
		if err != nil {
			t.Fatal(err)
		}
		r, err = wav.NewReader(bytes.NewReader(again))
		if err != nil {
			t.Fatal(err)
		}
		if back := all(t, r); !slices.Equal(back, samples) {
			t.Fatalf("wrote %d samples, read %d back", len(samples), len(back))
		}
	})
}

func ExampleEncode() {
	b, _ := wav.Encode(pcm.Voice, []int16{1, 2, 3})
	r, _ := wav.NewReader(bytes.NewReader(b))
	fmt.Println(r.Info())
	// Output: 16000 Hz x1, 16 bit
}
