package relevance

import (
	"math"

	"homeagent/memory/token"
)

// Vector counts terms.
type Vector map[string]float64

// Vectorizer makes the vector of a text. Implementations are safe for
// concurrent use and give the same vector for the same text.
type Vectorizer interface {
	Vectorize(text string) Vector
}

// maxText bounds the part of a text that is computed on, in bytes: a text of
// 1 MB is no more about something than its first pages are.
const maxText = 32 << 10

// Words is the Vectorizer over terms of package token.
type Words struct{}

var _ Vectorizer = Words{}

// Vectorize counts the terms of the first 32 KiB of text; repetitions count
// by their square root, so that a log full of one word is not about it alone.
func (Words) Vectorize(text string) Vector {
	if len(text) > maxText {
		text = text[:maxText] // a sign cut in two is an invalid byte, which separates
	}
	v := Vector{}
	for _, t := range token.Terms(text) {
		v[t]++
	}
	for t, n := range v {
		v[t] = math.Sqrt(n)
	}
	return v
}

// idf are the weights of terms over a set of vectors: log(1 + N/n) for a term
// in n of N.
func idf(vectors []Vector) map[string]float64 {
	n := map[string]float64{}
	for _, v := range vectors {
		for t := range v {
			n[t]++
		}
	}
	for t, c := range n {
		n[t] = math.Log(1 + float64(len(vectors))/c)
	}
	return n
}

// cosine is the similarity, 0 to 1, of two vectors under weights. A term
// without a weight occurs in no event and only lengthens its vector.
func cosine(a, b Vector, weight map[string]float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	var dot float64
	for t, x := range a {
		if y, ok := b[t]; ok {
			dot += x * y * weight[t] * weight[t]
		}
	}
	if dot == 0 {
		return 0
	}
	return dot / (length(a, weight) * length(b, weight))
}

func length(v Vector, weight map[string]float64) float64 {
	var sum float64
	for t, x := range v {
		w := weight[t]
		if w == 0 {
			w = math.Log(2)
		}
		sum += x * x * w * w
	}
	return math.Sqrt(sum)
}
