package server

import (
	"time"

	"homeagent/drivers/voice/engine/wire"
	"homeagent/drivers/voice/onnx"
)

// The thresholds of speech and of its end, as Silero's authors use them, and
// how many steps of 32 ms make speech of a noise.
const (
	speechOn  = 0.5
	speechOff = 0.35
	leastRun  = 3
)

// rate is the samples a second of the voice path.
const rate = 16000

// judge gives the probability of speech in the next step of sound.
type judge interface {
	Probability(step []int16) (float64, error)
	Close() error
}

var _ judge = (*onnx.Stream)(nil)

// endpoint finds where speech starts and ends in a stream of sound.
type endpoint struct {
	judge    judge
	trailing int64 // samples of silence that end speech
	rest     []int16
	pos      int64 // samples judged
	run      int   // steps of speech since the last silence, until started
	first    int64 // start of that run
	quiet    int64 // samples of silence since the last speech
	found    wire.Speech
}

// newEndpoint begins at silence, or in the middle of what an earlier process
// had found.
func newEndpoint(j judge, trailing time.Duration, from *wire.Speech) *endpoint {
	if trailing <= 0 {
		trailing = 500 * time.Millisecond
	}
	e := &endpoint{judge: j, trailing: int64(trailing.Seconds() * rate)}
	if from != nil {
		e.found, e.pos = *from, from.Heard
	}
	return e
}

// feed takes any number of samples and gives what is known now.
func (e *endpoint) feed(samples []int16) (wire.Speech, error) {
	e.found.Heard += int64(len(samples))
	e.rest = append(e.rest, samples...)
	used := 0
	for len(e.rest)-used >= onnx.Step && !e.found.Ended {
		p, err := e.judge.Probability(e.rest[used : used+onnx.Step])
		if err != nil {
			return e.found, err
		}
		used += onnx.Step
		e.step(p)
	}
	e.rest = append(e.rest[:0], e.rest[used:]...)
	if e.found.Ended {
		e.rest = nil
	}
	return e.found, nil
}

// step takes the judgement of one step.
func (e *endpoint) step(p float64) {
	from := e.pos
	e.pos += onnx.Step
	switch {
	case p >= speechOn:
		if e.run == 0 {
			e.first = from
		}
		e.run++
		e.quiet = 0
		if !e.found.Started && e.run >= leastRun {
			e.found.Started, e.found.Start = true, e.first
		}
		if e.found.Started {
			e.found.End = e.pos
		}
	case p < speechOff || e.quiet > 0:
		// Between the thresholds it stays what it was.
		e.quiet += onnx.Step
		if !e.found.Started && e.quiet >= 2*onnx.Step {
			e.run = 0
		}
		if e.found.Started && e.quiet >= e.trailing {
			e.found.Ended = true
		}
	}
}

// How much silence is left around speech for the recognizers, in samples.
const (
	leadIn  = rate * 4 / 10
	leadOut = rate * 3 / 10
)

// trim cuts speech out of sound; nil means that there is none.
func trim(j judge, sound []int16) ([]int16, error) {
	first, last := -1, -1
	for at := 0; at+onnx.Step <= len(sound); at += onnx.Step {
		p, err := j.Probability(sound[at : at+onnx.Step])
		if err != nil {
			return nil, err
		}
		if p >= speechOn {
			if first < 0 {
				first = at
			}
			last = at + onnx.Step
		}
	}
	if first < 0 {
		return nil, nil
	}
	return sound[max(0, first-leadIn):min(len(sound), last+leadOut)], nil
}
