package engine

import (
	"context"
	"errors"
	"fmt"

	"homeagent/drivers/voice/engine/wire"
	"homeagent/drivers/voice/speech"
)

// recognizer is one of the two that a Client gives.
type recognizer struct {
	c       *Client
	name    string
	grammar bool // looks at the hint's grammar
}

var _ speech.Recognizer = (*recognizer)(nil)

// English understands commands and free speech: with Hint.Grammar, a sentence
// of it that Moonshine's own text agrees with is given as Transcript.Command
// with exactly the grammar's words; everything else is Moonshine's text. It
// trims silence itself and gives an empty text where nobody spoke.
func (c *Client) English() speech.Recognizer {
	return &recognizer{c: c, name: "local-en", grammar: true}
}

// Free understands free English only; a grammar in the hint is not looked at.
func (c *Client) Free() speech.Recognizer { return &recognizer{c: c, name: "moonshine"} }

// Name is how config and status call it.
func (r *recognizer) Name() string { return r.name }

// Langs is English only.
func (r *recognizer) Langs() []string { return []string{"en"} }

// Recognize writes down at most 60 s of sound. A crash is tried again once; the
// second one is ErrCrashed. What is not installed wraps speech.ErrMissing and
// names the command that brings it. A grammar with a word that has no
// pronunciation is not used, and that is logged once.
func (r *recognizer) Recognize(ctx context.Context, audio []int16, hint speech.Hint) (speech.Transcript, error) {
	if most := wire.MaxSound / 2; len(audio) > most {
		return speech.Transcript{}, fmt.Errorf("recognize: %d s of sound are more than %d s", len(audio)/16000, most/16000)
	}
	req := wire.Request{Op: wire.Recognize}
	if r.grammar && hint.Grammar != "" {
		req.Grammar = hint.Grammar
		r.c.mu.Lock()
		r.c.grammar = hint.Grammar
		r.c.mu.Unlock()
	}
	rep, err := r.c.ask(ctx, req, audio)
	if errors.Is(err, ErrCrashed) {
		r.c.log.Warn("speech engines: trying again", "err", err)
		rep, err = r.c.ask(ctx, req, audio)
	}
	if err != nil {
		return speech.Transcript{}, err
	}
	return speech.Transcript{Text: rep.Text, Lang: "en", Engine: rep.Engine, Command: rep.Command}, nil
}
