package audio

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/wav"
	"homeagent/memory/disk"
)

// write makes a WAV file of the samples.
func write(t *testing.T, path string, f pcm.Format, samples []int16) {
	t.Helper()
	b, err := wav.Encode(f, samples)
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// read gives all samples of a WAV file.
func read(t *testing.T, path string) (pcm.Format, []int16) {
	t.Helper()
	src, err := wav.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var out []int16
	buf := make([]int16, 4096)
	for {
		n, err := src.Read(t.Context(), buf)
		out = append(out, buf[:n]...)
		if err == io.EOF {
			return src.Format(), out
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func files(percent int) *wavFiles { return &wavFiles{fs: disk.OS{}, gain: NewGain(percent)} }

// A file of any kind is heard as a microphone would hear it: in the wanted
// format, in real time, then five seconds of silence, then the end.
func TestWavMicrophone(t *testing.T) {
	for _, f := range []pcm.Format{pcm.Voice, {Rate: 8000, Channels: 1}, {Rate: 44100, Channels: 2}, {Rate: 48000, Channels: 6}} {
		t.Run(f.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "in.wav")
			samples := make([]int16, f.Samples(time.Second))
			for i := range samples {
				samples[i] = int16(8000 * math.Sin(2*math.Pi*500*float64(i/f.Channels)/float64(f.Rate)))
			}
			write(t, path, f, samples)
			synctest.Test(t, func(t *testing.T) {
				src, err := files(80).OpenSource(t.Context(), path, pcm.Voice)
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				begin := time.Now()
				var got []int16
				buf := make([]int16, 1280)
				for {
					n, err := src.Read(t.Context(), buf)
					got = append(got, buf[:n]...)
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				if d := time.Since(begin); d < 5990*time.Millisecond || d > 6010*time.Millisecond || src.Format() != pcm.Voice {
					t.Errorf("%s for %v", src.Format(), d)
				}
				var re, im float64
				for i, v := range got[:16000] {
					s, c := math.Sincos(2 * math.Pi * 500 * float64(i) / 16000)
					re, im = re+float64(v)*c, im+float64(v)*s
				}
				if a := 2 * math.Hypot(re, im) / 16000; a < 7900 || a > 8100 {
					t.Errorf("the tone has amplitude %.0f, want 8000", a)
				}
				if tail := got[16100:]; len(tail) < 5*16000-200 || slices.Max(tail) != 0 || slices.Min(tail) != 0 {
					t.Errorf("%d samples of silence", len(tail))
				}
			})
		})
	}
}

func TestWavMicrophoneRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "note.wav")
	os.WriteFile(text, []byte("not a wav at all"), 0o600)
	for _, tc := range []struct {
		name, path string
		want       pcm.Format
		is         func(error) bool
	}{
		{"absent", filepath.Join(dir, "no.wav"), pcm.Voice, func(err error) bool { return errors.Is(err, os.ErrNotExist) }},
		{"no wav", text, pcm.Voice, func(err error) bool { var e *wav.Error; return errors.As(err, &e) && e.Code == wav.NotWAV }},
		{"folder", dir, pcm.Voice, func(err error) bool { var e *wav.Error; return errors.As(err, &e) && e.Code == wav.Unreadable }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := files(80).OpenSource(t.Context(), tc.path, tc.want)
			var d *pcm.DeviceError
			if !errors.As(err, &d) || d.Device != "wav:"+tc.path || !tc.is(err) {
				t.Errorf("got %v", err)
			}
		})
	}
	write(t, text, pcm.Voice, nil)
	if _, err := files(80).OpenSource(t.Context(), text, pcm.Format{}); err == nil {
		t.Error("a format of nothing was accepted")
	}
}

// What is played appears in the file, whole, when it is closed, and took as
// long as it sounds; pauses are left out.
func TestWavSpeaker(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.wav")
	write(t, path, pcm.Voice, []int16{1})
	f := pcm.Format{Rate: 22050, Channels: 1}
	synctest.Test(t, func(t *testing.T) {
		sink, err := files(100).OpenSink(t.Context(), path, f)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if n, err := sink.Write(t.Context(), ramp(0, 22050)); n != 22050 || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
		if err := sink.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d < time.Second || d > 1050*time.Millisecond {
			t.Errorf("a second took %v", d)
		}
		<-time.After(3 * time.Second)
		sink.Write(t.Context(), ramp(100, 500))
		sink.Drain(t.Context())
		sink.Write(t.Context(), ramp(7, 2000))
		sink.Flush()
		<-time.After(time.Second)
		if _, old := read(t, path); len(old) != 1 {
			t.Error("the file changed before it was closed")
		}
		if err := errors.Join(sink.Close(), sink.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := sink.Write(t.Context(), ramp(0, 1)); !errors.Is(err, os.ErrClosed) {
			t.Errorf("writing after close gave %v", err)
		}
	})
	got, samples := read(t, path)
	if want := append(ramp(0, 22050), ramp(100, 500)...); got != f || !slices.Equal(samples, want) {
		t.Errorf("%s, %d samples, want %d", got, len(samples), len(want))
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Error("the temporary file is still there")
	}
}

// failing is a disk that is full after some bytes.
type failing struct {
	disk.OS
	left int
}

func (d *failing) OpenFile(path string, flag int, perm os.FileMode) (disk.File, error) {
	f, err := d.OS.OpenFile(path, flag, perm)
	return &failingFile{f, d}, err
}

type failingFile struct {
	disk.File
	d *failing
}

var errFull = errors.New("no space left on device")

func (f *failingFile) Write(p []byte) (int, error) {
	if f.d.left -= len(p); f.d.left < 0 {
		return 0, errFull
	}
	return f.File.Write(p)
}

// A full disk ends the writer with an error and leaves the old file alone.
func TestWavSpeakerFullDisk(t *testing.T) {
	for _, room := range []int{10, 3000} {
		path := filepath.Join(t.TempDir(), "out.wav")
		write(t, path, pcm.Voice, ramp(0, 50))
		synctest.Test(t, func(t *testing.T) {
			w := &wavFiles{fs: &failing{left: room}, gain: NewGain(100)}
			sink, err := w.OpenSink(t.Context(), path, pcm.Voice)
			if room == 10 {
				if !errors.Is(err, errFull) {
					t.Errorf("open gave %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var d *pcm.DeviceError
			if _, err := sink.Write(t.Context(), ramp(0, 30000)); !errors.As(err, &d) || !errors.Is(err, errFull) {
				t.Errorf("write gave %v", err)
			}
			if err := sink.Close(); !errors.Is(err, errFull) {
				t.Errorf("close gave %v", err)
			}
		})
		if _, samples := read(t, path); !slices.Equal(samples, ramp(0, 50)) {
			t.Error("the old file was touched")
		}
		if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
			t.Error("the temporary file is still there")
		}
	}
}

func TestWavSpeakerRefuses(t *testing.T) {
	dir := t.TempDir()
	var d *pcm.DeviceError
	if _, err := files(80).OpenSink(t.Context(), filepath.Join(dir, "no", "out.wav"), pcm.Voice); !errors.As(err, &d) {
		t.Errorf("a folder that is not there gave %v", err)
	}
	if _, err := files(80).OpenSink(t.Context(), filepath.Join(dir, "out.wav"), pcm.Format{}); !errors.As(err, &d) {
		t.Errorf("a format of nothing gave %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}
