package voice

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/wake"
)

// localWake is the detector of drivers/voice/wake behind the Wake interface.
type localWake struct {
	models string

	mu    sync.Mutex
	model *wake.Model
}

var _ Wake = (*localWake)(nil)

// LocalWake hears wake words on this machine, with the weights in a models
// folder. They are read when they are first needed, and again after they were
// missing, so that they may be brought while the agent runs.
func LocalWake(models string) Wake { return &localWake{models: models} }

// errNoWord is a house in which no word was enrolled yet.
type errNoWord struct{}

func (errNoWord) Error() string { return "no wake word is enrolled" }

// In implements sayer.
func (errNoWord) In(lang string) string {
	return phrase{"还没有登记唤醒词", "no wake word is enrolled yet"}.in(lang)
}

// takesError is a word that could not be learnt because of its takes.
type takesError struct{ *wake.TakesError }

// In implements sayer.
func (e takesError) In(lang string) string { return e.Report.Text(lang) }

// Unwrap returns the cause.
func (e takesError) Unwrap() error { return e.TakesError }

func (l *localWake) load() (*wake.Model, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.model == nil {
		m, err := wake.LoadModel(l.models)
		if err != nil {
			return nil, err
		}
		l.model = m
	}
	return l.model, nil
}

// installed reports whether the weights are there, without reading them.
func (l *localWake) installed() bool {
	_, err := os.Stat(filepath.Join(l.models, "wake", wake.EmbeddingFile))
	return err == nil
}

// Open implements Wake. A stored word that cannot be read is an error only
// when no other is left.
func (l *localWake) Open(words []Word) (speech.Detector, error) {
	if len(words) == 0 && l.installed() {
		return nil, errNoWord{} // a box without a word does not hold the weights
	}
	m, err := l.load() // what is missing is told before that no word is there
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errNoWord{}
	}
	var good []*wake.Word
	var errs []error
	for _, w := range words {
		word, err := wake.Unmarshal(w.Data)
		if err == nil {
			_, err = wake.NewDetector(m, word)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", w.Name, err))
			continue
		}
		good = append(good, word)
	}
	if len(good) == 0 {
		return nil, errors.Join(errs...)
	}
	return wake.NewDetector(m, good...)
}

// Learn implements Wake. The bank of other people's speech is read for it and
// forgotten.
func (l *localWake) Learn(ctx context.Context, name string, takes [][]int16) ([]byte, func(string) string, error) {
	m, err := l.load()
	if err != nil {
		return nil, nil, err
	}
	bank, err := wake.LoadBank(l.models)
	if err != nil {
		return nil, nil, err
	}
	word, report, err := wake.Enrol(ctx, m, bank, name, takes)
	var bad *wake.TakesError
	if errors.As(err, &bad) {
		return nil, nil, takesError{bad}
	}
	if err != nil {
		return nil, nil, err
	}
	return word.Marshal(), report.Text, nil
}

// BuiltIn implements Wake: there is no word of the house's own yet.
func (l *localWake) BuiltIn() string { return "" }
