package token

import "context"

// Word is a word of a text as it stands there, which terms are not.
type Word struct {
	Text string
	// Tag is its part of speech in the letters of the ICTCLAS scheme, as "n",
	// "v" or one of the names below; "" where it is not known.
	Tag string
	// Weight orders keywords, best first; 0 elsewhere.
	Weight float64
}

// Tags of names.
const (
	TagPerson = "nr" // people
	TagPlace  = "ns" // places
	TagOrg    = "nt" // organisations
	TagOther  = "nz" // brands, works and other names
)

// Tagger tells the part of speech of each word.
type Tagger interface {
	// Tag returns the words of text in their order, punctuation included or not.
	// An error means that another Tagger may be asked.
	Tag(ctx context.Context, text string) ([]Word, error)
}

// Keywords finds what a text is about.
type Keywords interface {
	// Keywords returns at most n different words of text, the best first.
	Keywords(ctx context.Context, text string, n int) ([]Word, error)
}

// Cutter is all that a dictionary gives.
type Cutter interface {
	Tagger
	Keywords
	// Cut returns the words of text in their order.
	Cut(ctx context.Context, text string) ([]string, error)
}

// Either is a Cutter that asks First, and Second where First has failed; only a
// context that has ended is not asked again. It is safe if both are.
type Either struct{ First, Second Cutter }

var _ Cutter = Either{}

// Tag implements Tagger.
func (e Either) Tag(ctx context.Context, text string) ([]Word, error) {
	return either(ctx, e, func(c Cutter) ([]Word, error) { return c.Tag(ctx, text) })
}

// Keywords implements Keywords.
func (e Either) Keywords(ctx context.Context, text string, n int) ([]Word, error) {
	return either(ctx, e, func(c Cutter) ([]Word, error) { return c.Keywords(ctx, text, n) })
}

// Cut implements Cutter.
func (e Either) Cut(ctx context.Context, text string) ([]string, error) {
	return either(ctx, e, func(c Cutter) ([]string, error) { return c.Cut(ctx, text) })
}

func either[T any](ctx context.Context, e Either, ask func(Cutter) (T, error)) (T, error) {
	out, err := ask(e.First)
	if err == nil || ctx.Err() != nil {
		return out, err
	}
	return ask(e.Second)
}
