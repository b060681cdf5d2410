package wake

import (
	"math"
	"slices"
)

const (
	rate = 16000
	// energyHop is the step of the energy curve in which a word is looked for: 10 ms.
	energyHop = rate / 100
	// joinGap is the longest silence inside a word or between the words of a phrase.
	joinGap = 30 * energyHop
	// minBurst is the shortest sound that may begin or end a word after a gap,
	// such as a final t; minSound the shortest that is no click. Both include the
	// 20 ms that smoothing adds.
	minBurst = 4 * energyHop
	minSound = 8 * energyHop
	// quietest and loudest bound what is taken as noise: decibels over one
	// step of a 16-bit sample.
	quietest = 6.0
)

// span is a run of samples [start, end).
type span struct{ start, end int }

func (s span) len() int { return s.end - s.start }

// found is what the search for a word in a take saw.
type found struct {
	word span
	// floor and peak are the levels of the quiet parts and of the loudest
	// 30 ms, in decibels over one step of a 16-bit sample.
	floor, peak float64
	// others is the length of speech outside the word, in samples.
	others int
}

// findWord finds the loudest stretch of sound in a take: everything that rises
// clearly over the noise floor and is not separated by more than joinGap.
// A take without any such stretch gives an empty word.
func findWord(pcm []int16) found {
	level := energy(pcm)
	if len(level) == 0 {
		return found{floor: quietest, peak: quietest}
	}
	sorted := slices.Clone(level)
	slices.Sort(sorted)
	f := found{floor: max(quietest, sorted[len(sorted)/10]), peak: sorted[max(0, len(sorted)-3)]}
	// A third of the way from floor to peak keeps soft consonants in and breath out.
	threshold := f.floor + max(6, 0.3*(f.peak-f.floor))
	var runs []span
	for i := 0; i < len(level); i++ {
		if level[i] < threshold {
			continue
		}
		start := i
		for i < len(level) && level[i] >= threshold {
			i++
		}
		runs = append(runs, span{start * energyHop, min(i*energyHop, len(pcm))})
	}
	runs = slices.DeleteFunc(runs, func(s span) bool { return s.len() < minBurst })
	var joined []span
	for _, r := range runs {
		if n := len(joined); n > 0 && r.start-joined[n-1].end <= joinGap {
			joined[n-1].end = r.end
			continue
		}
		joined = append(joined, r)
	}
	joined = slices.DeleteFunc(joined, func(s span) bool { return s.len() < minSound })
	best, total := -1.0, 0
	for _, r := range joined {
		sum := 0.0
		for i := r.start / energyHop; i < r.end/energyHop; i++ {
			sum += level[i] - threshold
		}
		total += r.len()
		if sum > best {
			best, f.word = sum, r
		}
	}
	f.others = total - f.word.len()
	return f
}

// energy returns the level of every 10 ms, smoothed over 30 ms, in decibels
// over one step of a 16-bit sample. A high-pass at about 100 Hz takes out hum
// and offset first.
func energy(pcm []int16) []float64 {
	const pole = 0.96
	power := make([]float64, len(pcm)/energyHop)
	var y, last float64
	for i := range power {
		for _, s := range pcm[i*energyHop:][:energyHop] {
			y = pole * (y + float64(s) - last)
			last = float64(s)
			power[i] += y * y
		}
	}
	level := make([]float64, len(power))
	for i := range level {
		lo, hi := max(0, i-1), min(len(power), i+2)
		sum := 0.0
		for _, p := range power[lo:hi] {
			sum += p
		}
		level[i] = 10 * math.Log10(sum/float64((hi-lo)*energyHop)+1)
	}
	return level
}
