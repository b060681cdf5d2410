package llm

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/tools/fakellm"
)

const key = "sk-0123456789abcdef"

// connect starts the fake with a script and returns a client for it.
func connect(t *testing.T, script fakellm.Script) (*Client, *fakellm.Server) {
	t.Helper()
	fake := fakellm.New(script)
	fake.Key, fake.DeepSeek = key, true
	srv := httptest.NewServer(fake)
	t.Cleanup(srv.Close)
	c, err := New(Config{Kind: "deepseek", BaseURL: srv.URL + "/", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, fake
}

func ask(text string) provider.Request {
	return provider.Request{System: "You are a butler.", Messages: []provider.Message{{Role: provider.User, Content: text}}, Lang: "en"}
}

func TestAnswers(t *testing.T) {
	const chinese = "客厅的灯已经打开了，一共三盏。😀"
	two := []fakellm.Call{{ID: "a", Name: "lamp", Args: `{"name":"客厅灯"}`}, {ID: "b", Name: "lamp", Args: `{"name":"厨房灯"}`}}
	call := func(name, args string) tool.Call { return tool.Call{Name: name, Args: []byte(args)} }
	both := []tool.Call{call("lamp", `{"name":"客厅灯"}`), call("lamp", `{"name":"厨房灯"}`)}
	tests := []struct {
		name  string
		reply fakellm.Reply
		text  string
		calls []tool.Call
	}{
		{"plain", fakellm.Reply{Text: chinese}, chinese, nil},
		{"every byte in a write of its own", fakellm.Reply{Text: chinese, SplitBytes: true}, chinese, nil},
		{"a thousand keep-alive comments", fakellm.Reply{Text: chinese, KeepAlives: 1000}, chinese, nil},
		{"CR LF", fakellm.Reply{Text: chinese, CRLF: true}, chinese, nil},
		{"empty data, bare events, ids", fakellm.Reply{Text: chinese, Noise: true, CRLF: true}, chinese, nil},
		{"not streamed", fakellm.Reply{Text: chinese, Whole: true, Calls: two}, chinese, both},
		{"parallel calls", fakellm.Reply{Calls: two}, "", both},
		{"parallel calls that share an index", fakellm.Reply{Calls: two, SameIndex: true}, "", both},
		{"parallel calls without an index", fakellm.Reply{Calls: two, NoIndex: true}, "", both},
		{"parallel calls without an id", fakellm.Reply{Calls: two, NoID: true}, "", both},
		{"parallel calls with neither", fakellm.Reply{Calls: two, NoID: true, NoIndex: true}, "", both},
		{"one index and no id", fakellm.Reply{Calls: two, NoID: true, SameIndex: true}, "", both},
		{"arguments as an object", fakellm.Reply{Calls: two, ObjectArgs: true}, "", both},
		{"no arguments", fakellm.Reply{Calls: []fakellm.Call{{ID: "a", Name: "list"}}}, "", []tool.Call{call("list", "{}")}},
		{"arguments cut between values", fakellm.Reply{Calls: []fakellm.Call{{ID: "a", Name: "f", Args: `{"a":[{"b":"c"`}}}, "", []tool.Call{call("f", `{"a":[{"b":"c"}]}`)}},
		{"arguments cut inside a value", fakellm.Reply{Calls: []fakellm.Call{{ID: "a", Name: "f", Args: `{"a":"living ro`}}}, "", []tool.Call{call("f", `"{\"a\":\"living ro"`)}},
		{"arguments cut inside a number", fakellm.Reply{Calls: []fakellm.Call{{ID: "a", Name: "f", Args: `{"seconds":1`}}}, "", []tool.Call{call("f", `"{\"seconds\":1"`)}},
		{"arguments in a fence", fakellm.Reply{Calls: []fakellm.Call{{ID: "a", Name: "f", Args: "```json\n{\"a\":1}\n```"}}}, "", []tool.Call{call("f", `{"a":1}`)}},
		{"arguments that are no JSON", fakellm.Reply{Calls: []fakellm.Call{{ID: "a", Name: "f", Args: "a=1"}}}, "", []tool.Call{call("f", `"a=1"`)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, fake := connect(t, func(fakellm.Request) fakellm.Reply { return tt.reply })
			var streamed strings.Builder
			res, err := c.ChatStream(t.Context(), ask("hello"), func(ch provider.Chunk) error {
				streamed.WriteString(ch.Text)
				return nil
			})
			if err != nil {
				t.Fatalf("%v; violations %q", err, fake.Violations())
			}
			if res.Text != tt.text || streamed.String() != tt.text {
				t.Errorf("text %q, streamed %q, want %q", res.Text, streamed.String(), tt.text)
			}
			if len(res.Calls) != len(tt.calls) {
				t.Fatalf("calls %s, want %s", res.Calls, tt.calls)
			}
			ids := map[string]bool{}
			for i, call := range res.Calls {
				if call.Name != tt.calls[i].Name || string(call.Args) != string(tt.calls[i].Args) {
					t.Errorf("call %d: %s %s, want %s %s", i, call.Name, call.Args, tt.calls[i].Name, tt.calls[i].Args)
				}
				if call.ID == "" || ids[call.ID] {
					t.Errorf("call %d: id %q is empty or stands twice", i, call.ID)
				}
				ids[call.ID] = true
			}
		})
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name  string
		reply fakellm.Reply
		key   string
		kind  provider.Kind
		after time.Duration
		words string
	}{
		{name: "wrong key", key: "sk-wrong-wrong-wrong", kind: provider.Auth, words: "invalid"},
		{name: "no credit", reply: fakellm.Reply{Status: 402, Body: `{"error":{"message":"Insufficient Balance"}}`}, kind: provider.Balance, words: "Insufficient Balance"},
		{name: "unknown model", reply: fakellm.Reply{Status: 400, Body: `{"error":"Model Not Exist"}`}, kind: provider.Invalid, words: "Model Not Exist"},
		{name: "too many", reply: fakellm.Reply{Status: 429, RetryAfter: "7"}, kind: provider.RateLimit, after: 7 * time.Second},
		{name: "broken server", reply: fakellm.Reply{Status: 503, Body: "<html>down</html>"}, kind: provider.Server, words: "down"},
		{name: "cut off", reply: fakellm.Reply{Text: "half an ans", CutOff: true}, kind: provider.Network},
		{name: "garbage", reply: fakellm.Reply{Status: 200, Whole: true, Text: ""}, kind: ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := connect(t, func(fakellm.Request) fakellm.Reply { return tt.reply })
			if tt.key != "" {
				c.cfg.Key = tt.key
			}
			_, err := c.Chat(t.Context(), ask("hello"))
			if tt.kind == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var e *provider.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.RetryAfter != tt.after || !strings.Contains(e.Error(), tt.words) {
				t.Fatalf("got %v, want kind %s with %q after %v", err, tt.kind, tt.words, tt.after)
			}
			if strings.Contains(e.Error(), c.cfg.Key) || strings.Contains(e.Error(), c.cfg.Key[len(c.cfg.Key)-4:]) {
				t.Errorf("the key is in %q", e)
			}
		})
	}
}

func TestUnreachableAndGarbage(t *testing.T) {
	garbage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("data: {not json}\n\n")) }))
	defer garbage.Close()
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := strings.Repeat("x", 1<<20)
		for range 10 {
			if _, err := w.Write([]byte(line)); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	tests := []struct {
		name, url string
		kind      provider.Kind
	}{
		{"nobody listens", "http://127.0.0.1:1", provider.Network},
		{"no such host", "http://nowhere.invalid", provider.Network},
		{"no JSON", garbage.URL, provider.Malformed},
		{"a line without end", endless.URL, provider.Malformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := New(Config{Kind: "openai", BaseURL: tt.url})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Chat(t.Context(), ask("hello"))
			var e *provider.Error
			if !errors.As(err, &e) || e.Kind != tt.kind {
				t.Fatalf("got %v, want kind %s", err, tt.kind)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	c, _ := connect(t, func(fakellm.Request) fakellm.Reply { return fakellm.Reply{Hang: true} })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.Chat(ctx, ask("hello"))
		done <- err
	}()
	cancel()
	var e *provider.Error
	if err := <-done; !errors.As(err, &e) || e.Kind != provider.Canceled {
		t.Errorf("got %v", err)
	}
}

// TestConversation sends conversations that a strict server refuses unless the
// client keeps pairs whole and sends reasoning back.
func TestConversation(t *testing.T) {
	a, b := tool.Call{ID: "a", Name: "f", Args: []byte(`{}`)}, tool.Call{ID: "b", Name: "f"}
	user := provider.Message{Role: provider.User, Content: "hi"}
	calls := provider.Message{Role: provider.Assistant, Calls: []tool.Call{a, b}, Reasoning: "because"}
	resA := provider.Message{Role: provider.Tool, CallID: "a", Content: "ok"}
	resB := provider.Message{Role: provider.Tool, CallID: "b", Content: "ok"}
	broken := tool.Call{ID: "c", Name: "f", Args: []byte(`"a=1"`)}
	whole := []provider.Message{user, calls, resA, resB, {Role: provider.Assistant, Content: "done"}, user}
	tests := map[string][]provider.Message{
		"whole":                 whole,
		"a result is missing":   {user, calls, resB},
		"results out of order":  {user, calls, resB, resA},
		"a result stands twice": {user, calls, resA, resA, resB},
		"an orphan result":      {resA, user},
		"a cut between":         {resB, user, calls, resA, user},
		"broken arguments back": {user, {Role: provider.Assistant, Calls: []tool.Call{broken}}, {Role: provider.Tool, CallID: "c", Content: "arguments are no object"}},
		"a note of the agent":   {user, {Role: provider.System, Content: "stopped by the user"}, user},
	}
	for i := range whole { // pruning at any index
		tests["pruned at "+string(rune('0'+i))] = whole[i:]
	}
	for name, msgs := range tests {
		t.Run(name, func(t *testing.T) {
			c, fake := connect(t, fakellm.Say("ok"))
			req := ask("")
			req.Messages = msgs
			if _, err := c.Chat(t.Context(), req); err != nil {
				t.Fatalf("%v; violations %q", err, fake.Violations())
			}
		})
	}
}

func TestReasoningGoesBack(t *testing.T) {
	c, fake := connect(t, fakellm.Sequence(
		fakellm.Reply{Reasoning: "先看看灯", Calls: []fakellm.Call{{ID: "a", Name: "f", Args: "{}"}}}, fakellm.Reply{Text: "ok"}))
	first, err := c.Chat(t.Context(), ask("hi"))
	if err != nil {
		t.Fatal(err)
	}
	req := ask("hi")
	req.Messages = append(req.Messages, provider.Message{Role: provider.Assistant, Calls: first.Calls, Reasoning: first.Reasoning},
		provider.Message{Role: provider.Tool, CallID: first.Calls[0].ID, Content: "on"})
	if _, err := c.Chat(t.Context(), req); err != nil {
		t.Fatalf("%v; violations %q", err, fake.Violations())
	}
	req.Messages[1].Reasoning = ""
	if _, err := c.Chat(t.Context(), req); err == nil {
		t.Error("the fake let a call without its reasoning pass: this test could not fail")
	}
}

func TestConfig(t *testing.T) {
	tests := []struct {
		name string
		cfg  Config
		err  string
	}{
		{"default", Config{Kind: "deepseek"}, ""},
		{"unknown kind", Config{Kind: "oracle"}, "deepseek, openai or ollama"},
		{"no model", Config{Kind: "ollama"}, "name of a model"},
		{"no address", Config{Kind: "openai", BaseURL: "api.example.com"}, "no web address"},
		{"key with a line break", Config{Kind: "openai", Key: "a\nb"}, "line break"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := New(tt.cfg)
			if tt.err == "" {
				if err != nil || c.Name() != "deepseek/deepseek-flash" {
					t.Errorf("got %v, %v", c, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v, want %q", err, tt.err)
			}
		})
	}
}
