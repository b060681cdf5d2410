package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

// patience is how long a case waits for a call that must return soon. It is
// generous: it finds calls that hang, not calls that are slow.
const patience = 20 * time.Second

// Conformance runs every case against a provider of its own.
func Conformance(t *testing.T, factory func(t *testing.T) provider.Provider) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(t, factory(t)) })
	}
}

var cases = []struct {
	name string
	run  func(t *testing.T, p provider.Provider)
}{
	{"it has a name that stays", name},
	{"an answer is whole", whole},
	{"the pieces of a stream make the text", pieces},
	{"chat needs no emit", chat},
	{"an ended context is refused", ended},
	{"a context that ends while streaming ends the call", endsWhileStreaming},
	{"an error of emit ends the call", emitFails},
	{"many at once", concurrent},
	{"no messages", func(t *testing.T, p provider.Provider) { answersOrRefuses(t, p, provider.Request{Lang: "en"}) }},
	{"only a system message", func(t *testing.T, p provider.Provider) {
		answersOrRefuses(t, p, request(provider.Message{Role: provider.System, Content: "the user has come home"}))
	}},
	{"an empty message", func(t *testing.T, p provider.Provider) {
		answersOrRefuses(t, p, request(provider.Message{Role: provider.User}))
	}},
	{"a message of one megabyte", func(t *testing.T, p provider.Provider) {
		answersOrRefuses(t, p, request(provider.Message{Role: provider.User, Content: strings.Repeat("lamp 灯 ", 1<<20/9)}))
	}},
	{"broken text and a zero byte", func(t *testing.T, p provider.Provider) {
		answersOrRefuses(t, p, request(provider.Message{Role: provider.User, Content: "turn \xff\xfe on\x00 the \xe5\xae lamp"}))
	}},
	{"a picture", func(t *testing.T, p provider.Provider) {
		answersOrRefuses(t, p, request(provider.Message{Role: provider.User, Content: "look",
			Media: []provider.Media{{MIME: "image/png", Name: "a.png", Data: []byte("not really")}}}))
	}},
	{"results of tools", toolResults},
	{"a call whose result is missing", func(t *testing.T, p provider.Provider) {
		answersOrRefuses(t, p, request(ask("turn on the lamp"),
			provider.Message{Role: provider.Assistant, Calls: []tool.Call{{ID: "a", Name: "lamp_set", Args: json.RawMessage(`{}`)}}}))
	}},
	{"calls with odd arguments", func(t *testing.T, p provider.Provider) {
		answersOrRefuses(t, p, request(ask("turn on the lamp"),
			provider.Message{Role: provider.Assistant, Calls: []tool.Call{{ID: "a", Name: "lamp_set"}, {ID: "b", Name: "lamp_set", Args: json.RawMessage(`null`)}}},
			provider.Message{Role: provider.Tool, CallID: "a", Name: "lamp_set", Status: tool.Failed, Content: "no arguments"},
			provider.Message{Role: provider.Tool, CallID: "b", Name: "lamp_set", Status: tool.Unknown, Content: ""}))
	}},
	{"the request is left as it was", untouched},
}

var lampTool = tool.Def{
	Name: "lamp_set", Description: "Switches a lamp.", Risk: tool.Act, Touches: tool.None,
	Parameters: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
}

func ask(text string) provider.Message {
	return provider.Message{Role: provider.User, Content: text, Source: "console"}
}

func request(msgs ...provider.Message) provider.Request {
	return provider.Request{System: "You are a butler.", Messages: msgs, Tools: []tool.Def{lampTool}, Lang: "en", Channel: "console"}
}

// outcome is what a call gave.
type outcome struct {
	res    provider.Response
	err    error
	pieces []string
}

// stream runs ChatStream and fails where it does not return in time.
func stream(t *testing.T, ctx context.Context, p provider.Provider, req provider.Request, emit func(provider.Chunk) error) outcome {
	t.Helper()
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		o.res, o.err = p.ChatStream(ctx, req, func(c provider.Chunk) error {
			if c.Restart {
				o.pieces = nil
			}
			o.pieces = append(o.pieces, c.Text)
			if emit != nil {
				return emit(c)
			}
			return nil
		})
		done <- o
	}()
	select {
	case o := <-done:
		return o
	case <-time.After(patience):
		t.Fatalf("ChatStream has not returned after %s", patience)
		return outcome{}
	}
}

// check holds what is true of every end of a call.
func check(t *testing.T, o outcome) {
	t.Helper()
	if o.err != nil {
		asError(t, o.err)
		return
	}
	if strings.TrimSpace(o.res.Text) == "" && len(o.res.Calls) == 0 {
		t.Errorf("a nil error came with neither text nor calls: %+v", o.res)
	}
	if o.res.Provider == "" {
		t.Error("the response does not say who gave it")
	}
	seen := map[string]bool{}
	for _, c := range o.res.Calls {
		if c.Name == "" {
			t.Errorf("a call without a name: %+v", c)
		}
		if c.ID != "" && seen[c.ID] {
			t.Errorf("two calls with the id %q", c.ID)
		}
		seen[c.ID] = true
		if len(c.Args) > 0 && !json.Valid(c.Args) {
			t.Errorf("arguments of %s are no JSON: %q", c.Name, c.Args)
		}
	}
}

