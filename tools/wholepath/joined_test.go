package wholepath

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"homeagent/agent/bus"
	"homeagent/agent/event"
	"homeagent/agent/home"
	"homeagent/agent/host"
	"homeagent/agent/intent"
	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/agent/provider/chain"
	"homeagent/agent/queue"
	"homeagent/agent/tool"
	"homeagent/drivers/audio"
	"homeagent/drivers/llm"
	"homeagent/drivers/voice"
	"homeagent/drivers/voice/engine"
	"homeagent/drivers/voice/espeak"
	"homeagent/drivers/voice/speech"
	"homeagent/memory"
	"homeagent/memory/disk"
	"homeagent/tools/spoken"
)

// inOne is an agent joined in this process, as cmd/homed-agent joins it, with a
// slow tool and a console that nobody reads.
type inOne struct {
	host *host.Host
	mind *mind.Mind
	slow *slow

	mu     sync.Mutex
	events []event.Event
	news   chan struct{} // closed and replaced with each event
}

func joined(t *testing.T, m *model) *inOne {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	a := &inOne{slow: &slow{began: make(chan struct{}, 1), ended: make(chan error, 1)}, news: make(chan struct{})}
	b := bus.New(log, nil)
	b.Subscribe("test", event.All, a.saw)
	dir := t.TempDir()
	mem, _, err := memory.Open(dir, memory.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	q, err := queue.Open(disk.OS{}, filepath.Join(dir, "queue.log"), log)
	if err != nil {
		t.Fatal(err)
	}
	household := home.Default()
	commands, err := intent.Default(household)
	if err != nil {
		t.Fatal(err)
	}
	client, err := llm.New(llm.Config{Kind: "openai", BaseURL: m.url, Model: "fake"})
	if err != nil {
		t.Fatal(err)
	}
	a.host = host.New(host.Options{Log: log, Bus: b, Home: household, Memory: mem.Plugin(), Stores: stores{mem}})
	mem.UseTools(a.host)
	a.mind, err = mind.New(mind.Options{Log: log, Bus: b, Host: a.host, Queue: q, Memory: mem, Provider: chain.New(chain.Options{Log: log}, client)})
	if err != nil {
		t.Fatal(err)
	}
	engines := engine.NewClient(engine.Options{Command: []string{program(t, "homed-agent"), "engines", "-models", spoken.Models(t)}, Log: log})
	for _, p := range []plugin.Plugin{
		llm.NewPlugin(client), audio.New(audio.Config{}), a.slow,
		voice.New(voice.Options{Config: voice.Config{Microphone: "off", Speaker: "off"}, Endpointing: engines, English: engines.English(),
			Synthesizers: []speech.Synthesizer{espeak.New(espeak.Config{})}, Grammar: commands.Grammar, LLM: func() bool { return true }}),
	} {
		if err := a.host.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.host.Start(ctx)
	done := make(chan error, 1)
	go func() { done <- a.mind.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the mind ended with %v", err)
		}
		end, cancel := context.WithTimeout(context.Background(), turnWait)
		defer cancel()
		a.host.Stop(end)
		if err := errors.Join(engines.Close(), q.Close(), mem.Close()); err != nil {
			t.Error(err)
		}
		b.Close(end)
	})
	return a
}

// stores gives each plugin its bucket.
type stores struct{ *memory.Memory }

func (s stores) Store(name string) plugin.Store { return s.Memory.Store(name) }

func (a *inOne) saw(e event.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
	close(a.news)
	a.news = make(chan struct{})
}

// seen are the events so far.
func (a *inOne) seen() []event.Event {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.events)
}

// wait returns when an event has come.
func (a *inOne) wait(ctx context.Context, t *testing.T, what string, fits func(event.Event) bool) {
	t.Helper()
	for {
		a.mu.Lock()
		ok, news := slices.ContainsFunc(a.events, fits), a.news
		a.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			t.Fatalf("never came: %s", what)
		}
	}
}

// hear plays a recording into the microphone path, listening at once.
func (a *inOne) hear(ctx context.Context, t *testing.T, file string, out plugin.Reply) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, ok := a.host.Endpoint("hear")
	if !ok {
		t.Fatal("voice has no endpoint hear")
	}
	req := &plugin.Request{Method: http.MethodPost, Query: url.Values{"wake": {"skip"}}, ContentType: "audio/wav", Body: f, Lang: "en"}
	if err := h(ctx, req, out); err != nil {
		t.Fatalf("hear: %v", err)
	}
}

// slow is a plugin with a console and a tool that works until its context ends.
type slow struct {
	began chan struct{}
	ended chan error
}

func (*slow) Name() string               { return "slow" }
func (*slow) Version() string            { return "1" }
func (*slow) Stop(context.Context) error { return nil }

func (s *slow) Start(_ context.Context, api plugin.API) error {
	err := api.Channel("console", s)
	if err != nil {
		return err
	}
	def := tool.Def{Description: "Digs a hole.", Risk: tool.Act, Parameters: []byte(`{"type":"object","additionalProperties":false}`)}
	return api.RegisterTool("dig", def, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		s.began <- struct{}{}
		<-ctx.Done()
		s.ended <- context.Cause(ctx)
		return tool.Result{}, ctx.Err()
	})
}

// Send is the console's; what it says is looked at as events.
func (*slow) Send(context.Context, plugin.Message) error { return nil }
