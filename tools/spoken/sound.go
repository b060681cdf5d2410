package spoken

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/resample"
	"homeagent/agent/pcm/wav"
)

// Recordings is the folder of recordings of people, or a skip.
func Recordings(t testing.TB, kind string) string {
	t.Helper()
	dir := filepath.Join(root, "..", "shared", "audio", kind)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("skipped: the recordings of people in ../shared/audio/%s are absent", kind)
	}
	return dir
}

// Debian is a file of Debian's pocketsphinx-testdata, or a skip.
func Debian(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("/usr/share/pocketsphinx/test/data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("skipped: %s is absent; tools/setup brings the package pocketsphinx-testdata", path)
	}
	return path
}

// Read gives a recording as pcm.Voice: a WAV file by our own reader, headerless
// .raw as what it is, anything else by ffmpeg.
func Read(t testing.TB, path string) []int16 {
	t.Helper()
	switch filepath.Ext(path) {
	case ".wav":
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return Decode(t, path, f)
	case ".raw":
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return Little(b)
	}
	Need(t, "ffmpeg")
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-nostdin", "-i", path, "-f", "s16le", "-ar", "16000", "-ac", "1", "-").Output()
	if err != nil {
		t.Fatalf("ffmpeg %s: %v", path, err)
	}
	return Little(out)
}

// Decode reads a WAV file as pcm.Voice.
func Decode(t testing.TB, name string, r io.ReadCloser) []int16 {
	t.Helper()
	file, err := wav.NewSource(r)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	src, err := resample.NewSource(file, pcm.Voice)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer src.Close()
	var all []int16
	buf := make([]int16, 4096)
	for {
		n, err := src.Read(context.Background(), buf)
		all = append(all, buf[:n]...)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// Little reads samples of 16 bits, the lower byte first.
func Little(b []byte) []int16 {
	out := make([]int16, len(b)/2)
	for i := range out {
		out[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return out
}

// Flite speaks English with one of its voices (slt, rms, awb), faster or slower
// by stretch.
func Flite(t testing.TB, voice, text string, stretch string) []int16 {
	t.Helper()
	Need(t, "flite")
	path := filepath.Join(t.TempDir(), "flite.wav")
	cmd := exec.CommandContext(t.Context(), "flite", "-voice", voice, "--setf", "duration_stretch="+stretch, "-t", text, "-o", path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("flite: %v\n%s", err, out)
	}
	return Read(t, path)
}

// Espeak speaks with espeak-ng.
func Espeak(t testing.TB, lang, text string) []int16 {
	t.Helper()
	Need(t, "espeak-ng")
	cmd := exec.CommandContext(t.Context(), "espeak-ng", "-v", lang, "-s", "150", "--stdin", "--stdout")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("espeak-ng: %v", err)
	}
	return Decode(t, "espeak-ng", io.NopCloser(bytes.NewReader(out)))
}

// Silence is not digital: a room is never quite still.
func Silence(d time.Duration) []int16 {
	out := make([]int16, pcm.Voice.Samples(d))
	noise := uint32(1)
	for i := range out {
		noise = noise*1664525 + 1013904223
		out[i] = int16(noise>>30) - 2
	}
	return out
}

// Trim cuts the silence around speech, leaving a tenth of a second.
func Trim(s []int16) []int16 {
	const window = 160
	limit := 0.05 * peakRMS(s, window)
	first, last := -1, 0
	for i := 0; i+window <= len(s); i += window {
		if RMS(s[i:i+window]) > limit {
			if first < 0 {
				first = i
			}
			last = i + window
		}
	}
	if first < 0 {
		return s
	}
	margin := pcm.Voice.Samples(100 * time.Millisecond)
	return s[max(0, first-margin):min(len(s), last+margin)]
}

func peakRMS(s []int16, window int) (peak float64) {
	for i := 0; i+window <= len(s); i += window {
		peak = max(peak, RMS(s[i:i+window]))
	}
	return peak
}

// RMS is the loudness of samples, in steps of 16 bits.
func RMS(s []int16) float64 {
	sum := 0.0
	for _, v := range s {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(max(1, len(s))))
}

// Join puts sounds behind each other.
func Join(parts ...[]int16) (out []int16) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// Save writes samples as a WAV file of the test's own and returns its path.
func Save(t testing.TB, samples []int16) string {
	t.Helper()
	b, err := wav.Encode(pcm.Voice, samples)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(t.TempDir(), "sound-*.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// Takes are recordings of one person saying a word.
type Takes struct {
	Word   string
	Enrol  [][]int16 // three of them
	Spoken []int16   // another one, for calling
}

// People finds the takes of the first speaker of "computer" in the recordings.
func People(t testing.TB) Takes {
	t.Helper()
	dir := Recordings(t, "wakeword")
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	speaker, files := "", []string(nil)
	for line := range strings.Lines(string(manifest)) {
		f := strings.Split(line, "\t")
		if len(f) < 4 || f[1] != "positive" || f[2] != "computer" || f[3] == "" || speaker != "" && f[3] != speaker {
			continue
		}
		speaker = f[3]
		files = append(files, filepath.Join(dir, f[0]))
	}
	if len(files) < 4 {
		t.Fatalf("manifest.tsv has %d takes of one speaker", len(files))
	}
	got := Takes{Word: "computer", Spoken: Trim(Read(t, files[3]))}
	for _, f := range files[:3] {
		got.Enrol = append(got.Enrol, Read(t, f))
	}
	return got
}

// Robot is flite saying "computer" three times a little differently, and once more.
func Robot(t testing.TB) Takes {
	t.Helper()
	got := Takes{Word: "computer", Spoken: Trim(Flite(t, "slt", "computer", "1.02"))}
	for _, stretch := range []string{"0.95", "1.0", "1.07"} {
		got.Enrol = append(got.Enrol, Join(Silence(400*time.Millisecond), Flite(t, "slt", "computer", stretch), Silence(400*time.Millisecond)))
	}
	return got
}
