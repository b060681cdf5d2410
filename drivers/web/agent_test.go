package web_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/drivers/web"
	"homeagent/drivers/web/client"
	"homeagent/drivers/web/problem"
)

// streamOf reads a response as a client.Stream does.
func streamOf(resp *http.Response) *client.Stream { return client.NewStream(resp.Body) }

func TestEndpoints(t *testing.T) {
	h := open(t)
	h.reg.endpoints["echo"] = func(_ context.Context, r *plugin.Request, out plugin.Reply) error {
		b, _ := io.ReadAll(r.Body)
		out.Status(201, "text/plain")
		fmt.Fprintf(out, "%s %s %s %s %s %s %s", r.Method, r.Path, r.Query.Get("q"), b, r.ContentType, r.Session, r.Lang)
		return nil
	}
	h.reg.endpoints["refuse"] = func(_ context.Context, r *plugin.Request, _ plugin.Reply) error {
		return &plugin.Fault{Status: 409, Title: "Not now.", Err: errors.New("the cause")}
	}
	h.reg.endpoints["fail"] = func(context.Context, *plugin.Request, plugin.Reply) error { return errors.New("the cause") }
	h.reg.endpoints["panic"] = func(context.Context, *plugin.Request, plugin.Reply) error { panic("the cause") }
	h.reg.endpoints["page"] = func(_ context.Context, _ *plugin.Request, out plugin.Reply) error {
		out.Status(200, "text/html")
		_, err := out.Write([]byte("<script>"))
		return err
	}
	h.reg.endpoints["silent"] = func(context.Context, *plugin.Request, plugin.Reply) error { return nil }
	c := h.console("zh")
	var buf bytes.Buffer
	if err := c.Do(testCtx(t), "PUT", "echo/some/path?q=1", client.Upload{ContentType: "audio/wav", Body: strings.NewReader("RIFF")}, &buf); err != nil {
		t.Fatal(err)
	}
	if got := buf.String(); !strings.HasPrefix(got, "PUT some/path 1 RIFF audio/wav local:") || !strings.HasSuffix(got, " zh") {
		t.Errorf("got %q", got)
	}
	for _, row := range []struct {
		path   string
		status int
		code   string
	}{
		{"refuse", 409, "refused"}, {"fail", 500, "internal"}, {"panic", 500, "internal"}, {"nobody", 404, "not_found"},
	} {
		t.Run(row.path, func(t *testing.T) {
			var p *problem.Problem
			if err := c.Do(testCtx(t), "GET", row.path, nil, nil); !errors.As(err, &p) || p.Status != row.status || p.Code != row.code {
				t.Errorf("got %v", err)
			} else if strings.Contains(p.Error(), "cause") {
				t.Errorf("the cause leaked: %v", p)
			}
		})
	}
	if err := c.Do(testCtx(t), "POST", "silent", map[string]int{}, nil); err != nil {
		t.Errorf("silent: %v", err)
	}
	resp, err := h.page().Get("http://" + h.addr + "/api/v1/page")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if ct := resp.Header.Get("Content-Type"); ct != "application/octet-stream" {
		t.Errorf("an endpoint's HTML came as %q", ct)
	}
}

func TestEndpointStreamsAndBreaksOff(t *testing.T) {
	h := open(t)
	step := make(chan struct{})
	h.reg.endpoints["lines"] = func(_ context.Context, _ *plugin.Request, out plugin.Reply) error {
		out.Status(200, "application/x-ndjson")
		out.Write([]byte("{\"n\":1}\n"))
		<-step
		out.Write([]byte("{\"n\":2}\n"))
		return errors.New("broke")
	}
	resp, err := h.page().Get("http://" + h.addr + "/api/v1/lines")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b := make([]byte, 8)
	if _, err := io.ReadFull(resp.Body, b); err != nil || string(b) != "{\"n\":1}\n" {
		t.Fatalf("%q %v", b, err)
	}
	step <- struct{}{}
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("a broken answer looks whole")
	}
}

func TestEndpointEndsWithItsPeer(t *testing.T) {
	h := open(t)
	ended := make(chan error, 1)
	h.reg.endpoints["wait"] = func(ctx context.Context, _ *plugin.Request, out plugin.Reply) error {
		out.Write([]byte("{}"))
		<-ctx.Done()
		ended <- ctx.Err()
		return nil
	}
	resp, err := h.page().Get("http://" + h.addr + "/api/v1/wait")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	<-ended // hangs the test if a peer's leaving is not noticed
}

