package speechtest

import (
	"math"
	"math/rand/v2"
	"time"

	"homeagent/agent/pcm"
)

// Silence is d of a quiet room at pcm.Voice: noise of a few steps, the same
// each time.
func Silence(d time.Duration) []int16 {
	rnd := rand.New(rand.NewPCG(1, 2))
	out := make([]int16, pcm.Voice.Samples(d))
	for i := range out {
		out[i] = int16(rnd.IntN(7) - 3)
	}
	return out
}

// Buzz is d of a sound that fakes take for speech: a voiced hum of 120 Hz with
// overtones that swells four times a second, at about -20 dBFS. No real engine
// finds words in it.
func Buzz(d time.Duration) []int16 {
	out := make([]int16, pcm.Voice.Samples(d))
	for i := range out {
		t := float64(i) / float64(pcm.Voice.Rate)
		var v float64
		for k := 1.0; k <= 8; k++ {
			v += math.Sin(2*math.Pi*120*k*t) / k
		}
		out[i] = int16(2400 * v * (0.6 + 0.4*math.Sin(2*math.Pi*4*t)))
	}
	return out
}

// Join puts sounds one behind the other.
func Join(parts ...[]int16) []int16 {
	var out []int16
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// RMS is the root of the mean square, 0 for no samples.
func RMS(s []int16) float64 {
	if len(s) == 0 {
		return 0
	}
	var sum float64
	for _, v := range s {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(s)))
}
