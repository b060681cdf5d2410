package chain

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/agent/provider"
)

// step is how a scripted provider behaves in one call.
type step struct {
	text    string // streamed and returned
	err     *provider.Error
	after   time.Duration // before anything comes
	beats   time.Duration // signs of life at this pace while waiting
	deaf    bool          // ignores its context
	panics  bool
	partial string // streamed before err
}

type scripted struct {
	name  string
	steps []step
	calls atomic.Int32
}

func (s *scripted) Name() string { return s.name }

func (s *scripted) Chat(ctx context.Context, req provider.Request) (provider.Response, error) {
	return s.ChatStream(ctx, req, func(provider.Chunk) error { return nil })
}

func (s *scripted) ChatStream(ctx context.Context, _ provider.Request, emit func(provider.Chunk) error) (provider.Response, error) {
	st := s.steps[min(int(s.calls.Add(1))-1, len(s.steps)-1)]
	if st.panics {
		panic("inside")
	}
	if st.deaf {
		<-time.After(st.after)
	} else {
		for waited := time.Duration(0); waited < st.after; {
			pace := st.after
			if st.beats > 0 {
				pace = st.beats
			}
			select {
			case <-time.After(pace):
			case <-ctx.Done():
				return provider.Response{}, &provider.Error{Provider: s.name, Kind: provider.Canceled, Err: ctx.Err()}
			}
			waited += pace
			if st.beats > 0 {
				if err := emit(provider.Chunk{}); err != nil {
					return provider.Response{}, err
				}
			}
		}
	}
	if st.partial != "" {
		emit(provider.Chunk{Text: st.partial})
	}
	if st.err != nil {
		st.err.Provider = s.name
		return provider.Response{}, st.err
	}
	if err := emit(provider.Chunk{Text: st.text}); err != nil {
		return provider.Response{}, err
	}
	return provider.Response{Provider: s.name, Text: st.text}, nil
}

func fails(k provider.Kind) step { return step{err: &provider.Error{Kind: k}} }