func TestStatusHasTheAgentsPart(t *testing.T) {
	h := open(t)
	h.reg.statusOf = func(ctx context.Context) any { return map[string]string{"model": "offline", "lang": web.Lang(ctx)} }
	var s struct {
		Door struct {
			AgentLinked bool `json:"agent_linked"`
		}
		Agent struct{ Model, Code, Lang string }
	}
	if err := h.console("en").Do(testCtx(t), "GET", "status", nil, &s); err != nil {
		t.Fatal(err)
	}
	if !s.Door.AgentLinked || s.Agent.Model != "offline" || s.Agent.Lang != "en" {
		t.Errorf("got %+v", s)
	}
	h.stopAgent()
	h.until("the loss of the link", func() bool { return !h.linked() })
	if err := h.console("en").Do(testCtx(t), "GET", "status", nil, &s); err != nil {
		t.Fatal(err)
	}
	if s.Door.AgentLinked || s.Agent.Code != "agent_down" {
		t.Errorf("without agent: %+v", s)
	}
}

func TestHome(t *testing.T) {
	h := open(t)
	var got struct {
		Devices []struct {
			Name    string
			Aliases map[string][]string
		}
	}
	if err := h.console("en").Do(testCtx(t), "GET", "home", nil, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Devices) != 1 || got.Devices[0].Aliases["zh"][0] != "客厅灯" {
		t.Errorf("got %+v", got)
	}
}

func TestAgentRestart(t *testing.T) {
	h := open(t)
	h.api.turn = func(in plugin.Input) { h.api.send(in, "yes", true) }
	page := h.page()
	resp, err := page.Get("http://" + h.addr + "/api/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	s := streamOf(resp)
	defer s.Close()
	await(t, s, "hello")
	h.stopAgent()
	rest(t, s) // ends
	h.until("the loss of the link", func() bool { return !h.linked() })
	st, b := h.post(page, "chat", `{"text":"a"}`)
	if st != 503 || !strings.Contains(string(b), "agent_down") || !strings.Contains(string(b), "智能体") {
		t.Fatalf("without agent: %d %s", st, b)
	}
	if resp, err := page.Get("http://" + h.addr + "/"); err != nil || resp.StatusCode != 200 {
		t.Fatalf("page: %v", err)
	} else {
		resp.Body.Close()
	}
	h.openAgent()
	h.untilLinked()
	if st, b := h.post(page, "chat", `{"text":"a"}`); st != 200 {
		t.Fatalf("after: %d %s", st, b)
	}
}

func TestDoorRestart(t *testing.T) {
	h := open(t)
	h.api.turn = func(in plugin.Input) { h.api.send(in, "yes", true) }
	page := h.page()
	h.listen = h.addr // the same address, so that the cookie fits
	h.stopDoor()
	h.openDoor()
	h.untilLinked() // by itself
	if st, b := h.post(page, "chat", `{"text":"a"}`); st != 200 {
		t.Fatalf("the login is gone: %d %s", st, b)
	}
}

func TestLife(t *testing.T) {
	api := newFakeAPI(t)
	reg := &registry{}
	for _, row := range []struct {
		name string
		o    web.Options
	}{
		{"no registry", web.Options{Socket: "/x", LinkSecret: "s"}},
		{"no secret", web.Options{Socket: "/x", Registry: reg}},
		{"no address", web.Options{LinkSecret: "s", Registry: reg}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := web.New(row.o)
			if err := p.Start(context.Background(), api); err == nil {
				t.Error("started")
			}
			if err := p.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("no door, twice", func(t *testing.T) {
		p := web.New(web.Options{Registry: reg, Socket: "/nonexistent/door.sock", LinkSecret: "s"})
		for range 2 {
			if err := p.Start(context.Background(), api); err != nil {
				t.Fatal(err)
			}
			if p.Start(context.Background(), api) == nil {
				t.Error("started while it runs")
			}
			for range 2 {
				if err := p.Stop(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
		}
		api.mu.Lock()
		defer api.mu.Unlock()
		if len(api.subs) != 0 {
			t.Errorf("%d subscriptions are left", len(api.subs))
		}
	})
}

func TestSlowPageIsToldWhatItLost(t *testing.T) {
	h := open(t)
	c := h.console("en")
	s, err := c.Stream(testCtx(t), "GET", "events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	await(t, s, "hello")
	// More than queue, link and sockets hold while nobody reads.
	text := strings.Repeat("x", 8<<10)
	for range 2000 {
		h.api.Publish(event.Event{Type: event.System, Text: text})
	}
	await(t, s, "lost")
}
