package voice

import (
	"context"
	"math"
	"time"

	"homeagent/agent/pcm"
	"homeagent/drivers/voice/speech"
)

// energyStep is the length of one step of the loudness endpointer, 20 ms.
const energyStep = 320

// energy is the endpointer of last resort: speech is what is louder than the
// room. It needs no model and serves while the engine that has one is missing
// or fails; noise that swells and fades deceives it.
type energy struct {
	trailing int64
	rest     []int16
	pos      int64
	floor    float64 // loudness of the room
	loud     int     // steps of the last eight that were speech, as bits
	last     int64   // end of the last step of speech
	s        speech.Speech
}

var _ speech.Endpointer = (*energy)(nil)

// newEnergy opens one.
func newEnergy(cfg speech.EndpointConfig) *energy {
	t := cfg.Trailing
	if t <= 0 {
		t = 500 * time.Millisecond
	}
	return &energy{trailing: int64(pcm.Voice.Samples(t)), floor: -1}
}

// energyFloor is the quietest that counts as speech, about -46 dBFS.
const energyFloor = 160

// Accept implements speech.Endpointer.
func (e *energy) Accept(_ context.Context, samples []int16) (speech.Speech, error) {
	e.rest = append(e.rest, samples...)
	for len(e.rest) >= energyStep && !e.s.Ended {
		e.step(rms(e.rest[:energyStep]))
		e.rest = e.rest[energyStep:]
	}
	if len(e.rest) == 0 || e.s.Ended {
		e.rest = nil
	}
	return e.s, nil
}

func (e *energy) step(level float64) {
	if e.floor < 0 {
		// The first step may be speech already: a command in the same breath.
		e.floor = min(level, energyFloor/3)
	}
	loud := level > max(energyFloor, 3*e.floor)
	if level < e.floor {
		e.floor = level
	} else {
		// The room's loudness is followed slowly, slower still during speech.
		rate := 0.02
		if loud {
			rate = 0.002
		}
		e.floor += rate * (level - e.floor)
	}
	at := e.pos
	e.pos += energyStep
	e.loud = e.loud << 1 & 0xff
	if loud {
		e.loud |= 1
		e.last = e.pos
	}
	if !e.s.Started && ones(e.loud) >= 3 {
		e.s.Started = true
		e.s.Start = max(0, at-2*energyStep)
	}
	if e.s.Started && e.pos-e.last >= e.trailing {
		e.s.Ended = true
		e.s.End = e.last
	}
}

// Close implements speech.Endpointer.
func (e *energy) Close() error { return nil }

func ones(b int) int {
	n := 0
	for ; b > 0; b &= b - 1 {
		n++
	}
	return n
}

// rms is the root of the mean square.
func rms(s []int16) float64 {
	if len(s) == 0 {
		return 0
	}
	var sum float64
	for _, v := range s {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(s)))
}
