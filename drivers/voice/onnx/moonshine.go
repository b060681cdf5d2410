package onnx

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// The tokens that begin and end a text, and how many a second of sound can
// carry: a model that runs on repeats itself.
const (
	startToken      = 1
	endToken        = 2
	tokensPerSecond = 6
	leastTokens     = 8
)

// The shape of Moonshine tiny.
const (
	layers  = 6
	heads   = 8
	headDim = 36
)

// MaxSamples bounds one utterance, since the encoder's memory grows with its
// square: 60 s at 16 kHz.
const MaxSamples = 60 * 16000

// minSamples is the least the encoder's convolutions take, rounded up: 0.1 s.
const minSamples = 1600

// Moonshine is the loaded English recognizer.
type Moonshine struct {
	enc, dec *ort.DynamicAdvancedSession
	in, out  []string
	tok      *tokenizer
	busy     chan struct{} // holds one value while an utterance is transcribed
}

// NewMoonshine loads encoder_model.onnx, decoder_model_merged.onnx and
// tokenizer.json from a folder.
func (r *Runtime) NewMoonshine(dir string) (*Moonshine, error) {
	tok, err := readTokenizer(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		return nil, err
	}
	m := &Moonshine{tok: tok, busy: make(chan struct{}, 1)}
	m.in = []string{"input_ids", "encoder_hidden_states"}
	m.out = []string{"logits"}
	for l := range layers {
		for _, side := range []string{"decoder", "encoder"} {
			for _, kv := range []string{"key", "value"} {
				name := strconv.Itoa(l) + "." + side + "." + kv
				m.in = append(m.in, pastPrefix+name)
				m.out = append(m.out, presentPrefix+name)
			}
		}
	}
	m.in = append(m.in, "use_cache_branch")
	// Half of the time is the decoder's; the two load side by side.
	var loading sync.WaitGroup
	var encErr, decErr error
	loading.Go(func() {
		m.enc, encErr = r.session(filepath.Join(dir, "encoder_model.onnx"), []string{"input_values"}, []string{"last_hidden_state"}, r.threads)
	})
	m.dec, decErr = r.session(filepath.Join(dir, "decoder_model_merged.onnx"), m.in, m.out, r.threads)
	loading.Wait()
	if err := errors.Join(encErr, decErr); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

const (
	pastPrefix    = "past_key_values."
	presentPrefix = "present."
)

// Close frees the model.
func (m *Moonshine) Close() error {
	var errs []error
	for _, s := range []*ort.DynamicAdvancedSession{m.enc, m.dec} {
		if s != nil {
			errs = append(errs, s.Destroy())
		}
	}
	return errors.Join(errs...)
}

// Transcribe writes down English speech, with capitals and punctuation; ""
// where it understands nothing. The sound should begin about 0.4 s before the
// speech and end 0.3 s after it, and last at most MaxSamples. ctx is looked at
// between tokens.
func (m *Moonshine) Transcribe(ctx context.Context, audio []int16) (text string, err error) {
	if len(audio) > MaxSamples {
		return "", fmt.Errorf("transcribe: %d samples are more than %d", len(audio), MaxSamples)
	}
	select {
	case m.busy <- struct{}{}:
		defer func() { <-m.busy }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("transcribe: %w", err)
		}
	}()
	hidden, err := m.encode(audio)
	if err != nil {
		return "", err
	}
	defer hidden.Destroy()
	c, err := newCache(m)
	if err != nil {
		return "", err
	}
	defer c.destroy()
	limit := max(leastTokens, len(audio)*tokensPerSecond/16000)
	ids := make([]int64, 0, limit)
	for last := int64(startToken); len(ids) < limit; {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		last, err = c.step(hidden, last, len(ids) > 0)
		if err != nil {
			return "", err
		}
		if last == endToken {
			break
		}
		ids = append(ids, last)
	}
	return m.tok.decode(ids), nil
}

// encode runs the encoder; its output belongs to the caller.
func (m *Moonshine) encode(audio []int16) (ort.Value, error) {
	wave := make([]float32, max(len(audio), minSamples))
	for i, x := range audio {
		wave[i] = float32(x) / 32768
	}
	in, err := ort.NewTensor(ort.NewShape(1, int64(len(wave))), wave)
	if err != nil {
		return nil, err
	}
	defer in.Destroy()
	out := []ort.Value{nil}
	if err := m.enc.Run([]ort.Value{in}, out); err != nil {
		return nil, err
	}
	return out[0], nil
}

// cache holds what the decoder remembers of one utterance: keys and values,
// by the name of the input that takes them.
type cache struct {
	m    *Moonshine
	past map[string]ort.Value
}

// newCache begins empty. The model has no use for the first step's cache but
// wants tensors; a dimension of zero is not allowed, so they hold one zero row.
func newCache(m *Moonshine) (*cache, error) {
	c := &cache{m: m, past: make(map[string]ort.Value, 4*layers)}
	for _, name := range m.in {
		if !strings.HasPrefix(name, pastPrefix) {
			continue
		}
		t, err := ort.NewEmptyTensor[float32](ort.NewShape(1, heads, 1, headDim))
		if err != nil {
			c.destroy()
			return nil, err
		}
		c.past[name] = t
	}
	return c, nil
}

func (c *cache) destroy() {
	for _, v := range c.past {
		v.Destroy()
	}
}

// step gives the most likely next token after last. The encoder's keys and
// values come out of the first step and stay; later steps give dummies for them.
func (c *cache) step(hidden ort.Value, last int64, cached bool) (int64, error) {
	id, err := ort.NewTensor(ort.NewShape(1, 1), []int64{last})
	if err != nil {
		return 0, err
	}
	defer id.Destroy()
	flag := []byte{0}
	if cached {
		flag[0] = 1
	}
	branch, err := ort.NewCustomDataTensor(ort.NewShape(1), flag, ort.TensorElementDataTypeBool)
	if err != nil {
		return 0, err
	}
	defer branch.Destroy()
	in := make([]ort.Value, len(c.m.in))
	for i, name := range c.m.in {
		switch name {
		case "input_ids":
			in[i] = id
		case "encoder_hidden_states":
			in[i] = hidden
		case "use_cache_branch":
			in[i] = branch
		default:
			in[i] = c.past[name]
		}
	}
	out := make([]ort.Value, len(c.m.out))
	if err := c.m.dec.Run(in, out); err != nil {
		return 0, err
	}
	next, err := best(out[0])
	for i, name := range c.m.out {
		v := out[i]
		if v == nil {
			continue
		}
		key, isCache := strings.CutPrefix(name, presentPrefix)
		if !isCache || cached && strings.Contains(key, ".encoder.") {
			v.Destroy()
			continue
		}
		c.past[pastPrefix+key].Destroy()
		c.past[pastPrefix+key] = v
	}
	return next, err
}

// best is the index of the greatest score.
func best(logits ort.Value) (int64, error) {
	t, ok := logits.(*ort.Tensor[float32])
	if !ok || len(t.GetData()) == 0 {
		return 0, errors.New("another kind of model: it gives no scores")
	}
	most := 0
	data := t.GetData()
	for i, x := range data {
		if x > data[most] {
			most = i
		}
	}
	return int64(most), nil
}
