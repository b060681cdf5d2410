package offline

import (
	"context"
	"time"
	"unicode"
	"unicode/utf8"

	"homeagent/agent/home"
	"homeagent/agent/intent"
	"homeagent/agent/provider"
)

// Name is the provider's name.
const Name = "offline"

// Options is what the provider is made of. Only Intents is required.
type Options struct {
	Intents *intent.Set
	// Home names rooms and devices; nil is the intents' own.
	Home *home.Home
	// Now is the clock; its location is that of the answers. Nil is time.Now.
	Now func() time.Time
	// Status tells how the box does, in "zh" or "en", one or two sentences.
	// Nil, or an empty text, gives a plain sentence.
	Status func(lang string) string
	// Unreachable tells, in "zh" or "en", why a language model that is
	// configured did not answer; "" where none is configured or all is well.
	Unreachable func(lang string) string
	// Facts takes a message apart that tells something of the household; none
	// where it asks or tells nothing. Nil understands no such message.
	Facts func(msg provider.Message, lang string) []Fact
}

// Fact is a fact as memory_commit takes it.
type Fact struct {
	Subject  string `json:"subject"`
	Relation string `json:"relation"`
	Object   string `json:"object"`
}

// Provider answers by intents. It is safe for concurrent use.
type Provider struct {
	opt Options
}

var _ provider.Provider = (*Provider)(nil)

// New makes a provider; it has no effect beyond that.
func New(opt Options) *Provider {
	if opt.Home == nil {
		opt.Home = opt.Intents.Home()
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Provider{opt: opt}
}

// Name returns Name.
func (p *Provider) Name() string { return Name }

// Chat is ChatStream without the pieces.
func (p *Provider) Chat(ctx context.Context, req provider.Request) (provider.Response, error) {
	return p.ChatStream(ctx, req, func(provider.Chunk) error { return nil })
}

// ChatStream answers and streams the answer by words. The only errors are of
// kind Canceled: ctx ended, or emit failed.
func (p *Provider) ChatStream(ctx context.Context, req provider.Request, emit func(provider.Chunk) error) (provider.Response, error) {
	if err := ctx.Err(); err != nil {
		return provider.Response{}, canceled(err)
	}
	res := p.think(req)
	res.Provider, res.Model = Name, "intents"
	for rest := res.Text; rest != ""; {
		if err := ctx.Err(); err != nil {
			return provider.Response{}, canceled(err)
		}
		n := piece(rest)
		if err := emit(provider.Chunk{Text: rest[:n]}); err != nil {
			return provider.Response{}, canceled(err)
		}
		rest = rest[n:]
	}
	return res, nil
}

func canceled(err error) error {
	return &provider.Error{Provider: Name, Kind: provider.Canceled, Err: err}
}

// piece is the length of the first word of s with what follows it up to the
// next one; a Han character is a word.
func piece(s string) int {
	inWord := false
	for i, r := range s {
		switch word := unicode.IsLetter(r) || unicode.IsDigit(r); {
		case i == 0:
			inWord = word
		case word && (!inWord || unicode.Is(unicode.Han, r)):
			return i
		case !word:
			inWord = false
		}
		if unicode.Is(unicode.Han, r) {
			inWord = false
		}
		if i > 200 { // no word is that long
			return i + utf8.RuneLen(r)
		}
	}
	return len(s)
}
