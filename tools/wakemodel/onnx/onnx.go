package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Element types of TensorProto that are read.
const (
	typeFloat = 1
	typeInt64 = 7
)

// Tensor is a constant of the graph. Exactly one of Floats and Ints is filled,
// last dimension fastest, unless the element type is one that is not read.
type Tensor struct {
	Dims   []int64
	Floats []float32
	Ints   []int64
}

// Attribute is the part of a node's attribute that is read.
type Attribute struct {
	Float float32
	Int   int64
	Ints  []int64
	// Tensor is set for the constant of a Constant node.
	Tensor *Tensor
}

// Node is one operation.
type Node struct {
	Op      string
	Inputs  []string
	Outputs []string
	Attrs   map[string]Attribute
}

// Graph is a model's main graph.
type Graph struct {
	Nodes []Node
	// Tensors are the initializers and the values of Constant nodes by name.
	Tensors map[string]*Tensor
}

// Parse reads an ONNX model. It never keeps data.
func Parse(data []byte) (*Graph, error) {
	g := &Graph{Tensors: map[string]*Tensor{}}
	found := false
	err := each(data, func(f field) error {
		if f.id != 7 || f.wire != wireBytes { // ModelProto.graph
			return nil
		}
		found = true
		return g.parse(f.bytes)
	})
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	if !found {
		return nil, fmt.Errorf("onnx: no graph in %d bytes", len(data))
	}
	return g, nil
}

func (g *Graph) parse(msg []byte) error {
	return each(msg, func(f field) error {
		if f.wire != wireBytes {
			return nil
		}
		switch f.id {
		case 1: // node
			n, err := node(f.bytes)
			if err != nil {
				return err
			}
			if t := n.Attrs["value"].Tensor; n.Op == "Constant" && t != nil && len(n.Outputs) == 1 {
				g.Tensors[n.Outputs[0]] = t
			}
			g.Nodes = append(g.Nodes, n)
		case 5: // initializer
			name, t, err := tensor(f.bytes)
			if err != nil {
				return err
			}
			g.Tensors[name] = t
		}
		return nil
	})
}

func node(msg []byte) (n Node, err error) {
	n.Attrs = map[string]Attribute{}
	err = each(msg, func(f field) error {
		switch f.id {
		case 1:
			n.Inputs = append(n.Inputs, string(f.bytes))
		case 2:
			n.Outputs = append(n.Outputs, string(f.bytes))
		case 4:
			n.Op = string(f.bytes)
		case 5:
			name, a, err := attribute(f.bytes)
			if err != nil {
				return err
			}
			n.Attrs[name] = a
		}
		return nil
	})
	return n, err
}

func attribute(msg []byte) (name string, a Attribute, err error) {
	err = each(msg, func(f field) (err error) {
		switch f.id {
		case 1:
			name = string(f.bytes)
		case 2:
			a.Float = math.Float32frombits(uint32(f.number))
		case 3:
			a.Int = int64(f.number)
		case 5:
			_, a.Tensor, err = tensor(f.bytes)
		case 8:
			a.Ints, err = ints(a.Ints, f)
		}
		return err
	})
	return name, a, err
}

func tensor(msg []byte) (name string, t *Tensor, err error) {
	t = &Tensor{}
	kind, raw := uint64(0), []byte(nil)
	err = each(msg, func(f field) (err error) {
		switch f.id {
		case 1:
			t.Dims, err = ints(t.Dims, f)
		case 2:
			kind = f.number
		case 4: // float_data, packed or not
			if f.wire == wire32 {
				t.Floats = append(t.Floats, math.Float32frombits(uint32(f.number)))
				return nil
			}
			if len(f.bytes)%4 != 0 {
				return errWire
			}
			t.Floats = append(t.Floats, floats(f.bytes)...)
		case 7:
			t.Ints, err = ints(t.Ints, f)
		case 8:
			name = string(f.bytes)
		case 9:
			raw = f.bytes
		}
		return err
	})
	if err != nil {
		return "", nil, err
	}
	switch kind {
	case typeFloat:
		t.Ints = nil
		if raw != nil {
			t.Floats = floats(raw)
		}
	case typeInt64:
		t.Floats = nil
		for ; len(raw) >= 8; raw = raw[8:] {
			t.Ints = append(t.Ints, int64(binary.LittleEndian.Uint64(raw)))
		}
	default:
		t.Floats, t.Ints = nil, nil
	}
	if kind == typeFloat {
		want, ok := product(t.Dims)
		if !ok || want != len(t.Floats) {
			return "", nil, fmt.Errorf("tensor %q of shape %v holds %d numbers", name, t.Dims, len(t.Floats))
		}
	}
	return name, t, nil
}

// product multiplies a shape; false means that it is negative or absurdly large.
func product(dims []int64) (int, bool) {
	n := int64(1)
	for _, d := range dims {
		if d < 0 || d > 1<<30 {
			return 0, false
		}
		if n *= d; n > 1<<30 {
			return 0, false
		}
	}
	return int(n), true
}

func floats(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
