package chain

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"homeagent/agent/provider"
)

// Options are the waits of a chain. The zero value of each is its default.
type Options struct {
	// Silence is how long no byte may come before the chain moves on; 30 s.
	Silence time.Duration
	// Longest is how long a provider may stay without content while signs of
	// life keep coming; 10 min.
	Longest time.Duration
	// Still is when the user is told that the thinking goes on; 10 s.
	Still time.Duration
	// Tries is how often one provider is asked in all; 3.
	Tries int
	// LongestPause is the longest Retry-After that is waited for rather than
	// moving on; 8 s.
	LongestPause time.Duration
	Log          *slog.Logger
}

func (o Options) fill() Options {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&o.Silence, 30*time.Second)
	set(&o.Longest, 10*time.Minute)
	set(&o.Still, 10*time.Second)
	set(&o.LongestPause, 8*time.Second)
	if o.Tries == 0 {
		o.Tries = 3
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Chain is the providers in order.
type Chain struct {
	opts  Options
	links []*link

	mu      sync.Mutex
	trouble *provider.Error // why the first provider did not give the last answer
}

type link struct {
	provider.Provider
	breaker breaker
}

var _ provider.Provider = (*Chain)(nil)

// New makes a chain of at least one provider.
func New(opts Options, providers ...provider.Provider) *Chain {
	c := &Chain{opts: opts.fill()}
	for _, p := range providers {
		c.links = append(c.links, &link{Provider: p})
	}
	return c
}

// Name lists the providers in order.
func (c *Chain) Name() string {
	names := make([]string, len(c.links))
	for i, l := range c.links {
		names[i] = l.Name()
	}
	return strings.Join(names, ", then ")
}

// Trouble is why a provider before the last had to be passed over in the last
// call, nil if none was. Of one that is left alone it has the kind Open, the
// failure behind it as its cause, and in RetryAfter when it is asked again.
func (c *Chain) Trouble() *provider.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trouble
}

func (c *Chain) setTrouble(e *provider.Error) {
	c.mu.Lock()
	c.trouble = e
	c.mu.Unlock()
}

// Chat is ChatStream without the pieces.
func (c *Chain) Chat(ctx context.Context, req provider.Request) (provider.Response, error) {
	return c.ChatStream(ctx, req, func(provider.Chunk) error { return nil })
}

// ChatStream asks the providers in order until one answers. The error, if all
// fail, is the last one's.
func (c *Chain) ChatStream(ctx context.Context, req provider.Request, emit func(provider.Chunk) error) (provider.Response, error) {
	var last *provider.Error
	said := ""
	out := &output{emit: emit}
	for i, l := range c.links {
		if last != nil {
			c.opts.Log.Warn("provider passed over", "provider", last.Provider, "kind", last.Kind, "next", l.Name())
			// What the open breaker stands for was said when it opened, and one
			// sentence says it for several providers that fail alike.
			notice := Why(last, req.Lang)
			if last.Kind == provider.Open || notice == said {
				notice = ""
			} else {
				said = notice
			}
			if err := out.restart(notice); err != nil {
				return provider.Response{}, canceled(l, err)
			}
		}
		res, err := c.ask(ctx, l, req, out)
		if err == nil {
			if i == 0 {
				c.setTrouble(nil)
			}
			return res, nil
		}
		last = asError(l, err)
		if last.Kind == provider.Canceled {
			return provider.Response{}, last
		}
		if i == 0 || i < len(c.links)-1 {
			c.setTrouble(last)
		}
	}
	if last == nil {
		last = &provider.Error{Provider: "chain", Kind: provider.Open, Message: "no provider is configured"}
	}
	return provider.Response{}, last
}

