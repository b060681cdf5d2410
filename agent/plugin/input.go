package plugin

import "context"

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
