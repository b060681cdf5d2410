package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// inputKey is the context key of the input that a turn belongs to.
type inputKey struct{}

// WithInput returns a context that carries the input of a turn. The mind puts
// it into the context of every tool handler and stage handler, and API.Tool
// puts in the input it was given, so that a handler can learn who asked and
// where the answer goes. A context made without it simply has no input.
func WithInput(ctx context.Context, in Input) context.Context {
	return context.WithValue(ctx, inputKey{}, in)
}

// InputFrom returns the input that the running call belongs to. The second
// value is false outside a turn; a handler then answers as if nobody had asked.
// A timer uses it to ring on the channel that set it.
func InputFrom(ctx context.Context) (Input, bool) {
	in, ok := ctx.Value(inputKey{}).(Input)
	return in, ok
}

// AskerLang is the language of whoever asked for the running call: what the
// input says, else what its text is written in, else "en".
func AskerLang(ctx context.Context) string {
	in, _ := InputFrom(ctx)
	if in.Lang != "" {
		return in.Lang
	}
	if l := LangOf(in.Payload); l != "" {
		return l
	}
	return "en"
}

// DecodeArgs decodes the arguments of a call into a struct and refuses fields
// that it does not have. No arguments at all are an empty object.
func DecodeArgs(args json.RawMessage, dst any) error {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	if err := dec.Decode(dst); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	return nil
}
