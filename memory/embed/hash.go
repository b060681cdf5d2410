package embed

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"

	"homeagent/memory/token"
)

// HashDim is the length of Hash's vectors.
const HashDim = 384

// Hash is an Embedder that needs nothing: each term of a text (token.Terms: stems
// of words, signs and pairs of signs) and each run of three letters in a word is
// hashed to a place and a sign of the vector (Weinberger et al., 2009, "Feature
// hashing"). Of a term said n times 1 + ln n counts. It is the same everywhere and
// for ever; another version of it has another name.
type Hash struct{}

var _ Embedder = Hash{}

// Name has the versions of all that the vectors depend on.
func (Hash) Name() string { return fmt.Sprintf("hash/%d.1", token.Version) }

// Dim is HashDim.
func (Hash) Dim() int { return HashDim }

// What the parts of a text count.
const (
	wordWeight = 1
	pairWeight = 1   // of signs
	signWeight = 0.5 // a sign alone: half as telling as a pair
	gramWeight = 0.3 // three letters
)

// Embed never fails but for a context that has ended.
func (Hash) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = hashed(text)
	}
	return out, nil
}

func hashed(text string) []float32 {
	counts := map[string]int{}
	var order []string // sums of floats depend on it
	for _, t := range token.Terms(text) {
		if counts[t] == 0 {
			order = append(order, t)
		}
		counts[t]++
	}
	v := make([]float32, HashDim)
	for _, t := range order {
		tf := 1 + math.Log(float64(counts[t]))
		signs := []rune(t)
		switch {
		case signs[0] >= 0x2e80 && len(signs) == 1:
			add(v, t, signWeight*tf)
		case signs[0] >= 0x2e80:
			add(v, t, pairWeight*tf)
		default:
			add(v, t, wordWeight*tf)
			padded := []rune("<" + t + ">")
			for i := 0; i+3 <= len(padded) && len(padded) > 4; i++ {
				add(v, string(padded[i:i+3]), gramWeight*tf)
			}
		}
	}
	Normalize(v)
	return v
}

// add puts a feature on its place with its sign.
func add(v []float32, feature string, weight float64) {
	h := fnv.New64a()
	h.Write([]byte(feature))
	sum := mix(h.Sum64())
	if sum>>63 == 1 {
		weight = -weight
	}
	v[sum%uint64(len(v))] += float32(weight)
}

// mix spreads FNV's sum over all bits (the finalizer of SplitMix64).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
