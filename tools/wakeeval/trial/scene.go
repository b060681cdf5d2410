package trial

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// Condition is how a word is tried.
type Condition string

// The conditions.
const (
	Clean   Condition = "clean"
	Noise10 Condition = "noise10"
	Running Condition = "running"
)

// Conditions lists all of them in order.
var Conditions = [...]Condition{Clean, Noise10, Running}

// scene renders clips under conditions.
type scene struct {
	noises, carriers [][]int16
}

// carriers is how many files of strangers' speech carry the words.
const carriers = 2

func newScene(ctx context.Context, c *Corpus) (*scene, error) {
	s := &scene{}
	for _, f := range c.Noises {
		pcm, err := c.Read(ctx, f)
		if err != nil {
			return nil, err
		}
		s.noises = append(s.noises, pcm)
	}
	// One file from the beginning of the list and one from its end: two sources.
	for i := range min(carriers, len(c.Strangers)) {
		pcm, err := c.Read(ctx, c.Strangers[i*(len(c.Strangers)-1)])
		if err != nil {
			return nil, err
		}
		s.carriers = append(s.carriers, pcm)
	}
	return s, nil
}

// render returns the sound of a clip under a condition and the samples at which
// the word begins and ends in it.
func (s *scene) render(clip Clip, pcm []int16, how Condition) (sound []int16, from, to int) {
	h := fnv.New64a()
	h.Write([]byte(clip.File))
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	start, end := int(clip.Start*rate), min(len(pcm), int(clip.End*rate))
	word := pcm[min(start, end):end]
	if how == Running {
		margin := rate * 3 / 100
		cut := pcm[max(0, start-margin):min(len(pcm), end+margin)]
		carrier := s.carriers[r.IntN(len(s.carriers))]
		at := r.IntN(max(1, len(carrier)-3*rate))
		carrier = carrier[at:min(len(carrier), at+3*rate)]
		carrier = loudness(carrier, rms(word)/rms(carrier))
		before := carrier[:len(carrier)*3/5]
		out := append(append(append([]int16{}, before...), cut...), carrier[len(before):]...)
		from = len(before) + min(start, margin)
		return out, from, from + len(word)
	}
	out := make([]int16, rate, rate+len(pcm)+rate/2)
	for i := range out {
		out[i] = int16(r.IntN(9) - 4)
	}
	out = append(out, pcm...)
	for range rate / 2 {
		out = append(out, int16(r.IntN(9)-4))
	}
	if how == Noise10 {
		n := s.noises[r.IntN(len(s.noises))]
		gain := rms(word) / rms(n) / math.Sqrt(10)
		at := r.IntN(len(n))
		for i := range out {
			out[i] = clip16(float64(out[i]) + gain*float64(n[(at+i)%len(n)]))
		}
	}
	return out, rate + start, rate + end
}

func loudness(pcm []int16, gain float64) []int16 {
	out := make([]int16, len(pcm))
	for i, s := range pcm {
		out[i] = clip16(gain * float64(s))
	}
	return out
}

func clip16(v float64) int16 { return int16(max(-32768, min(32767, math.Round(v)))) }

func rms(pcm []int16) float64 {
	sum := 1.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(max(1, len(pcm))))
}