func TestChain(t *testing.T) {
	good := step{text: "hello"}
	tests := []struct {
		name    string
		first   []step
		text    string // of the answer; "offline" is the second provider's
		tries   int    // of the first provider
		min     time.Duration
		max     time.Duration
		notices []string
	}{
		{name: "answers", first: []step{good}, text: "hello", tries: 1},
		{name: "server error is retried", first: []step{fails(provider.Server), good}, text: "hello", tries: 2, min: 200 * time.Millisecond, max: time.Second},
		{name: "network error until the tries are used up", first: []step{fails(provider.Network)}, text: "offline", tries: 3, max: 3 * time.Second, notices: []string{"cannot be reached"}},
		{name: "wrong key is final", first: []step{fails(provider.Auth)}, text: "offline", tries: 1, notices: []string{"refuses the key"}},
		{name: "no credit is final", first: []step{fails(provider.Balance)}, text: "offline", tries: 1, notices: []string{"no credit"}},
		{name: "bad request is final", first: []step{fails(provider.Invalid)}, text: "offline", tries: 1, notices: []string{"refuses the request"}},
		{name: "garbage is tried once more", first: []step{fails(provider.Malformed)}, text: "offline", tries: 2, max: time.Second, notices: []string{"no sense"}},
		{name: "Retry-After is waited for", first: []step{{err: &provider.Error{Kind: provider.RateLimit, RetryAfter: 5 * time.Second}}, good}, text: "hello", tries: 2, min: 5 * time.Second, max: 6 * time.Second},
		{name: "a long Retry-After is not", first: []step{{err: &provider.Error{Kind: provider.RateLimit, RetryAfter: time.Minute}}}, text: "offline", tries: 1, notices: []string{"too many"}},
		{name: "silence", first: []step{{after: time.Hour}}, text: "offline", tries: 1, min: 30 * time.Second, max: 31 * time.Second, notices: []string{"Still thinking", "does not answer"}},
		{name: "silence of one that ignores its context", first: []step{{after: time.Hour, deaf: true}}, text: "offline", tries: 1, min: 30 * time.Second, max: 31 * time.Second, notices: []string{"Still thinking", "does not answer"}},
		{name: "keep-alives count as life", first: []step{{after: 5 * time.Minute, beats: 10 * time.Second, text: "late"}}, text: "late", tries: 1, min: 5 * time.Minute, max: 6 * time.Minute, notices: []string{"Still thinking"}},
		{name: "but not for ever", first: []step{{after: 20 * time.Minute, beats: 10 * time.Second}}, text: "offline", tries: 1, min: 10 * time.Minute, max: 11 * time.Minute, notices: []string{"Still thinking", "does not answer"}},
		{name: "what was streamed is taken back", first: []step{{partial: "hal", err: &provider.Error{Kind: provider.Network}}, good}, text: "hello", tries: 2, max: time.Second},
		{name: "a panic is a failure", first: []step{{panics: true}}, text: "offline", tries: 2, max: time.Second, notices: []string{"no sense"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := &scripted{name: "first", steps: tt.first}
				c := New(Options{}, first, &scripted{name: "second", steps: []step{{text: "offline"}}})
				var shown string
				var notices []string
				began := time.Now()
				res, err := c.ChatStream(t.Context(), provider.Request{Lang: "en"}, func(ch provider.Chunk) error {
					if ch.Restart {
						shown = ""
					}
					if ch.Notice != "" {
						notices = append(notices, ch.Notice)
					}
					shown += ch.Text
					return nil
				})
				took := time.Since(began)
				if err != nil || res.Text != tt.text || shown != tt.text {
					t.Errorf("got %q, shown %q, %v; want %q", res.Text, shown, err, tt.text)
				}
				if int(first.calls.Load()) != tt.tries {
					t.Errorf("%d tries, want %d", first.calls.Load(), tt.tries)
				}
				if took < tt.min || took > tt.max {
					t.Errorf("took %v, want %v to %v", took, tt.min, tt.max)
				}
				if len(notices) != len(tt.notices) {
					t.Fatalf("notices %q, want %q", notices, tt.notices)
				}
				for i := range notices {
					if !strings.Contains(notices[i], tt.notices[i]) {
						t.Errorf("notice %q, want %q", notices[i], tt.notices[i])
					}
				}
				if (c.Trouble() != nil) != (tt.text == "offline") {
					t.Errorf("trouble %v", c.Trouble())
				}
				<-time.After(2 * time.Hour) // lets a provider that ignored its context end inside the bubble
			})
		})
	}
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := &scripted{name: "first", steps: []step{fails(provider.Network), fails(provider.Network), fails(provider.Network), fails(provider.Network)}}
		c := New(Options{}, first, &scripted{name: "second", steps: []step{{text: "offline"}}})
		ask := func() {
			if _, err := c.Chat(t.Context(), provider.Request{}); err != nil {
				t.Error(err)
			}
		}
		ask() // three tries open the breaker
		for range 2 {
			_, err := c.ChatStream(t.Context(), provider.Request{}, func(ch provider.Chunk) error {
				if ch.Notice != "" {
					t.Errorf("an open breaker is told again: %q", ch.Notice)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		if first.calls.Load() != 3 {
			t.Errorf("%d calls while the breaker is open, want 3", first.calls.Load())
		}
		if c.Trouble().Kind != provider.Open {
			t.Errorf("trouble %v", c.Trouble())
		}
		<-time.After(breakerFirst)
		ask() // one attempt may try, and opens it for longer
		if first.calls.Load() != 4 {
			t.Errorf("%d calls after the pause, want 4", first.calls.Load())
		}
		<-time.After(2 * breakerFirst)
		first.steps = append(first.steps, step{text: "back"})
		ask()
		ask()
		if first.calls.Load() != 6 || c.Trouble() != nil {
			t.Errorf("%d calls after it came back, want 6; trouble %v", first.calls.Load(), c.Trouble())
		}
	})
}

// TestOpenKeepsItsCause: who asks while the provider is left alone is told what
// was wrong with it, however the breaker was opened.
func TestOpenKeepsItsCause(t *testing.T) {
	tests := []struct {
		name   string
		cause  *provider.Error
		turns  int // until the breaker is open
		zh, en string
	}{
		{"a wrong clock", &provider.Error{Kind: provider.Network, Err: worded{}}, 1, "我的时钟可能不对。大约 20 秒", "My clock is probably wrong. I try it again in about 20 seconds."},
		{"a wrong key", &provider.Error{Kind: provider.Auth, Status: 401}, breakerLimit, "不接受这个密钥", "refuses the key; set it again with homectl llm set. I try"},
		{"silence", &provider.Error{Kind: provider.Silent}, breakerLimit, "一直没有回应。大约", "does not answer. I try"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := New(Options{}, &scripted{name: "first", steps: []step{{err: tt.cause}}}, &scripted{name: "second", steps: []step{{text: "offline"}}})
				for range tt.turns + 1 {
					if _, err := c.Chat(t.Context(), provider.Request{}); err != nil {
						t.Fatal(err)
					}
				}
				e := c.Trouble()
				if e == nil || e.Kind != provider.Open || !errors.Is(e, tt.cause) {
					t.Fatalf("trouble %v", e)
				}
				if zh, en := Why(e, "zh"), Why(e, "en"); !strings.Contains(zh, tt.zh) || !strings.Contains(en, tt.en) {
					t.Errorf("%q, %q", zh, en)
				}
			})
		})
	}
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := New(Options{}, &scripted{name: "first", steps: []step{{after: time.Hour}}}, &scripted{name: "second", steps: []step{{text: "offline"}}})
		time.AfterFunc(time.Second, cancel)
		_, err := c.Chat(ctx, provider.Request{})
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.Canceled {
			t.Errorf("got %v", err)
		}
	})
}

func TestAllFail(t *testing.T) {
	for name, c := range map[string]*Chain{
		"none": New(Options{}),
		"one":  New(Options{}, &scripted{name: "first", steps: []step{fails(provider.Auth)}}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Chat(t.Context(), provider.Request{})
			var e *provider.Error
			if !errors.As(err, &e) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestEveryKindHasWords(t *testing.T) {
	for _, k := range []provider.Kind{provider.Auth, provider.Balance, provider.Invalid, provider.RateLimit, provider.Server, provider.Network, provider.Silent, provider.Malformed, provider.Open} {
		e := &provider.Error{Kind: k}
		if Why(e, "zh") == Why(e, "en") || Why(e, "en") == "" {
			t.Errorf("%s: %q, %q", k, Why(e, "zh"), Why(e, "en"))
		}
	}
}
