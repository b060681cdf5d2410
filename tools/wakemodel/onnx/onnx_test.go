package onnx

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// message builds a protocol buffer from fields.
type message []byte

func (m message) number(id int, v uint64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(id)<<3|wireVarint), v)
}

func (m message) bytes(id int, b []byte) message {
	m = binary.AppendUvarint(m, uint64(id)<<3|wireBytes)
	return append(binary.AppendUvarint(m, uint64(len(b))), b...)
}

func (m message) float(id int, v float32) message {
	m = binary.AppendUvarint(m, uint64(id)<<3|wire32)
	return binary.LittleEndian.AppendUint32(m, math.Float32bits(v))
}

func raw(v ...float32) []byte {
	var b []byte
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// sample is a model of one convolution and one constant.
func sample() []byte {
	weights := message{}.number(1, 2).number(1, 3).number(2, typeFloat).bytes(8, []byte("w")).bytes(9, raw(1, 2, 3, 4, 5, 6))
	shape := message{}.bytes(1, []byte{3}).number(2, typeInt64).bytes(7, []byte{1, 96, 1}).bytes(8, []byte("shape"))
	floor := message{}.number(2, typeFloat).float(4, -0.4)
	conv := message{}.bytes(1, []byte("x")).bytes(1, []byte("w")).bytes(2, []byte("y")).bytes(4, []byte("Conv")).
		bytes(5, message{}.bytes(1, []byte("pads")).number(8, 0).number(8, 1).number(20, 7)).
		bytes(5, message{}.bytes(1, []byte("alpha")).float(2, 0.2)).
		bytes(5, message{}.bytes(1, []byte("group")).number(3, 1))
	constant := message{}.bytes(2, []byte("floor")).bytes(4, []byte("Constant")).
		bytes(5, message{}.bytes(1, []byte("value")).bytes(5, floor))
	graph := message{}.bytes(1, conv).bytes(1, constant).bytes(5, weights).bytes(5, shape).bytes(2, []byte("a name to skip"))
	return message{}.number(1, 8).bytes(7, graph)
}

func TestParse(t *testing.T) {
	g, err := Parse(sample())
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Nodes) != 2 || g.Nodes[0].Op != "Conv" || strings.Join(g.Nodes[0].Inputs, " ") != "x w" {
		t.Fatalf("nodes %+v", g.Nodes)
	}
	a := g.Nodes[0].Attrs
	if p := a["pads"].Ints; len(p) != 2 || p[1] != 1 || a["alpha"].Float != 0.2 || a["group"].Int != 1 {
		t.Errorf("attributes %+v", a)
	}
	if w := g.Tensors["w"]; w == nil || len(w.Floats) != 6 || w.Floats[5] != 6 || w.Dims[1] != 3 {
		t.Errorf("weights %+v", w)
	}
	if s := g.Tensors["shape"]; s == nil || len(s.Ints) != 3 || s.Ints[1] != 96 {
		t.Errorf("shape %+v", s)
	}
	if f := g.Tensors["floor"]; f == nil || len(f.Floats) != 1 || f.Floats[0] != -0.4 {
		t.Errorf("constant %+v", f)
	}
}

func TestParseRefuses(t *testing.T) {
	tensor := func(m message) []byte { return message{}.bytes(7, message{}.bytes(5, m)) }
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "no graph"},
		{"no graph", message{}.number(1, 8), "no graph"},
		{"cut short", sample()[:40], errWire.Error()},
		{"field zero", []byte{0, 1}, errWire.Error()},
		{"a length beyond the end", []byte{7<<3 | wireBytes, 0xff, 0xff, 0xff, 0xff, 0x7f}, errWire.Error()},
		{"a group", []byte{7<<3 | 3}, errWire.Error()},
		{"fewer numbers than the shape says", tensor(message{}.number(1, 9).number(2, typeFloat).bytes(9, raw(1))), "holds 1 numbers"},
		{"a shape that overflows", tensor(message{}.number(1, 1<<40).number(1, 1<<40).number(2, typeFloat)), "holds 0 numbers"},
		{"a negative dimension", tensor(message{}.number(1, math.MaxUint64).number(2, typeFloat)), "holds 0 numbers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Parse(tt.data); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// FuzzParse: every tensor of an accepted model has as many numbers as its shape says.
func FuzzParse(f *testing.F) {
	f.Add(sample())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := Parse(data)
		if err != nil {
			return
		}
		for name, x := range g.Tensors {
			if n, ok := product(x.Dims); len(x.Floats) > 0 && (!ok || n != len(x.Floats)) {
				t.Fatalf("tensor %q of shape %v holds %d numbers", name, x.Dims, len(x.Floats))
			}
		}
	})
}
