package wake

import (
	"fmt"
	"math/rand/v2"

	"homeagent/drivers/voice/speech"
)

// refractory is how long after a hit the same word is not heard again: it is
// still in the embeddings' windows. 1.2 s.
const refractory = 15

// listener is one word in a detector.
type listener struct {
	word  *Word
	white int // index of its whitening
	score *scorer
	rest  int // embeddings until it listens again
}

// Detector hears enrolled words in a stream of 16 kHz sound. Accept allocates
// nothing unless it reports a hit. It holds about 1 MB and is used by one
// goroutine.
type Detector struct {
	embed  *Embedder
	whites []*whitener
	stacks []*stack
	words  []*listener
	rest   []int16 // samples of an unfinished frame
	heard  int64   // samples taken since the detector was made
	// Where a stream begins: after a second of a quiet room, so that a word is heard
	// from the first sample on.
	quietRoom   *Embedder
	quietStacks []*stack
}

var _ speech.Detector = (*Detector)(nil)

// NewDetector listens for the given words; without any it hears nothing. A word
// that was enrolled with other weights is an error that names it: enrol it again.
func NewDetector(m *Model, words ...*Word) (*Detector, error) {
	d := &Detector{embed: m.NewEmbedder(), rest: make([]int16, 0, speech.Frame), quietRoom: m.NewEmbedder()}
	seen := map[string]int{}
	for _, w := range words {
		if w.model != m.id {
			return nil, fmt.Errorf("wake word %q was learned with another model: enrol it again", w.name)
		}
		id := w.white.id()
		k, ok := seen[id]
		if !ok {
			k = len(d.whites)
			seen[id] = k
			d.whites = append(d.whites, w.white)
			d.stacks = append(d.stacks, newStack())
			d.quietStacks = append(d.quietStacks, newStack())
		}
		d.words = append(d.words, &listener{word: w, white: k, score: w.scorer()})
	}
	d.settle()
	d.Reset()
	return d, nil
}

// settle plays a second of a quiet room to the state in which streams begin.
func (d *Detector) settle() {
	r := rand.New(rand.NewPCG(2, 2))
	pcm := make([]int16, speech.Frame)
	for range rate/speech.Frame + 1 {
		for i := range pcm {
			pcm[i] = int16(r.IntN(9) - 4)
		}
		d.advance(d.quietRoom, d.quietStacks, pcm)
	}
}

// advance embeds one frame and pushes it, under every whitening, onto a stack.
func (d *Detector) advance(e *Embedder, stacks []*stack, pcm []int16) {
	raw := e.Step(pcm)
	var x [Dim]float32
	for k, h := range d.whites {
		h.apply(raw, x[:])
		stacks[k].push(x[:])
	}
}

// Accept takes any number of samples and returns the words that were heard in
// them, each once. Positions count from the detector's making, through Reset.
func (d *Detector) Accept(samples []int16) []speech.Hit {
	if len(d.words) == 0 {
		d.heard += int64(len(samples))
		return nil
	}
	var hits []speech.Hit
	if len(d.rest) > 0 {
		n := min(len(samples), speech.Frame-len(d.rest))
		d.rest = append(d.rest, samples[:n]...)
		d.heard += int64(n)
		samples = samples[n:]
		if len(d.rest) < speech.Frame {
			return nil
		}
		hits = d.frame(d.rest, hits)
		d.rest = d.rest[:0]
	}
	for len(samples) >= speech.Frame {
		d.heard += speech.Frame
		hits = d.frame(samples[:speech.Frame], hits)
		samples = samples[speech.Frame:]
	}
	d.rest = append(d.rest, samples...)
	d.heard += int64(len(samples))
	return hits
}

// Reset forgets what was heard so far, as after an answer was spoken. Positions go on.
func (d *Detector) Reset() {
	d.embed.copyFrom(d.quietRoom)
	d.rest = d.rest[:0]
	for k, s := range d.stacks {
		s.copyFrom(d.quietStacks[k])
	}
	for _, l := range d.words {
		l.score.reset()
		l.rest = 0
	}
}

// frame scores one frame, the last of the samples heard.
func (d *Detector) frame(pcm []int16, hits []speech.Hit) []speech.Hit {
	d.advance(d.embed, d.stacks, pcm)
	for _, l := range d.words {
		st := d.stacks[l.white]
		newest := st.x[stackDim-Dim:]
		score := l.word.score(l.score, newest, st)
		if l.rest > 0 {
			l.rest--
			continue
		}
		if score < l.word.threshold {
			continue
		}
		l.rest = refractory
		hits = append(hits, speech.Hit{
			Word:  l.word.name,
			Score: float64(score-l.word.threshold) / scoreUnit,
			End:   d.heard - speech.Frame/2,
		})
	}
	return hits
}

// scoreUnit scales a hit's score: one is about what separates a word's clear
// takes from the threshold.
const scoreUnit = 5

// score advances the word's scorer by one embedding and returns the sum of its z values.
func (w *Word) score(s *scorer, x []float32, st *stack) float32 {
	return w.near.z(-s.distance(x)) + w.logit.z(w.reg.logit(st.x))
}
