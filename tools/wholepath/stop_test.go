package wholepath

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"homeagent/agent/event"
	"homeagent/drivers/web/client"
	"homeagent/tools/fakellm"
	"homeagent/tools/spoken"
)

// model is a language model that answers by script and counts connections that
// its clients left before the answer.
type model struct {
	*fakellm.Server
	url  string
	mu   sync.Mutex
	left int
}

func newModel(t testing.TB, script fakellm.Script) *model {
	m := &model{Server: fakellm.New(script)}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.ServeHTTP(w, r)
		if r.Context().Err() != nil {
			m.mu.Lock()
			m.left++
			m.mu.Unlock()
		}
	}))
	m.url = srv.URL
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return m
}

// gone is the number of connections that were left.
func (m *model) gone() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.left
}

// config makes a house think with the model.
func (m *model) config() string {
	return fmt.Sprintf("providers:\n  - {kind: openai, base_url: %q, model: fake}\n", m.url)
}

func never(fakellm.Request) fakellm.Reply { return fakellm.Reply{Hang: true} }

func replies(text string) fakellm.Script {
	return func(fakellm.Request) fakellm.Reply { return fakellm.Reply{Text: text} }
}

// TestStopSpoken lets a model that never answers be stopped by a spoken "stop".
func TestStopSpoken(t *testing.T) {
	t.Parallel()
	spoken.Need(t, "flite", "espeak-ng")
	spoken.NeedEngines(t)
	m := newModel(t, replies("ready"))
	h := open(t, m.config()+quiet)
	w := h.watch()
	stop := spoken.Join(spoken.Silence(500*time.Millisecond), spoken.Trim(spoken.Flite(t, "rms", "stop", "1.0")), spoken.Silence(500*time.Millisecond))

	var want []string
	t.Run("asked by text", func(t *testing.T) {
		h := h.in(t)
		want = append(want, "stop from voice")
		m.SetScript(never)
		asked, gone := len(m.Requests()), m.gone()
		type result struct {
			a   client.Answer
			err error
		}
		over := make(chan result, 1)
		go func() {
			a, err := h.trySay("tell me the story of your life")
			over <- result{a, err}
		}()
		eventually(t, turnWait, "the model is asked", func() bool { return len(m.Requests()) == asked+1 })
		if m.gone() != gone {
			t.Fatal("the request has ended by itself")
		}
		got := h.hear(spoken.Save(t, stop), "--no-wake")
		h.wasStopped(t, got)
		eventually(t, turnWait, "the request to the model has ended", func() bool { return m.gone() == gone+1 })
		select {
		case r := <-over:
			// The chain gives a silent model up after half a minute and answers by
			// itself; a turn that was stopped has no answer.
			if r.err != nil || r.a.Text != "" {
				t.Errorf("the turn was not stopped, it ended with %q, %v", r.a.Text, r.err)
			}
		case <-time.After(turnWait):
			t.Fatal("the turn goes on")
		}
		m.SetScript(replies("still here"))
		if got := h.say("are you still there"); got != "still here" {
			t.Errorf("afterwards: %q", got)
		}
	})

	t.Run("asked and stopped in one recording", func(t *testing.T) {
		h := h.in(t)
		want = append(want, "stop from voice")
		m.SetScript(never)
		asked, gone := len(m.Requests()), m.gone()
		sound := spoken.Join(spoken.Silence(300*time.Millisecond), spoken.Trim(spoken.Flite(t, "rms", "tell me a long story about the sea", "1.0")), spoken.Silence(3*time.Second), stop)
		got := h.hear(spoken.Save(t, sound), "--no-wake")
		heard := got.all("heard")
		if len(heard) != 2 || !strings.Contains(strings.ToLower(heard[0].Text), "story") {
			t.Fatalf("heard %s", got)
		}
		h.wasStopped(t, got)
		if n := len(m.Requests()) - asked; n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
		eventually(t, turnWait, "the request to the model has ended", func() bool { return m.gone() == gone+1 })
		m.SetScript(replies("still here"))
		if got := h.say("are you still there"); got != "still here" {
			t.Errorf("afterwards: %q", got)
		}
	})

	w.fence()
	var stops []string
	for _, e := range w.all() {
		if e.Type == event.Control {
			stops = append(stops, e.State+" from "+e.Source)
		}
	}
	same(t, "control intents", stops, want)
	if v := m.Violations(); len(v) > 0 {
		t.Errorf("the model complains: %q", v)
	}
}

// wasStopped checks that the last thing heard was "stop" and was confirmed.
func (h *house) wasStopped(t *testing.T, got hearing) {
	t.Helper()
	heard := got.all("heard")
	if got.code != 0 || len(heard) == 0 || strings.Trim(strings.ToLower(heard[len(heard)-1].Text), ". ") != "stop" {
		t.Fatalf("heard %s", got)
	}
	if a := got.all("answer"); len(a) != 1 || !strings.HasPrefix(a[0].Text, "Stopped") {
		t.Errorf("the stop alone is to be confirmed: %s", got)
	}
}

// TestStopSpokenEndsATool stops a tool. No real tool is slow enough, so the
// mind, the host, memory, the voice and the engines' process are joined here
// with a plugin whose tool works until it is told not to.
func TestStopSpokenEndsATool(t *testing.T) {
	t.Parallel()
	spoken.Need(t, "flite", "espeak-ng")
	spoken.NeedEngines(t)
	m := newModel(t, func(r fakellm.Request) fakellm.Reply {
		if r.Last("user") == "" || strings.Contains(r.Last("user"), "dig") {
			return fakellm.Reply{Calls: []fakellm.Call{{ID: "call-1", Name: "dig", Args: `{}`}}}
		}
		return fakellm.Reply{Text: "still here"}
	})
	a := joined(t, m)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	id, err := a.mind.InjectText(ctx, "console", "console", "dig a hole")
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-a.slow.began:
	case <-ctx.Done():
		t.Fatal("the tool was not called")
	}
	out := &reply{}
	sound := spoken.Save(t, spoken.Join(spoken.Silence(500*time.Millisecond), spoken.Trim(spoken.Flite(t, "rms", "stop", "1.0")), spoken.Silence(500*time.Millisecond)))
	a.hear(ctx, t, sound, out)
	select {
	case err := <-a.slow.ended:
		if err == nil {
			t.Error("the tool ended by itself")
		}
	case <-ctx.Done():
		t.Fatal("the tool still runs")
	}
	a.wait(ctx, t, "the end of the turn", func(e event.Event) bool { return e.State == "turn_end" && e.Input == id })
	for _, e := range a.seen() {
		if e.Type == event.ToolCall && e.Input == id && e.Call.Name == "dig" && e.Result.Status == "done" {
			t.Errorf("the call counts as done: %+v", e.Result)
		}
	}
	if !strings.Contains(out.String(), `"text":"stop"`) {
		t.Errorf("heard %s", out)
	}
	if n := len(m.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	next, err := a.mind.InjectText(ctx, "console", "console", "are you still there")
	if err != nil {
		t.Fatal(err)
	}
	a.wait(ctx, t, "the next answer", func(e event.Event) bool {
		return e.Type == event.AgentOutput && e.Input == next && e.Text == "still here"
	})
}

// reply collects what an endpoint answers.
type reply struct {
	mu sync.Mutex
	b  strings.Builder
}

func (r *reply) Status(int, string) {}

func (r *reply) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(p)
}

func (r *reply) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

var _ io.Writer = (*reply)(nil)
