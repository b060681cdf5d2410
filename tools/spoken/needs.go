package spoken

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// root is the repository, seen from the folder of a test below tools.
const root = "../.."

// Need skips where a program of the system is absent.
func Need(t testing.TB, names ...string) {
	t.Helper()
	for _, n := range names {
		if _, err := exec.LookPath(n); err != nil {
			t.Skipf("skipped: %s is not installed; tools/setup brings it", n)
		}
	}
}

// Models is the folder of the speech models, or a skip where one of the files
// is not in it.
func Models(t testing.TB, files ...string) string {
	t.Helper()
	dirs := []string{os.Getenv("HOMEAGENT_MODELS"), "/usr/share/homeagent/models"}
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "homeagent", "models"))
	}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			continue
		}
		for _, f := range files {
			if found, _ := filepath.Glob(filepath.Join(dir, f)); len(found) == 0 {
				t.Skipf("skipped: %s is absent; tools/setup brings it", filepath.Join(dir, f))
			}
		}
		return dir
	}
	t.Skip("skipped: there is no folder with speech models; tools/setup brings it")
	return ""
}

// NeedEngines skips where the local engines cannot work.
func NeedEngines(t testing.TB) {
	t.Helper()
	Models(t, "moonshine/encoder_model.onnx", "moonshine/decoder_model_merged.onnx", "silero/*.onnx", "onnxruntime/libonnxruntime.so*")
}

// NeedWake skips where the wake word cannot be learnt.
func NeedWake(t testing.TB) {
	t.Helper()
	Models(t, "wake/embedding.bin", "wake/bank.bin")
}
