package onnx

import (
	"errors"
	"fmt"

	ort "github.com/yalue/onnxruntime_go"
)

// Step is the number of samples that Silero judges at once: 32 ms.
const Step = 512

// contextSamples is how much of the sound before each step stands in front of it.
const contextSamples = 64

// Silero is the loaded voice activity model.
type Silero struct {
	s *ort.DynamicAdvancedSession
}

// NewSilero loads silero_vad_v5 or v6.
func (r *Runtime) NewSilero(file string) (*Silero, error) {
	s, err := r.session(file, []string{"input", "state", "sr"}, []string{"output", "stateN"}, 1)
	if err != nil {
		return nil, err
	}
	return &Silero{s: s}, nil
}

// Close frees the model.
func (s *Silero) Close() error { return s.s.Destroy() }

// Stream follows one stretch of sound. It is used by one goroutine and must be
// closed before its model.
type Stream struct {
	model           *Silero
	in, state, next *ort.Tensor[float32]
	rate            *ort.Tensor[int64]
	out             *ort.Tensor[float32]
}

// NewStream begins at silence.
func (s *Silero) NewStream() (*Stream, error) {
	st := &Stream{model: s}
	var errs [5]error
	st.in, errs[0] = ort.NewEmptyTensor[float32](ort.NewShape(1, contextSamples+Step))
	st.state, errs[1] = ort.NewEmptyTensor[float32](ort.NewShape(2, 1, 128))
	st.next, errs[2] = ort.NewEmptyTensor[float32](ort.NewShape(2, 1, 128))
	st.rate, errs[3] = ort.NewTensor(ort.NewShape(1), []int64{16000})
	st.out, errs[4] = ort.NewEmptyTensor[float32](ort.NewShape(1, 1))
	if err := errors.Join(errs[:]...); err != nil {
		st.Close()
		return nil, fmt.Errorf("voice activity: %w", err)
	}
	return st, nil
}

// Probability judges the next Step samples: 0 no speech, 1 speech.
func (st *Stream) Probability(step []int16) (float64, error) {
	if len(step) != Step {
		return 0, fmt.Errorf("voice activity: a step of %d samples instead of %d", len(step), Step)
	}
	in := st.in.GetData()
	copy(in, in[Step:])
	for i, x := range step {
		in[contextSamples+i] = float32(x) / 32768
	}
	if err := st.model.s.Run([]ort.Value{st.in, st.state, st.rate}, []ort.Value{st.out, st.next}); err != nil {
		return 0, fmt.Errorf("voice activity: %w", err)
	}
	st.state, st.next = st.next, st.state
	return float64(st.out.GetData()[0]), nil
}

// Close frees the stream; twice is harmless.
func (st *Stream) Close() error {
	var errs []error
	for _, t := range []**ort.Tensor[float32]{&st.in, &st.state, &st.next, &st.out} {
		if *t != nil {
			errs = append(errs, (*t).Destroy())
			*t = nil
		}
	}
	if st.rate != nil {
		errs = append(errs, st.rate.Destroy())
		st.rate = nil
	}
	return errors.Join(errs...)
}