func asError(t *testing.T, err error) *provider.Error {
	t.Helper()
	var e *provider.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T (%v) is no *provider.Error", err, err)
	}
	if e.Kind == "" || e.Provider == "" {
		t.Errorf("an error without kind or provider: %+v", e)
	}
	return e
}

func name(t *testing.T, p provider.Provider) {
	n := p.Name()
	if strings.TrimSpace(n) == "" || strings.ContainsAny(n, "\n\r\x00") {
		t.Errorf("the name is %q", n)
	}
	if again := p.Name(); again != n {
		t.Errorf("the name was %q, then %q", n, again)
	}
}

func whole(t *testing.T, p provider.Provider) {
	o := stream(t, t.Context(), p, request(ask("good morning")), nil)
	if o.err != nil {
		t.Fatal(o.err)
	}
	check(t, o)
	if strings.TrimSpace(o.res.Text) == "" {
		t.Fatal("the factory's provider must answer a greeting with text")
	}
}

func pieces(t *testing.T, p provider.Provider) {
	o := stream(t, t.Context(), p, request(ask("good morning")), nil)
	if o.err != nil {
		t.Fatal(o.err)
	}
	if got := strings.Join(o.pieces, ""); got != o.res.Text {
		t.Errorf("the pieces make %q, the response says %q", got, o.res.Text)
	}
}

func chat(t *testing.T, p provider.Provider) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	res, err := p.Chat(ctx, request(ask("good morning")))
	check(t, outcome{res: res, err: err})
	if err != nil {
		t.Error(err)
	}
}

func ended(t *testing.T, p provider.Provider) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := stream(t, ctx, p, request(ask("good morning")), nil)
	if o.err == nil {
		t.Fatal("it answered though its context had ended")
	}
	if e := asError(t, o.err); e.Kind != provider.Canceled || !e.Kind.Final() {
		t.Errorf("the error is %q, want %q", e.Kind, provider.Canceled)
	}
	if !errors.Is(o.err, context.Canceled) {
		t.Errorf("%v does not wrap the context's error", o.err)
	}
}

// endsWhileStreaming ends the context in the first piece. What was already
// received may still make a whole answer; anything else is a cancellation.
func endsWhileStreaming(t *testing.T, p provider.Provider) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := stream(t, ctx, p, request(ask("good morning")), func(provider.Chunk) error { cancel(); return nil })
	if o.err == nil {
		check(t, o)
		return
	}
	if e := asError(t, o.err); e.Kind != provider.Canceled {
		t.Errorf("the error is %q, want %q", e.Kind, provider.Canceled)
	}
}

func emitFails(t *testing.T, p provider.Provider) {
	full := errors.New("the listener has left")
	calls := 0
	o := stream(t, t.Context(), p, request(ask("good morning")), func(c provider.Chunk) error {
		calls++
		return full
	})
	if o.err == nil {
		t.Fatal("emit failed and the call did not")
	}
	asError(t, o.err)
	if !errors.Is(o.err, full) {
		t.Errorf("%v does not wrap emit's error", o.err)
	}
	if calls != 1 {
		t.Errorf("emit was called %d times though the first failed", calls)
	}
}

func concurrent(t *testing.T, p provider.Provider) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			res, err := p.Chat(ctx, request(ask("good morning")))
			if err != nil {
				t.Error(err)
			} else if strings.TrimSpace(res.Text) == "" {
				t.Error("an empty answer")
			}
		}()
	}
	wg.Wait()
}

func toolResults(t *testing.T, p provider.Provider) {
	answersOrRefuses(t, p, request(ask("good evening"),
		provider.Message{Role: provider.Assistant, Content: "hello", Reasoning: "be polite"},
		ask("turn on the lamp"),
		provider.Message{Role: provider.Assistant, Reasoning: "call it", Calls: []tool.Call{
			{ID: "a", Name: "lamp_set", Args: json.RawMessage(`{"name":"one"}`)}, {ID: "b", Name: "lamp_set", Args: json.RawMessage(`{"name":"two"}`)}}},
		provider.Message{Role: provider.Tool, CallID: "a", Name: "lamp_set", Status: tool.Done, Content: "it is on"},
		provider.Message{Role: provider.Tool, CallID: "b", Name: "lamp_set", Status: tool.Denied, Content: "not at night"}))
}

// answersOrRefuses asks something odd: an answer or a classed error will do.
func answersOrRefuses(t *testing.T, p provider.Provider, req provider.Request) {
	t.Helper()
	o := stream(t, t.Context(), p, req, nil)
	check(t, o)
	if o.err == nil && strings.Join(o.pieces, "") != o.res.Text {
		t.Error("the pieces do not make the text")
	}
}

func untouched(t *testing.T, p provider.Provider) {
	fresh := func() provider.Request {
		return request(ask("good evening"), provider.Message{Role: provider.Assistant, Calls: []tool.Call{{ID: "a", Name: "lamp_set", Args: json.RawMessage(`{"name":"one"}`)}}},
			provider.Message{Role: provider.Tool, CallID: "a", Name: "lamp_set", Status: tool.Done, Content: "it is on"})
	}
	req, before := fresh(), fresh()
	check(t, stream(t, t.Context(), p, req, nil))
	if !reflect.DeepEqual(req, before) {
		t.Errorf("the request was changed:\n%+v\n%+v", before, req)
	}
}
