package wake_test

import (
	"math"
	"path/filepath"
	"testing"

	ort "github.com/yalue/onnxruntime_go"

	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/wake/waketest"
)

const (
	context76 = 76 // mel frames of one window of the published graph
	tolerance = 1e-3
)

// TestEqualsONNXRuntime runs the published graphs in ONNX Runtime, window by
// window, and the streaming computation beside it.
func TestEqualsONNXRuntime(t *testing.T) {
	model := waketest.Model(t)
	dir := waketest.ModelsDir(t, "onnxruntime/libonnxruntime.so*")
	libs, _ := filepath.Glob(filepath.Join(dir, "onnxruntime", "libonnxruntime.so*"))
	for _, name := range []string{"embedding_model.onnx", "melspectrogram.onnx"} {
		if m, _ := filepath.Glob(filepath.Join(dir, "wake", name)); len(m) == 0 {
			t.Skipf("no wake/%s in the models folder; tools/setup brings it", name)
		}
	}
	ort.SetSharedLibraryPath(libs[0])
	t.Setenv("ORT_DISABLE_TELEMETRY", "1")
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ort.DestroyEnvironment() }) // runs last, after the sessions are gone
	melIn := make([]float32, 1760)
	melOut := make([]float32, 8*32)
	melRun := session(t, filepath.Join(dir, "wake", "melspectrogram.onnx"), "input", "output",
		melIn, []int64{1, 1760}, melOut, []int64{1, 1, 8, 32})
	window := make([]float32, context76*32)
	embOut := make([]float32, 96)
	embRun := session(t, filepath.Join(dir, "wake", "embedding_model.onnx"), "input_1", "conv2d_19",
		window, []int64{1, context76, 32, 1}, embOut, []int64{1, 1, 1, 96})

	inputs := map[string][]int16{"noise bursts": sound(1, 60*speech.Frame), "silence": make([]int16, 20*speech.Frame)}
	if path, err := filepath.Glob("/usr/share/pocketsphinx/test/data/librivox/*.wav"); err == nil && len(path) > 0 {
		inputs["a reading"] = waketest.Decode(t, path[0])
	}
	for name, pcm := range inputs {
		t.Run(name, func(t *testing.T) {
			clear(melIn)
			clear(window)
			e := model.NewEmbedder()
			worst, compared := 0.0, 0
			for step := 0; (step+1)*speech.Frame <= len(pcm); step++ {
				frame := pcm[step*speech.Frame:][:speech.Frame]
				got := e.Step(frame)
				copy(melIn, melIn[speech.Frame:])
				for i, s := range frame {
					melIn[480+i] = float32(s)
				}
				melRun()
				copy(window, window[8*32:])
				for i, v := range melOut {
					window[len(window)-len(melOut)+i] = v/10 + 2
				}
				if (step+1)*8 < context76 {
					continue
				}
				embRun()
				for k, want := range embOut {
					worst = max(worst, math.Abs(float64(got[k]-want)))
				}
				compared++
			}
			t.Logf("%d embeddings, largest difference %.2g", compared, worst)
			if compared == 0 || worst > tolerance {
				t.Errorf("largest difference %.2g of %d, allowed %g", worst, compared, tolerance)
			}
		})
	}
}

// session returns a function that runs a graph from in to out.
func session(t *testing.T, path, inName, outName string, in []float32, inShape []int64, out []float32, outShape []int64) func() {
	t.Helper()
	it, err := ort.NewTensor(inShape, in)
	if err != nil {
		t.Fatal(err)
	}
	ot, err := ort.NewTensor(outShape, out)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ort.NewAdvancedSession(path, []string{inName}, []string{outName}, []ort.Value{it}, []ort.Value{ot}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Destroy(); it.Destroy(); ot.Destroy() })
	return func() {
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
	}
}
