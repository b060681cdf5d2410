package main

import (
	"fmt"
	"math"
	"slices"

	"homeagent/drivers/voice/wake/wakefile"
	"homeagent/tools/wakemodel/onnx"
)

const licence = "Google speech embedding and mel front end, Apache-2.0, by way of openWakeWord"

// layer is what one operation of the embedding must look like.
type layer struct {
	op     string
	kernel [2]int64 // of a convolution or a maximum
}

// expected lists the operations of the embedding between its two reshapes:
// twenty convolutions, each but the last with its activation, and five maxima.
func expected() []layer {
	var l []layer
	conv := func(h, w int64) {
		l = append(l, layer{"Conv", [2]int64{h, w}}, layer{op: "LeakyRelu"}, layer{op: "Max"})
	}
	conv(3, 3)
	for i, pool := range []int64{2, 1, 2, 1, 2} {
		pairs := 2
		if i == 0 {
			pairs = 1
		}
		for range pairs {
			conv(1, 3)
			conv(3, 1)
		}
		l = append(l, layer{"MaxPool", [2]int64{pool, 2}})
	}
	return append(l, layer{"Conv", [2]int64{3, 1}})
}

// embedding checks the graph operation by operation and takes the weights over,
// input channels last.
func embedding(g *onnx.Graph) (*wakefile.File, error) {
	f := &wakefile.File{Kind: wakefile.Embedding, Version: 1}
	f.AddText("licence", licence)
	nodes := slices.DeleteFunc(slices.Clone(g.Nodes), func(n onnx.Node) bool { return n.Op == "Reshape" })
	want := expected()
	if len(nodes) != len(want) {
		return nil, fmt.Errorf("%d operations, the speech embedding has %d", len(nodes), len(want))
	}
	for i, n := range nodes {
		if i > 0 && (len(n.Inputs) == 0 || !slices.Contains(n.Inputs, nodes[i-1].Outputs[0])) {
			return nil, fmt.Errorf("operation %d (%s) does not follow the one before", i, n.Op)
		}
		if len(n.Outputs) != 1 {
			return nil, fmt.Errorf("operation %d (%s) has %d outputs", i, n.Op, len(n.Outputs))
		}
		if err := check(g, n, want[i]); err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
	}
	count := 0
	for _, n := range nodes {
		if n.Op != "Conv" {
			continue
		}
		w := g.Tensors[n.Inputs[1]]
		out, in, h, wd := int(w.Dims[0]), int(w.Dims[1]), int(w.Dims[2]), int(w.Dims[3])
		values := make([]float32, len(w.Floats))
		for o := range out {
			for c := range in {
				for y := range h {
					for x := range wd {
						values[((o*h+y)*wd+x)*in+c] = w.Floats[((o*in+c)*h+y)*wd+x]
					}
				}
			}
		}
		bias := make([]float32, out)
		if len(n.Inputs) > 2 {
			b := g.Tensors[n.Inputs[2]]
			if b == nil || len(b.Floats) != out {
				return nil, fmt.Errorf("convolution %d has no bias of %d numbers", count, out)
			}
			bias = b.Floats
		}
		f.AddFloat32(fmt.Sprintf("conv%02d.weight", count), values, out, h, wd, in)
		f.AddFloat32(fmt.Sprintf("conv%02d.bias", count), bias, out)
		count++
	}
	return f, nil
}

func check(g *onnx.Graph, n onnx.Node, want layer) error {
	if n.Op != want.op {
		return fmt.Errorf("is %s where %s is expected", n.Op, want.op)
	}
	all := func(name string, v int64) bool {
		return !slices.ContainsFunc(n.Attrs[name].Ints, func(i int64) bool { return i != v })
	}
	k := want.kernel[:]
	switch n.Op {
	case "Conv":
		if len(n.Inputs) < 2 || g.Tensors[n.Inputs[1]] == nil {
			return fmt.Errorf("a convolution has no constant weights")
		}
		w := g.Tensors[n.Inputs[1]]
		if len(w.Dims) != 4 || !slices.Equal(w.Dims[2:], k) || len(w.Floats) == 0 {
			return fmt.Errorf("a convolution has shape %v, want kernel %v", w.Dims, k)
		}
		pads := []int64{0, k[1] / 2, 0, k[1] / 2} // bands are padded, time never is
		if got := n.Attrs["pads"].Ints; !slices.Equal(got, pads) && (len(got) != 0 || k[1] != 1) {
			return fmt.Errorf("a convolution is padded %v, want %v", got, pads)
		}
		if !all("strides", 1) || !all("dilations", 1) || n.Attrs["group"].Int > 1 {
			return fmt.Errorf("a convolution has stride, dilation or groups")
		}
	case "LeakyRelu":
		if math.Abs(float64(n.Attrs["alpha"].Float)-0.2) > 1e-6 {
			return fmt.Errorf("activation slope is %v, want 0.2", n.Attrs["alpha"].Float)
		}
	case "Max":
		for _, in := range n.Inputs {
			if t := g.Tensors[in]; t != nil {
				if len(t.Floats) != 1 || math.Abs(float64(t.Floats[0])+0.4) > 1e-6 {
					return fmt.Errorf("activation floor is %v, want -0.4", t.Floats)
				}
				return nil
			}
		}
		return fmt.Errorf("activation floor is no constant")
	case "MaxPool":
		if !slices.Equal(n.Attrs["kernel_shape"].Ints, k) || !slices.Equal(n.Attrs["strides"].Ints, k) || !all("pads", 0) {
			return fmt.Errorf("maximum over %v, want %v", n.Attrs["kernel_shape"].Ints, k)
		}
	}
	return nil
}

// mel takes window and filters over. The graph computes the spectrum by two
// convolutions with 512 windowed cosines and sines; row 0 of the cosines is the
// window itself, and all others must be what the window says.
func mel(g *onnx.Graph) (*wakefile.File, error) {
	const size, bins, bands = 512, 257, 32
	get := func(name string, dims ...int64) ([]float32, error) {
		t := g.Tensors[name]
		if t == nil || !slices.Equal(t.Dims, dims) {
			return nil, fmt.Errorf("no tensor %q of shape %v", name, dims)
		}
		return t.Floats, nil
	}
	re, err := get("0.stft.conv_real.weight", bins, 1, size)
	if err != nil {
		return nil, err
	}
	im, err := get("0.stft.conv_imag.weight", bins, 1, size)
	if err != nil {
		return nil, err
	}
	filters, err := get("1.melW", bins, bands)
	if err != nil {
		return nil, err
	}
	window := re[:size]
	for k := range bins {
		for n := range size {
			s, c := math.Sincos(-2 * math.Pi * float64(k*n%size) / size)
			w := float64(window[n])
			if math.Abs(w*c-float64(re[k*size+n])) > 1e-5 || math.Abs(w*s-float64(im[k*size+n])) > 1e-5 {
				return nil, fmt.Errorf("bin %d is not a windowed Fourier transform", k)
			}
		}
	}
	for _, n := range g.Nodes {
		if n.Op == "Conv" && !slices.Equal(n.Attrs["strides"].Ints, []int64{160}) {
			return nil, fmt.Errorf("frames are %v samples apart, want 160", n.Attrs["strides"].Ints)
		}
	}
	f := &wakefile.File{Kind: wakefile.Mel, Version: 1}
	f.AddText("licence", licence)
	f.AddFloat32("window", window, size)
	f.AddFloat32("filters", filters, bins, bands)
	return f, nil
}
