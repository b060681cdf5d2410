package wake

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
)

// MinTakes is how many good takes a word needs. Five make it surer in noise.
const MinTakes = 3

// Limits of a good take, in samples and decibels.
const (
	minWord = rate * 3 / 10
	maxWord = rate * 5 / 2
	// A word below minPeak (decibels over one step of a sample) or less than
	// minAbove over the noise cannot be told from the room.
	minPeak  = 38.0
	minAbove = 12.0
	// clippedRun is how many samples at full scale in a row are a clipped wave.
	clippedRun = 4
	// unlikeDistance is the distance from every other take at which one is
	// something else; different words are about 0.7 apart, the same about 0.3.
	unlikeDistance = 0.62
	fullScale      = 90.3 // decibels of full scale over one step
)

// Enrol learns a word from takes of 16 kHz sound, each one utterance with a
// little silence around it. It needs MinTakes good takes and leaves the others
// out; fewer is a *TakesError that says which to repeat and why. The Report says
// the same about every take, also when a word was learned.
//
// It uses all processors, a few seconds of their time and about 15 MB, and
// stops with ctx's error when that ends. The same takes give the same word.
func Enrol(ctx context.Context, m *Model, b *Bank, name string, takes [][]int16) (*Word, Report, error) {
	var r Report
	if err := checkName(name); err != nil {
		return nil, r, err
	}
	if len(takes) > maxTakes {
		return nil, r, fmt.Errorf("%d takes, at most %d can be used", len(takes), maxTakes)
	}
	words := make([]spoken, len(takes))
	r.Takes = make([]Take, len(takes))
	for i, pcm := range takes {
		r.Takes[i], words[i] = judge(pcm)
	}
	compare(m, b, words, &r)
	if r.Good() < MinTakes {
		return nil, r, &TakesError{Report: r}
	}
	var good []*spoken
	for i := range words {
		if r.Takes[i].Problem == "" {
			good = append(good, &words[i])
		}
	}
	all, err := embedAll(ctx, m, b, good)
	if err != nil {
		return nil, r, err
	}
	w := &Word{name: name, model: m.id, white: b.white}
	var examples []example
	var templates [][][]float32
	for i := range all {
		var q [][]int8
		var t [][]float32
		for v := range all[i] {
			e := &all[i][v]
			if v < templatesPerTake {
				q = append(q, quantise(e.template()))
				t = append(t, restore(q[v]))
			}
			n := len(e.rows) / Dim
			examples = append(examples, example{e, e.last})
			if e.last+1 < n {
				examples = append(examples, example{e, e.last + 1})
			}
		}
		w.takes, templates = append(w.takes, q), append(templates, t)
	}
	t, err := tune(ctx, b, templates, examples)
	if err != nil {
		return nil, r, err
	}
	w.reg, w.near, w.logit, w.threshold = t.reg, t.near, t.logit, t.threshold
	w.strength = strength(w, all)
	raise := raiseShare * max(0, w.strength-raiseFrom)
	w.threshold, w.strength = w.threshold+raise, w.strength-raise
	r.Weak = w.strength < 0
	return w, r, nil
}

// judge finds the word in a take and says what is wrong with it.
func judge(pcm []int16) (Take, spoken) {
	f := findWord(pcm)
	t := Take{Start: f.word.start, End: f.word.end, Level: f.peak - fullScale, Noise: f.floor - fullScale}
	switch {
	case f.word.len() == 0:
		t.Problem = NoSpeech
	case clipped(pcm):
		t.Problem = Clipped
	case f.peak < minPeak:
		t.Problem = TooQuiet
	case f.peak-f.floor < minAbove:
		t.Problem = TooNoisy
	case f.word.len() < minWord:
		t.Problem = TooShort
	case f.word.len() > maxWord:
		t.Problem = TooLong
	case f.others > f.word.len()/2:
		t.Problem = MoreWords
	}
	return t, spoken{pcm: pcm, word: f.word, floor: f.floor}
}

// clipped looks for flat tops of the wave.
func clipped(pcm []int16) bool {
	run, tops := 0, 0
	for i, s := range pcm {
		if i == 0 || s != pcm[i-1] || s < math.MaxInt16-8 && s > math.MinInt16+8 {
			run = 1
			continue
		}
		if run++; run == clippedRun {
			tops++
		}
	}
	return tops > 3
}

// compare marks takes that are like none of the others.
func compare(m *Model, b *Bank, words []spoken, r *Report) {
	var at []int
	var rows [][]float32
	for i := range words {
		if r.Takes[i].Problem == "" {
			e := embedSpoken(m, b, &words[i], variant{speed: 1, snr: quiet, around: quiet})
			at, rows = append(at, i), append(rows, e.template())
		}
	}
	if len(rows) < 2 {
		return
	}
	for i, take := range at {
		nearest := float32(never)
		for j := range rows {
			if i != j {
				nearest = min(nearest, wholeDistance(rows[i], rows[j]))
			}
		}
		if nearest > unlikeDistance {
			r.Takes[take].Problem = Unlike
		}
	}
}

// wholeDistance is the distance of two templates from each other.
func wholeDistance(a, b []float32) float32 {
	one := func(a, b []float32) float32 {
		m, best := newMatcher(a), float32(never)
		for ; len(b) > 0; b = b[Dim:] {
			best = min(best, m.step(b))
		}
		return best
	}
	return max(one(a, b), one(b, a))
}

// embedAll renders and embeds the variants of every take.
func embedAll(ctx context.Context, m *Model, b *Bank, good []*spoken) ([][]embedded, error) {
	out := make([][]embedded, len(good))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, s := range good {
		vs := variants(i)
		out[i] = make([]embedded, len(vs))
		for k, v := range vs {
			slots <- struct{}{}
			if ctx.Err() != nil {
				wg.Wait()
				return nil, ctx.Err()
			}
			wg.Go(func() {
				out[i][k] = embedSpoken(m, b, s, v)
				<-slots
			})
		}
	}
	wg.Wait()
	return out, ctx.Err()
}

// strength scores each take's plain recording by the templates of the others
// and returns the lowest score over the threshold.
func strength(w *Word, all [][]embedded) float32 {
	weakest := float32(never)
	for i := range all {
		others := *w
		others.takes = nil
		for j, t := range w.takes {
			if j != i {
				others.takes = append(others.takes, t)
			}
		}
		s, st, best := others.scorer(), newStack(), float32(-never)
		for rows := all[i][0].rows; len(rows) > 0; rows = rows[Dim:] {
			st.push(rows[:Dim])
			d := s.distance(rows[:Dim])
			if st.full() {
				best = max(best, w.near.z(-d)+w.logit.z(w.reg.logit(st.x)))
			}
		}
		weakest = min(weakest, best-w.threshold)
	}
	return weakest
}
