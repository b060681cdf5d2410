package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"

	"homeagent/drivers/voice/onnx"
	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/sphinx"
)

// Options says where the engines are.
type Options struct {
	// ModelsDir is the models folder, see tools/models.
	ModelsDir string
	// Threads is how many cores Moonshine may use, 1 to 8; 0 is half of the
	// machine's, at least 1 and at most 2.
	Threads int
	// Sphinx says where PocketSphinx and its acoustic model are, Dict its
	// dictionary; empty fields are Debian's.
	Sphinx sphinx.Config
	Dict   string
	// Pronunciations adds words to the dictionary, see sphinx.OpenDict.
	Pronunciations map[string][]string
	// Small is for a machine that is short of memory: the engines are loaded and
	// asked one after the other instead of side by side, and one grammar is kept.
	Small bool
	// Words loads the dictionary of words; nil means that there is none.
	Words func() (Words, error)
	// Log may be nil.
	Log *slog.Logger
}

func (o Options) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

func (o Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return min(2, max(1, runtime.NumCPU()/2))
}

// maxDecoders is how many grammars stay loaded, some 12 MB each; smallDecoders
// on a machine that is short of memory.
const (
	maxDecoders   = 2
	smallDecoders = 1
)

func (o Options) decoders() int {
	if o.Small {
		return smallDecoders
	}
	return maxDecoders
}

// once loads something when it is first needed and keeps it; a failure is
// not kept, since what was missing may have been installed since.
type once[T any] struct {
	mu    sync.Mutex
	value T
	ok    bool
}

func (o *once[T]) get(load func() (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ok {
		v, err := load()
		if err != nil {
			return v, err
		}
		o.value, o.ok = v, true
	}
	return o.value, nil
}

// models is the real backend.
type models struct {
	opt    Options
	silero once[*onnx.Silero]
	moon   once[*onnx.Moonshine]
	dict   once[Words]

	mu       sync.Mutex // one sentence is decoded at a time
	decoders []decoder  // the last used one first
}

// decoder is a grammar that is loaded.
type decoder struct {
	grammar string
	*sphinx.Decoder
}

var _ backend = (*models)(nil)

func newModels(opt Options) *models { return &models{opt: opt} }

func (m *models) runtime() (*onnx.Runtime, error) {
	lib, err := onnx.Library(m.opt.ModelsDir)
	if err != nil {
		return nil, err
	}
	return onnx.Open(lib, m.opt.threads())
}

func (m *models) vad() (*onnx.Silero, error) {
	return m.silero.get(func() (*onnx.Silero, error) {
		rt, err := m.runtime()
		if err != nil {
			return nil, err
		}
		return rt.NewSilero(filepath.Join(m.opt.ModelsDir, "silero", "silero_vad_v6.onnx"))
	})
}

func (m *models) moonshine() (*onnx.Moonshine, error) {
	return m.moon.get(func() (*onnx.Moonshine, error) {
		rt, err := m.runtime()
		if err != nil {
			return nil, err
		}
		return rt.NewMoonshine(filepath.Join(m.opt.ModelsDir, "moonshine"))
	})
}

func (m *models) judge() (judge, error) {
	v, err := m.vad()
	if err != nil {
		return nil, err
	}
	return v.NewStream()
}

// warm loads the endpointer first, since sound is waiting for it.
func (m *models) warm(ctx context.Context, grammar string) (string, error) {
	if _, err := m.vad(); err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if m.opt.Small {
		if _, err := m.moonshine(); err != nil || ctx.Err() != nil {
			return "", errors.Join(err, ctx.Err())
		}
		return m.prepare(grammar), nil
	}
	note := make(chan string, 1)
	go func() { note <- m.prepare(grammar) }()
	_, err := m.moonshine()
	return <-note, err
}

// prepare loads a grammar ahead; what goes wrong is only noted, since
// recognition works without it.
func (m *models) prepare(grammar string) string {
	if grammar == "" {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.decoder(grammar); err != nil {
		return err.Error()
	}
	return ""
}

// decoder gives the loaded grammar; m.mu is held.
func (m *models) decoder(grammar string) (*sphinx.Decoder, error) {
	for i, d := range m.decoders {
		if d.grammar == grammar {
			copy(m.decoders[1:i+1], m.decoders[:i])
			m.decoders[0] = d
			return d.Decoder, nil
		}
	}
	dict, err := sphinx.OpenDict(m.opt.Dict, m.opt.Pronunciations)
	if err != nil {
		return nil, err
	}
	// The old one goes first where two would be too much.
	if m.opt.Small {
		m.drop()
	}
	d, err := sphinx.New(m.opt.Sphinx, dict, grammar)
	if err != nil {
		return nil, err
	}
	m.drop()
	m.decoders = append([]decoder{{grammar, d}}, m.decoders...)
	return d, nil
}

// drop makes room for one more decoder; m.mu is held.
func (m *models) drop() {
	if last := m.opt.decoders() - 1; len(m.decoders) > last {
		m.decoders[last].Close()
		m.decoders = m.decoders[:last]
	}
}

// sentence is the grammar's best guess at sound that holds only speech.
func (m *models) sentence(sound []int16, grammar string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, err := m.decoder(grammar)
	if err != nil {
		return "", err
	}
	return d.Decode(sound)
}

// recognize is described in the package's comment.
func (m *models) recognize(ctx context.Context, sound []int16, grammar string) (text, error) {
	j, err := m.judge()
	if err != nil {
		return text{}, err
	}
	defer j.Close()
	sound, err = trim(j, sound)
	if err != nil || sound == nil {
		return text{}, err
	}
	moon, err := m.moonshine()
	if err != nil {
		return text{}, err
	}
	ask := sync.OnceValues(func() (string, error) {
		if grammar == "" {
			return "", nil
		}
		return m.sentence(sound, grammar)
	})
	if !m.opt.Small {
		go ask()
		defer ask() // it has ended when we return
	}
	free, err := moon.Transcribe(ctx, sound)
	if err != nil {
		return text{}, err
	}
	guess, gerr := ask()
	t := text{words: free, engine: "moonshine"}
	switch {
	case gerr != nil:
		t.note = gerr.Error()
		if !errors.Is(gerr, speech.ErrMissing) {
			t.note = fmt.Sprintf("the grammar cannot be used: %v", gerr)
		}
	case guess != "" && Similarity(guess, free) >= agree && !contradict(guess, free):
		t = text{words: guess, engine: "pocketsphinx", command: true}
	}
	return t, nil
}

func (m *models) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for _, d := range m.decoders {
		errs = append(errs, d.Close())
	}
	m.decoders = nil
	m.silero.mu.Lock()
	if m.silero.ok {
		errs = append(errs, m.silero.value.Close())
		m.silero.ok = false
	}
	m.silero.mu.Unlock()
	m.moon.mu.Lock()
	if m.moon.ok {
		errs = append(errs, m.moon.value.Close())
		m.moon.ok = false
	}
	m.moon.mu.Unlock()
	m.dict.mu.Lock()
	if m.dict.ok {
		errs = append(errs, m.dict.value.Close())
		m.dict.ok = false
	}
	m.dict.mu.Unlock()
	return errors.Join(errs...)
}
