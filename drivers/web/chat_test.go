package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/tool"
	"homeagent/drivers/web/client"
	"homeagent/drivers/web/problem"
)

func testCtx(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// events reads the stream to its end as "name text".
func rest(t *testing.T, s *client.Stream) []string {
	t.Helper()
	var out []string
	for {
		e, err := s.Next()
		if err != nil {
			return out
		}
		out = append(out, brief(e.Name, e.Data))
	}
}

func brief(name string, data []byte) string {
	var d struct{ Text, ID, Title string }
	_ = json.Unmarshal(data, &d)
	return strings.TrimSpace(name + " " + d.Text + d.ID + d.Title)
}

func next(t *testing.T, s *client.Stream) string {
	t.Helper()
	e, err := s.Next()
	if err != nil {
		t.Fatalf("stream ended: %v", err)
	}
	return brief(e.Name, e.Data)
}

// await reads until the event comes and returns what came before it.
func await(t *testing.T, s *client.Stream, want string) (before []string) {
	t.Helper()
	for {
		got := next(t, s)
		if got == want {
			return before
		}
		before = append(before, got)
	}
}

func TestChatStreams(t *testing.T) {
	h := open(t)
	step := make(chan struct{})
	h.api.turn = func(in plugin.Input) {
		h.api.draft(in, plugin.Draft{Notice: "still thinking"})
		<-step
		h.api.draft(in, plugin.Draft{Text: "Half past"})
		<-step
		h.api.draft(in, plugin.Draft{Withdrawn: true})
		h.api.draft(in, plugin.Draft{Text: "It is"})
		<-step
		h.api.send(in, "It is nine.", true)
	}
	s, err := h.console("en").Stream(testCtx(t), "POST", "chat", map[string]string{"text": "what time is it"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// Each piece is read before the next one is made: nothing is held back.
	for _, want := range []string{"accepted in1", "notice still thinking"} {
		if got := next(t, s); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	step <- struct{}{}
	if got := next(t, s); got != "draft Half past" {
		t.Fatalf("got %q", got)
	}
	step <- struct{}{}
	for _, want := range []string{"withdraw", "draft It is"} {
		if got := next(t, s); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	step <- struct{}{}
	if got := rest(t, s); len(got) != 1 || got[0] != "final It is nine." {
		t.Fatalf("got %q", got)
	}
	in := h.api.lastInput()
	if in.Source != "console" || in.Channel != "console" || in.Type != plugin.Text || in.Payload != "what time is it" || in.NoMemory {
		t.Errorf("input %+v", in)
	}
}

func TestChatInputs(t *testing.T) {
	h := open(t)
	h.api.turn = func(in plugin.Input) { h.api.send(in, "yes", true) }
	page := h.page()
	sid := h.sessionOf(page)
	var made struct{ Token string }
	if err := h.console("en").Do(testCtx(t), "POST", "tokens", map[string]string{"name": "phone", "scope": "chat"}, &made); err != nil {
		t.Fatal(err)
	}
	tok, err := client.TCP("http://"+h.addr, made.Token, "zh")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tok.Close)
	viaPage := func(body string) error {
		if st, b := h.post(page, "chat", body); st != 200 {
			return errors.New(string(b))
		}
		return nil
	}
	viaToken := func(body string) error {
		return tok.Do(testCtx(t), "POST", "chat", json.RawMessage(body), nil)
	}
	for _, row := range []struct {
		name, body string
		call       func(string) error
		want       plugin.Input
	}{
		{"page", `{"text":"你好"}`, viaPage, plugin.Input{Source: "web", Channel: "web:" + sid, Payload: "你好"}},
		{"page, own conversation", `{"text":"a","session":"kitchen-1"}`, viaPage, plugin.Input{Source: "web", Channel: "web:" + sid + ":kitchen-1", Payload: "a"}},
		{"token, language and no memory", `{"text":"b","lang":"en","no_memory":true}`, viaToken,
			plugin.Input{Source: "web", Channel: "web:token:phone", Payload: "b", Lang: "en", NoMemory: true}},
		{"a language to guess", `{"text":"b"}`, viaToken, plugin.Input{Source: "web", Channel: "web:token:phone", Payload: "b"}},
		{"nothing to guess it from", `{"text":"1+1"}`, viaToken, plugin.Input{Source: "web", Channel: "web:token:phone", Payload: "1+1", Lang: "zh"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := row.call(row.body); err != nil {
				t.Fatal(err)
			}
			got := h.api.lastInput()
			got.ID, got.Type = "", ""
			if got.Source != row.want.Source || got.Channel != row.want.Channel || got.Payload != row.want.Payload ||
				got.Lang != row.want.Lang || got.NoMemory != row.want.NoMemory {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}

func TestChatInOnePiece(t *testing.T) {
	h := open(t)
	h.api.turn = func(in plugin.Input) {
		h.api.draft(in, plugin.Draft{Text: "never shown alone"})
		in2 := in
		in2.ID = "" // as the model sends: it knows no ids
		h.api.send(in2, "Looking.", false)
		h.api.send(in, "Found it.", true)
	}
	var a struct{ ID, Text string }
	if err := h.console("en").Do(testCtx(t), "POST", "chat", map[string]string{"text": "find it"}, &a); err != nil {
		t.Fatal(err)
	}
	// The message without an id may come before anybody waits; then it is no
	// part of this answer but stands in the history.
	if a.ID != "in1" || !strings.HasSuffix(a.Text, "Found it.") || strings.Contains(a.Text, "never") {
		t.Errorf("got %+v", a)
	}
}

func TestModelsOwnMessageReachesWhoWaits(t *testing.T) {
	h := open(t)
	step := make(chan struct{})
	h.api.turn = func(in plugin.Input) {
		<-step
		own := in
		own.ID = ""
		h.api.send(own, "I have sent it.", false)
		h.api.send(in, "", true)
	}
	s, err := h.console("en").Stream(testCtx(t), "POST", "chat", map[string]string{"text": "send it"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	await(t, s, "accepted in1")
	step <- struct{}{}
	if got := rest(t, s); len(got) != 2 || got[0] != "message I have sent it." || got[1] != "final" {
		t.Errorf("got %q", got)
	}
}

// An answer may be there before the input has been acknowledged.
func TestAnswerOvertakesAcknowledgement(t *testing.T) {
	h := open(t)
	h.api.inject = func(in plugin.Input) { h.api.send(in, "stopped", true) }
	var a struct{ Text string }
	if err := h.console("en").Do(testCtx(t), "POST", "chat", map[string]string{"text": "stop"}, &a); err != nil {
		t.Fatal(err)
	}
	if a.Text != "stopped" {
		t.Errorf("got %q", a.Text)
	}
}

func TestWhoWentAwayLosesNothing(t *testing.T) {
	h := open(t)
	gone := make(chan struct{})
	h.api.turn = func(in plugin.Input) {
		h.api.draft(in, plugin.Draft{Text: "The answer"})
		<-gone
		h.api.send(in, "The answer is here.", true)
	}
	c := h.console("en")
	s, err := c.Stream(testCtx(t), "POST", "chat", map[string]string{"text": "tell me"})
	if err != nil {
		t.Fatal(err)
	}
	await(t, s, "draft The answer")
	s.Close()
	close(gone)
	h.api.wg.Wait()
	s, err = c.Stream(testCtx(t), "GET", "chat/in1", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := rest(t, s); got[0] != "accepted in1" || got[len(got)-1] != "final The answer is here." {
		t.Errorf("taken up again: %q", got)
	}
	var hist struct {
		Items []struct{ Role, Text, Input string }
	}
	if err := c.Do(testCtx(t), "GET", "chat/history", nil, &hist); err != nil {
		t.Fatal(err)
	}
	if n := len(hist.Items); n != 2 || hist.Items[0].Text != "tell me" || hist.Items[1].Text != "The answer is here." || hist.Items[1].Role != "agent" {
		t.Errorf("history %+v", hist.Items)
	}
	var p *problem.Problem
	if err := c.Do(testCtx(t), "GET", "chat/nosuch", nil, nil); !errors.As(err, &p) || p.Code != "no_answer_kept" {
		t.Errorf("unknown answer: %v", err)
	}
}

func TestRefusedInputs(t *testing.T) {
	h := open(t)
	for _, row := range []struct {
		name, contentType, body string
		refuse                  error
		status                  int
		code, says              string
	}{
		{"no JSON", "application/json", `text`, nil, 400, "bad_body", "JSON"},
		{"no type", "text/plain", `{"text":"a"}`, nil, 415, "not_json", ""},
		{"not UTF-8", "application/json", "{\"text\":\"a\xff\xfe\"}", nil, 400, "not_utf8", "UTF-8"},
		{"bad session", "application/json", `{"text":"a","session":"../x"}`, nil, 422, "bad_session", ""},
		{"1 MB of text", "application/json", `{"text":"` + strings.Repeat("a", 1<<20) + `"}`, nil, 413, "too_big", "smaller"},
		{"too long for the queue", "application/json", `{"text":"a"}`, &plugin.Fault{Status: 413, Title: "This text is too long."}, 413, "refused", "too long"},
		{"disk full", "application/json", `{"text":"a"}`, &plugin.Fault{Status: 507, Title: "The disk is full.", Err: errors.New("secret path")}, 507, "refused", "disk is full"},
		{"anything else", "application/json", `{"text":"a"}`, errors.New("at /data/queue.log"), 500, "internal", "went wrong"},
	} {
		t.Run(row.name, func(t *testing.T) {
			h.api.mu.Lock()
			h.api.refuse = row.refuse
			h.api.mu.Unlock()
			err := h.console("en").Do(testCtx(t), "POST", "chat", client.Upload{ContentType: row.contentType, Body: strings.NewReader(row.body)}, nil)
			var p *problem.Problem
			if !errors.As(err, &p) || p.Status != row.status || p.Code != row.code || !strings.Contains(p.Title, row.says) {
				t.Fatalf("got %+v", err)
			}
			if strings.Contains(p.Error(), "queue.log") || strings.Contains(p.Error(), "secret path") {
				t.Errorf("the cause leaked: %v", p)
			}
		})
	}
}

func TestEventsReachWhoMayHear(t *testing.T) {
	h := open(t)
	h.api.turn = func(in plugin.Input) { h.api.send(in, "done: "+in.Payload, true) }
	ctx := testCtx(t)
	one, err := h.console("en").Stream(ctx, "GET", "events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	await(t, one, "hello")
	page := h.page()
	resp, err := page.Get("http://" + h.addr + "/api/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	two := streamOf(resp)
	defer two.Close()
	await(t, two, "hello")
	if st, b := h.post(page, "chat", `{"text":"lamp"}`); st != 200 {
		t.Fatalf("%d %s", st, b)
	}
	h.api.Publish(event.Event{Type: event.Voice, State: "heard", Text: "what I heard"})
	if before := await(t, one, "voice what I heard"); strings.Contains(strings.Join(before, "\n"), "message ") {
		t.Errorf("the console was sent a message of the page: %q", before)
	}
	got := strings.Join(await(t, two, "voice what I heard"), "\n")
	for _, want := range []string{"raw_input lamp", "message done: lamp", "agent_output done: lamp"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page missed %q in %q", want, got)
		}
	}
}

func TestEventsAreTakenUpAgain(t *testing.T) {
	h := open(t)
	ctx := testCtx(t)
	c := h.console("en")
	s, err := c.Stream(ctx, "GET", "events", nil)
	if err != nil {
		t.Fatal(err)
	}
	await(t, s, "hello")
	h.api.Publish(event.Event{Type: event.System, Text: "first"})
	e, err := s.Next()
	if err != nil || e.ID == "" {
		t.Fatalf("%+v %v", e, err)
	}
	s.Close()
	h.api.Publish(event.Event{Type: event.System, Text: "second"})
	h.api.Publish(event.Event{Type: event.System, Text: "third"})
	for _, row := range []struct {
		name, id, want string
		gap            bool
	}{
		{"where it ended", e.ID, "system second", false},
		{"unknown start", "abc-5", "", true},
		{"no number", "nonsense", "", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			req, _ := http.NewRequestWithContext(ctx, "GET", "http://"+h.addr+"/api/v1/events", nil)
			req.Header.Set("Last-Event-ID", row.id)
			resp, err := h.page().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			s := streamOf(resp)
			defer s.Close()
			hello, err := s.Next()
			if err != nil || strings.Contains(string(hello.Data), `"gap":true`) != row.gap {
				t.Fatalf("hello %s %v", hello.Data, err)
			}
			if row.want != "" {
				if got := next(t, s); got != row.want {
					t.Errorf("got %q", got)
				}
			}
		})
	}
}

func TestHistory(t *testing.T) {
	h := open(t)
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, e := range []event.Event{
		{Type: event.RawInput, Input: "a", Source: "voice", Channel: "voice", Text: "turn on the lamp"},
		{Type: event.ToolCall, Input: "a", Source: "voice", Call: &tool.Call{Name: "virtual_set", Args: json.RawMessage(`{"state":"on"}`)}, Result: &tool.Result{Status: tool.Done, Text: "is on"}},
		{Type: event.ToolCall, Input: "a", Source: "voice", Call: &tool.Call{Name: "output_send"}},
		{Type: event.AgentOutput, Input: "a", Channel: "voice", Text: "The lamp is on."},
		{Type: event.RawInput, Input: "b", Source: "_consolidation_", Text: "merge?"},
		{Type: event.Reasoning, Input: "a", Text: "thinking aloud"},
	} {
		e.Time = at
		h.api.Publish(e)
	}
	c := h.console("en")
	type item struct{ ID, Role, Text, Status string }
	get := func(query string) (out []item) {
		t.Helper()
		var r struct{ Items []item }
		if err := c.Do(testCtx(t), "GET", "chat/history"+query, nil, &r); err != nil {
			t.Fatal(err)
		}
		return r.Items
	}
	all := get("")
	if len(all) != 3 || all[0].Role != "user" || all[1].Role != "did" || all[1].Status != "done" || all[2].Role != "agent" {
		t.Fatalf("got %+v", all)
	}
	if got := get("?limit=1"); len(got) != 1 || got[0].ID != all[2].ID {
		t.Errorf("the newest: %+v", got)
	}
	if got := get("?limit=5&before=" + all[2].ID); len(got) != 2 || got[1].ID != all[1].ID {
		t.Errorf("before the last: %+v", got)
	}
	var p *problem.Problem
	if err := c.Do(testCtx(t), "GET", "chat/history?limit=0", nil, nil); !errors.As(err, &p) || p.Status != 422 {
		t.Errorf("limit 0: %v", err)
	}
	// It outlives an orderly restart.
	h.stopAgent()
	h.openAgent()
	h.untilLinked()
	if got := get(""); len(got) != 3 || got[0] != all[0] || got[2] != all[2] {
		t.Errorf("after a restart: %+v", got)
	}
}