// ask tries one provider, again where that can help.
func (c *Chain) ask(ctx context.Context, l *link, req provider.Request, out *output) (provider.Response, error) {
	for try := 1; ; try++ {
		if !l.breaker.allow(time.Now()) {
			return provider.Response{}, l.breaker.open(l.Name(), time.Now())
		}
		res, err := c.attempt(ctx, l, req, out)
		if err == nil {
			l.breaker.good()
			return res, nil
		}
		e := asError(l, err)
		if e.Kind == provider.Canceled {
			return provider.Response{}, e
		}
		if e.Kind != provider.Invalid { // a bad request says nothing about the provider
			l.breaker.bad(time.Now(), e)
		}
		pause, again := c.pause(e, try)
		if !again {
			return provider.Response{}, e
		}
		if err := out.restart(""); err != nil {
			return provider.Response{}, canceled(l, err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return provider.Response{}, canceled(l, context.Cause(ctx))
		case <-timer.C:
		}
	}
}

// pause decides whether to ask the same provider again, and after what wait.
func (c *Chain) pause(e *provider.Error, try int) (time.Duration, bool) {
	if e.Kind.Final() || e.Kind == provider.Silent || e.Kind == provider.Open || try >= c.opts.Tries {
		return 0, false
	}
	if e.Kind == provider.Malformed && try >= 2 {
		return 0, false
	}
	if e.RetryAfter > c.opts.LongestPause {
		return 0, false
	}
	// Exponential backoff with full jitter on the upper half.
	base := min(400*time.Millisecond<<(try-1), 5*time.Second)
	wait := base/2 + rand.N(base/2+1)
	return max(wait, e.RetryAfter), true
}

// errSilent ends an attempt that gives no sign of life, or no content for too long.
var errSilent = errors.New("nothing came within the time given")

// attempt makes one call and watches its signs of life. The provider runs in a
// goroutine of its own, so that one that ignores its context cannot hold up
// the turn: its late pieces are dropped.
func (c *Chain) attempt(ctx context.Context, l *link, req provider.Request, out *output) (provider.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type result struct {
		res provider.Response
		err error
	}
	pieces := make(chan provider.Chunk)
	ended := make(chan struct{})
	done := make(chan result, 1)
	defer close(ended)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- result{err: &provider.Error{Provider: l.Name(), Kind: provider.Malformed, Message: "the provider failed inside"}}
			}
		}()
		res, err := l.ChatStream(ctx, req, func(ch provider.Chunk) error {
			select {
			case pieces <- ch:
				return nil
			case <-ended:
				return context.Canceled
			}
		})
		done <- result{res, err}
	}()
	silence := time.NewTimer(c.opts.Silence)
	defer silence.Stop()
	still := time.NewTimer(c.opts.Still)
	defer still.Stop()
	longest := time.NewTimer(c.opts.Longest)
	defer longest.Stop()
	silent := func() (provider.Response, error) {
		cancel(errSilent)
		return provider.Response{}, &provider.Error{Provider: l.Name(), Kind: provider.Silent, Err: errSilent}
	}
	for {
		select {
		case ch := <-pieces:
			silence.Reset(c.opts.Silence)
			if ch.Text != "" || ch.Reasoning != "" {
				still.Stop()
				longest.Reset(c.opts.Longest)
			}
			if err := out.piece(ch); err != nil {
				cancel(err)
				return provider.Response{}, canceled(l, err)
			}
		case <-still.C:
			if err := out.emit(provider.Chunk{Notice: stillThinking(req.Lang)}); err != nil {
				cancel(err)
				return provider.Response{}, canceled(l, err)
			}
		case <-silence.C:
			return silent()
		case <-longest.C:
			return silent()
		case <-ctx.Done():
			return provider.Response{}, canceled(l, context.Cause(ctx))
		case r := <-done:
			if r.err != nil && ctx.Err() != nil {
				return provider.Response{}, canceled(l, context.Cause(ctx))
			}
			return r.res, r.err
		}
	}
}

// output remembers whether anything was streamed that a new attempt must take back.
type output struct {
	emit  func(provider.Chunk) error
	dirty bool
}

func (o *output) piece(ch provider.Chunk) error {
	o.dirty = o.dirty || ch.Text != "" || ch.Reasoning != ""
	return o.emit(ch)
}

// restart takes back what was streamed and says why, where there is either.
func (o *output) restart(notice string) error {
	if !o.dirty && notice == "" {
		return nil
	}
	ch := provider.Chunk{Restart: o.dirty, Notice: notice}
	o.dirty = false
	return o.emit(ch)
}

func asError(l *link, err error) *provider.Error {
	var e *provider.Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.Canceled) {
		return canceled(l, err)
	}
	return &provider.Error{Provider: l.Name(), Kind: provider.Malformed, Err: err}
}

func canceled(l *link, err error) *provider.Error {
	return &provider.Error{Provider: l.Name(), Kind: provider.Canceled, Err: err}
}
