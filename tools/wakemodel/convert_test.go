package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeagent/drivers/voice/wake"
	"homeagent/drivers/voice/wake/waketest"
	"homeagent/tools/wakemodel/onnx"
)

// graphs reads the published graphs, or skips the test where they are absent.
func graphs(t *testing.T) (dir string, embeddingGraph, melGraph *onnx.Graph) {
	t.Helper()
	dir = filepath.Join(waketest.ModelsDir(t, "wake/embedding_model.onnx"), "wake")
	read := func(name string) *onnx.Graph {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Skip(err)
		}
		g, err := onnx.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	return dir, read("embedding_model.onnx"), read("melspectrogram.onnx")
}

func TestRunWritesWhatLoads(t *testing.T) {
	dir, _, _ := graphs(t)
	models := t.TempDir()
	if err := os.Mkdir(filepath.Join(models, "models"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"embedding_model.onnx", "melspectrogram.onnx"} {
		if err := os.Symlink(filepath.Join(dir, name), filepath.Join(models, "models", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(models, models); err != nil {
		t.Fatal(err)
	}
	if _, err := wake.LoadModel(models); err != nil {
		t.Error(err)
	}
}

func TestRunNamesWhatIsMissing(t *testing.T) {
	err := run(t.TempDir(), "")
	if err == nil || !strings.Contains(err.Error(), "embedding_model.onnx") || !strings.Contains(err.Error(), "tools/setup") {
		t.Errorf("error %v", err)
	}
}

// TestOtherGraphsAreRefused changes the published graphs a little each time.
func TestOtherGraphsAreRefused(t *testing.T) {
	node := func(g *onnx.Graph, op string) *onnx.Node {
		for i := range g.Nodes {
			if g.Nodes[i].Op == op {
				return &g.Nodes[i]
			}
		}
		t.Fatalf("no %s", op)
		return nil
	}
	tests := []struct {
		name   string
		change func(emb, mel *onnx.Graph)
		want   string
	}{
		{"another slope", func(e, _ *onnx.Graph) { node(e, "LeakyRelu").Attrs["alpha"] = onnx.Attribute{Float: 0.1} }, "slope"},
		{"another floor", func(e, _ *onnx.Graph) { e.Tensors[node(e, "Max").Inputs[1]].Floats[0] = -1 }, "floor"},
		{"a stride", func(e, _ *onnx.Graph) { node(e, "Conv").Attrs["strides"] = onnx.Attribute{Ints: []int64{2, 1}} }, "stride"},
		{"padded in time", func(e, _ *onnx.Graph) { node(e, "Conv").Attrs["pads"] = onnx.Attribute{Ints: []int64{1, 1, 1, 1}} }, "padded"},
		{"another maximum", func(e, _ *onnx.Graph) {
			node(e, "MaxPool").Attrs["kernel_shape"] = onnx.Attribute{Ints: []int64{3, 2}}
		}, "maximum"},
		{"an operation less", func(e, _ *onnx.Graph) { e.Nodes = e.Nodes[:len(e.Nodes)-2] }, "operations"},
		{"weights that are no constant", func(e, _ *onnx.Graph) { delete(e.Tensors, node(e, "Conv").Inputs[1]) }, "no constant"},
		{"another transform", func(_, m *onnx.Graph) { m.Tensors["0.stft.conv_imag.weight"].Floats[5000] += 0.1 }, "Fourier"},
		{"another step", func(_, m *onnx.Graph) { node(m, "Conv").Attrs["strides"] = onnx.Attribute{Ints: []int64{80}} }, "apart"},
		{"no filters", func(_, m *onnx.Graph) { delete(m.Tensors, "1.melW") }, "1.melW"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, e, m := graphs(t)
			tt.change(e, m)
			_, err := embedding(e)
			if err == nil {
				_, err = mel(m)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
