package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"homeagent/agent/event"
	"homeagent/agent/host"
	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/agent/plugin/plugintest"
	"homeagent/agent/provider"
	"homeagent/agent/queue"
	"homeagent/agent/tool"
	"homeagent/memory"
	"homeagent/memory/disk"
	"homeagent/memory/disk/disktest"
)

// think answers a request.
type think func(ctx context.Context, req provider.Request) (provider.Response, error)

// model is a language model that thinks by a function and keeps what it was asked.
type model struct {
	mu    sync.Mutex
	do    think
	asked []provider.Request
}

func (*model) Name() string { return "scripted" }

func (l *model) Chat(ctx context.Context, req provider.Request) (provider.Response, error) {
	l.mu.Lock()
	l.asked = append(l.asked, req)
	do := l.do
	l.mu.Unlock()
	return do(ctx, req)
}

func (l *model) ChatStream(ctx context.Context, req provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
	return l.Chat(ctx, req)
}

// requests are those so far that fit.
func (l *model) requests(fits func(provider.Request) bool) (out []provider.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.asked {
		if fits(r) {
			out = append(out, r)
		}
	}
	return out
}

func inner(r provider.Request) bool { return r.Source == "_consolidation_" }
func facts(r provider.Request) bool {
	return slices.ContainsFunc(r.Tools, func(d tool.Def) bool { return d.Name == "record_facts" })
}

// agent is memory with a mind around it. The queue lies elsewhere: a data
// folder holds what memory has written and nothing else.
type agent struct {
	t    *testing.T
	dir  string
	mem  *memory.Memory
	mind *mind.Mind
	b    *plugintest.Bench
	con  *plugintest.Listener
	llm  *model // of the talk
	dist *model // of the distiller
}

func (a *agent) Busy() bool { return a.mind.Busy() }

// Model reports that there is one.
func (a *agent) Model() bool { return a.dist != nil }

// InjectInput is the mind's.
func (a *agent) InjectInput(ctx context.Context, in plugin.Input) (string, error) {
	return a.mind.InjectInput(ctx, in)
}

// newAgent joins memory in dir to a mind. dist nil means that nothing but
// grammar distils and that no pair is asked about.
func newAgent(t *testing.T, dir string, do, dist think, opts memory.Options, more ...func(*agent)) *agent {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	opts.Log = log
	m, notices, err := memory.Open(dir, opts)
	if err != nil || len(notices) > 0 {
		t.Fatal(notices, err)
	}
	a := &agent{t: t, dir: dir, mem: m, llm: &model{do: do}}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	if dist != nil {
		a.dist = &model{do: dist}
	}
	a.b = plugintest.New(t, func(o *host.Options) { o.Log = log; o.Memory = m.Plugin() })
	m.UseTools(a.b.Host)
	core := a.b.Host.Core("memory")
	for _, r := range m.Tools() {
		if err := core.RegisterTool(r.Def.Name, r.Def, r.Handler); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range more {
		f(a)
	}
	q, err := queue.Open(disk.FS(disktest.New()), "/data/queue.log", log)
	if err != nil {
		t.Fatal(err)
	}
	a.mind, err = mind.New(mind.Options{Log: log, Bus: a.b.Bus, Host: a.b.Host, Queue: q, Memory: m, Provider: a.llm})
	if err != nil {
		t.Fatal(err)
	}
	a.con = a.b.Listen("console")
	var p provider.Provider
	if a.dist != nil {
		p = a.dist
	}
	if err := m.Start(a, p); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.mind.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return a
}

// withTool registers a tool that answers with a text.
func withTool(name, text string, change func(*tool.Def)) func(*agent) {
	return func(a *agent) {
		d := tool.Def{Description: "a tool of the test", Risk: tool.Read, Parameters: json.RawMessage(`{"type":"object"}`)}
		change(&d)
		err := a.b.Host.Core("test").RegisterTool(name, d, func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Text: text}, nil
		})
		if err != nil {
			a.t.Fatal(err)
		}
	}
}

// over waits for the end of a turn.
func (a *agent) over(id string) {
	a.t.Helper()
	a.b.WaitEvent("the end of turn "+id, func(e event.Event) bool { return e.State == "turn_end" && e.Input == id })
}

// say has a whole turn on the console.
func (a *agent) say(text string) (id string) {
	a.t.Helper()
	id, err := a.mind.InjectText(a.t.Context(), "console", "console", text)
	if err != nil {
		a.t.Fatal(err)
	}
	a.over(id)
	return id
}

// answers everything with one text.
func answers(text string) think {
	return func(context.Context, provider.Request) (provider.Response, error) {
		return provider.Response{Text: text}, nil
	}
}

// uses calls a tool once in each turn and then answers.
func uses(name, args, text string) think {
	return func(_ context.Context, req provider.Request) (provider.Response, error) {
		if last := req.Messages[len(req.Messages)-1]; last.Role == provider.User {
			return provider.Response{Calls: []tool.Call{{Name: name, Args: json.RawMessage(args)}}}, nil
		}
		return provider.Response{Text: text}, nil
	}
}

// holding lists the files below dir that hold a text as bytes.
func holding(t *testing.T, dir, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another process is at work in it
		}
		if err == nil && strings.Contains(string(data), text) {
			rel, _ := filepath.Rel(dir, path)
			files = append(files, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// found are the texts that RecallItems finds.
func found(t *testing.T, m *memory.Memory, query string) (out []string) {
	t.Helper()
	items, err := m.RecallItems(t.Context(), query, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		out = append(out, i.Text)
	}
	return out
}

func holds(list []string, text string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, text) })
}

func settle(t testing.TB, m *memory.Memory) {
	t.Helper()
	if err := m.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}
