package main

import (
	"context"
	"sync"

	"homeagent/drivers/voice"
	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/wake"
)

// waker joins the wake detector to the voice plugin. The model is read at the
// first need, so that a box without a wake word does not hold it.
type waker struct {
	dir   string
	model func() (*wake.Model, error)
}

var _ voice.Wake = (*waker)(nil)

func newWaker(models string) *waker {
	w := &waker{dir: models}
	var mu sync.Mutex
	var model *wake.Model
	w.model = func() (*wake.Model, error) { // an error is not kept: the models may come later
		mu.Lock()
		defer mu.Unlock()
		var err error
		if model == nil {
			model, err = wake.LoadModel(models)
		}
		return model, err
	}
	return w
}

// Open implements voice.Wake.
func (w *waker) Open(words []voice.Word) (speech.Detector, error) {
	m, err := w.model()
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, speech.ErrMissing
	}
	learnt := make([]*wake.Word, 0, len(words))
	for _, word := range words {
		l, err := wake.Unmarshal(word.Data)
		if err != nil {
			return nil, err
		}
		learnt = append(learnt, l)
	}
	return wake.NewDetector(m, learnt...)
}

// Learn implements voice.Wake.
func (w *waker) Learn(ctx context.Context, name string, takes [][]int16) ([]byte, error) {
	m, err := w.model()
	if err != nil {
		return nil, err
	}
	bank, err := wake.LoadBank(w.dir)
	if err != nil {
		return nil, err
	}
	word, _, err := wake.Enrol(ctx, m, bank, name, takes)
	if err != nil {
		return nil, learnError{err}
	}
	return word.Marshal(), nil
}

// BuiltIn implements voice.Wake: no word is heard before one is enrolled.
func (w *waker) BuiltIn() string { return "" }

// learnError tells a person what each take lacks.
type learnError struct{ error }

func (e learnError) Unwrap() error { return e.error }

// In is the judgement of the takes in the language.
func (e learnError) In(lang string) string {
	if t, ok := e.error.(*wake.TakesError); ok {
		return t.Report.Text(lang)
	}
	return e.Error()
}
