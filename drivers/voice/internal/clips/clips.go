package clips

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Clip is one recording.
type Clip struct {
	Name       string // the file's name in the folder, "household/….wav"
	Transcript string // what is said, lower case
	Audio      []int16
}

// Models is the models folder, or a skip where the named files are not all in it.
func Models(t testing.TB, files ...string) string {
	t.Helper()
	dir := os.Getenv("HOMEAGENT_MODELS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skip("skipped: no models folder:", err)
		}
		dir = filepath.Join(cache, "homeagent", "models")
	}
	for _, f := range files {
		if found, _ := filepath.Glob(filepath.Join(dir, f)); len(found) == 0 {
			t.Skipf("skipped: %s is absent; tools/setup brings it", filepath.Join(dir, f))
		}
	}
	return dir
}

// Folder is the recordings' folder, or a skip.
func Folder(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("the test does not run inside the repository")
		}
		dir = filepath.Dir(dir)
	}
	audio := filepath.Join(dir, "..", "shared", "audio")
	if _, err := os.Stat(filepath.Join(audio, "manifest.tsv")); err != nil {
		t.Skip("skipped: the recordings in ../shared/audio are absent")
	}
	return audio
}

// Kind reads every clip of one kind: "household", "barista", "other", "wake".
func Kind(t testing.TB, kind string) []Clip {
	t.Helper()
	dir := Folder(t)
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var out []Clip
	for _, line := range strings.Split(string(manifest), "\n") {
		f := strings.Split(line, "\t")
		if len(f) > 1 && strings.HasPrefix(f[0], kind+"/") {
			out = append(out, Clip{Name: f[0], Transcript: f[1], Audio: Read(t, filepath.Join(dir, f[0]))})
		}
	}
	if len(out) == 0 {
		t.Fatalf("manifest.tsv lists no %s recording", kind)
	}
	return out
}

// Read gives the samples of a 16 kHz mono 16-bit WAV file.
func Read(t testing.TB, file string) []int16 {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) < 12 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE" {
		t.Fatalf("%s is no WAV file", file)
	}
	for p := 12; p+8 <= len(b); {
		id, size := string(b[p:p+4]), int(binary.LittleEndian.Uint32(b[p+4:]))
		body := b[p+8 : min(len(b), p+8+size)]
		switch id {
		case "fmt ":
			if ch, rate := binary.LittleEndian.Uint16(body[2:]), binary.LittleEndian.Uint32(body[4:]); ch != 1 || rate != 16000 {
				t.Fatalf("%s is %d Hz x%d, not 16000 Hz x1", file, rate, ch)
			}
		case "data":
			out := make([]int16, len(body)/2)
			for i := range out {
				out[i] = int16(binary.LittleEndian.Uint16(body[2*i:]))
			}
			return out
		}
		p += 8 + size + size%2
	}
	t.Fatalf("%s has no samples", file)
	return nil
}
