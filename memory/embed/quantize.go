package embed

import (
	"math"
	"math/bits"
)

// quantized is a vector with eight bits a dimension: its values are those of the
// signs times the scale.
type quantized struct {
	values []int8
	scale  float32
}

// quantize rounds v, whose values are finite.
func quantize(v []float32) quantized {
	var most float32
	for _, x := range v {
		most = max(most, float32(math.Abs(float64(x))))
	}
	q := quantized{values: make([]int8, len(v)), scale: most / 127}
	if most == 0 {
		return q
	}
	for i, x := range v {
		q.values[i] = int8(math.RoundToEven(float64(x) / float64(q.scale)))
	}
	return q
}

// dot is the product with values of another vector, given as bytes of int8.
func (q quantized) dot(other []byte) int32 {
	a, b := q.values, other[:len(q.values)]
	var s0, s1, s2, s3 int32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += int32(a[i]) * int32(int8(b[i]))
		s1 += int32(a[i+1]) * int32(int8(b[i+1]))
		s2 += int32(a[i+2]) * int32(int8(b[i+2]))
		s3 += int32(a[i+3]) * int32(int8(b[i+3]))
	}
	for ; i < len(a); i++ {
		s0 += int32(a[i]) * int32(int8(b[i]))
	}
	return s0 + s1 + s2 + s3
}

// sketchWords is the length of a sketch.
func sketchWords(dim int) int { return (dim + 63) / 64 }

// sketch has a bit for each dimension whose value is above zero.
func sketch(v []float32) []uint64 {
	out := make([]uint64, sketchWords(len(v)))
	for i, x := range v {
		if x > 0 {
			out[i/64] |= 1 << (i % 64)
		}
	}
	return out
}

// hamming is the number of bits in which two sketches of a length differ.
func hamming(a, b []uint64) int {
	b = b[:len(a)]
	n := 0
	for i, x := range a {
		n += bits.OnesCount64(x ^ b[i])
	}
	return n
}
