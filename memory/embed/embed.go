package embed

import (
	"context"
	"errors"
	"math"
)

// Embedder turns texts into vectors whose cosine says how near they are in
// meaning. It is safe for concurrent use.
type Embedder interface {
	// Name tells apart what gives different vectors: "ollama/bge-m3".
	Name() string
	// Dim is the length of the vectors, 0 while it is not known: until the first
	// answer of a server.
	Dim() int
	// Embed returns a vector of unit length for each text, in their order; that of
	// a text with nothing in it may be all zero. Texts longer than the model takes
	// are cut. An error means that none was embedded.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// MaxDim bounds a vector's length.
const MaxDim = 4096

// ErrDim is wrapped where a vector has another length than the index.
var ErrDim = errors.New("the vector has another length")

// Normalize scales v to unit length. It reports whether it could: not where v is
// zero or holds what is no number.
func Normalize(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return false
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
	return true
}
