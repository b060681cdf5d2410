package waketest

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"homeagent/drivers/voice/wake"
)

// ModelsDir returns the models folder: the environment's HOMEAGENT_MODELS, the
// system's, or the user's cache, whichever first has the file wanted.
func ModelsDir(t testing.TB, wanted string) string {
	t.Helper()
	dirs := []string{os.Getenv("HOMEAGENT_MODELS"), "/usr/share/homeagent/models"}
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "homeagent", "models"))
	}
	for _, d := range dirs {
		if m, _ := filepath.Glob(filepath.Join(d, wanted)); d != "" && len(m) > 0 {
			return d
		}
	}
	t.Skipf("no models folder has %s; tools/setup brings it", wanted)
	return ""
}

// Model loads the speech embedding, or skips the test where it is not installed.
func Model(t testing.TB) *wake.Model {
	t.Helper()
	m, err := wake.LoadModel(ModelsDir(t, "wake/"+wake.EmbeddingFile))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Bank loads the speech bank, or skips the test where it is not installed.
func Bank(t testing.TB) *wake.Bank {
	t.Helper()
	b, err := wake.LoadBank(ModelsDir(t, "wake/"+wake.BankFile))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Audio returns a folder or file of recordings for tests, which lie beside the
// sources, or skips the test where they are absent.
func Audio(t testing.TB, elem ...string) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(root) == root {
			t.Fatal("no go.mod above the test's folder")
		}
		root = filepath.Dir(root)
	}
	path := filepath.Join(append([]string{root, "..", "shared", "audio"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no recordings at ../shared/audio/%s", filepath.Join(elem...))
	}
	return path
}

// Decode reads a recording of any format as 16 kHz mono through ffmpeg. It
// skips the test where ffmpeg is absent.
func Decode(t testing.TB, path string) []int16 {
	t.Helper()
	pcm, err := decode(t.Context(), path)
	if err != nil {
		if _, look := exec.LookPath("ffmpeg"); look != nil {
			t.Skip("ffmpeg is not installed")
		}
		t.Fatalf("decode %s: %v", path, err)
	}
	return pcm
}

func decode(ctx context.Context, path string) ([]int16, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-nostdin", "-i", path, "-f", "s16le", "-ar", "16000", "-ac", "1", "-")
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	b := out.Bytes()
	pcm := make([]int16, len(b)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return pcm, nil
}

// Say speaks a text with flite at 16 kHz mono: voice "slt", "rms", "awb" or
// "kal16", stretch 1 is the voice's own speed (larger is slower), pitch its
// mean in hertz, 0 for the voice's own. It skips the test where flite is absent.
func Say(t testing.TB, text, voice, stretch, pitch string) []int16 {
	t.Helper()
	if _, err := exec.LookPath("flite"); err != nil {
		t.Skip("flite is not installed")
	}
	wav := filepath.Join(t.TempDir(), "flite.wav")
	args := []string{"-voice", voice, "--setf", "duration_stretch=" + stretch}
	if pitch != "" {
		args = append(args, "--setf", "int_f0_target_mean="+pitch)
	}
	args = append(args, "-t", text, "-o", wav)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "flite", args...).CombinedOutput(); err != nil {
		t.Fatalf("flite: %v: %s", err, out)
	}
	return Decode(t, wav)
}

// Takes returns three takes of a word by flite's voice slt at three speeds,
// with silence around them, as an enrolment wants them.
func Takes(t testing.TB, word string) [][]int16 {
	t.Helper()
	var takes [][]int16
	for _, stretch := range []string{"0.95", "1", "1.1"} {
		pcm := make([]int16, 8000)
		pcm = append(pcm, Say(t, word, "slt", stretch, "")...)
		takes = append(takes, append(pcm, make([]int16, 8000)...))
	}
	return takes
}

// Word enrols a word from Takes; others may say it with Say in the voice slt and
// expect it to be heard.
func Word(t testing.TB, m *wake.Model, b *wake.Bank, name string) *wake.Word {
	t.Helper()
	w, r, err := wake.Enrol(t.Context(), m, b, name, Takes(t, name))
	if err != nil {
		t.Fatalf("enrol %q: %v: %s", name, err, r.Text("en"))
	}
	return w
}
