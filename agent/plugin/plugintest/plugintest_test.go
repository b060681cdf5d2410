package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/tool"
)

// sample is a plugin that does everything right, or one thing wrong.
type sample struct {
	wrong string
	mu    sync.Mutex
	end   chan struct{}
	done  chan struct{}
}

func (s *sample) Name() string    { return "sample" }
func (s *sample) Version() string { return "1" }

func (s *sample) Start(_ context.Context, api plugin.API) error {
	schema := json.RawMessage(`{"type":"object"}`)
	end, done := make(chan struct{}), make(chan struct{})
	s.mu.Lock()
	s.end, s.done = end, done
	s.mu.Unlock()
	go func() {
		defer close(done)
		<-end
	}()
	err := api.RegisterTool("sample_wait", tool.Def{Description: "waits", Parameters: schema, Risk: tool.Read},
		func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			if s.wrong == "hangs" {
				<-end
				return tool.Result{}, nil
			}
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		})
	if err == nil {
		err = api.RegisterStage(plugin.OnInput, func(_ context.Context, sc *plugin.StageContext) error {
			switch s.wrong {
			case "panics":
				panic("boom")
			case "writes":
				sc.FinalText = "mine"
			}
			return nil
		})
	}
	if err == nil {
		api.Subscribe(event.System, func(event.Event) {})
		err = api.Channel("sample", s)
	}
	if err != nil && s.wrong == "ignores" {
		return nil
	}
	if err != nil && s.wrong != "leaks at failure" {
		return errors.Join(err, s.Stop(context.Background()))
	}
	return err
}

func (s *sample) Send(context.Context, plugin.Message) error { return nil }

func (s *sample) Stop(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		if s.wrong == "second stop" {
			return errors.New("not running")
		}
		return nil
	}
	if s.wrong != "leaks" {
		close(s.end)
		<-s.done
	}
	s.end = nil
	return nil
}

func TestConformance(t *testing.T) {
	Conformance(t, func(*testing.T) plugin.Plugin { return &sample{} })
}

// TestConformanceFinds runs the suite over plugins with one fault each, in a
// process of its own, since it must fail there.
func TestConformanceFinds(t *testing.T) {
	if wrong := os.Getenv("PLUGINTEST_WRONG"); wrong != "" {
		Conformance(t, func(*testing.T) plugin.Plugin { return &sample{wrong: wrong} })
		return
	}
	for wrong, want := range map[string]string{
		"leaks":            "goroutines are left",
		"hangs":            "do not end with their context",
		"panics":           "panicked: boom",
		"writes":           "final_text, which this stage may not write",
		"ignores":          "runs although registration",
		"leaks at failure": "goroutines are left",
		"second stop":      "not running",
	} {
		t.Run(wrong, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestConformanceFinds$")
			cmd.Env = append(os.Environ(), "PLUGINTEST_WRONG="+wrong)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("err %v, no %q in: %s", err, want, out)
			}
		})
	}
}

func TestBench(t *testing.T) {
	b := New(t)
	b.MustStart(&sample{})
	l := b.Listen("console")
	api := b.Host.Core("test")
	if _, err := api.InjectInput(t.Context(), plugin.Input{Source: "test", Payload: "hello"}); err != nil {
		t.Fatal(err)
	}
	if in := b.WaitInput(1); in.Payload != "hello" || in.ID == "" {
		t.Errorf("input: %+v", in)
	}
	if err := b.Host.Send(t.Context(), plugin.Message{Channel: "console", Text: "hi"}); err != nil {
		t.Fatal(err)
	}
	if m := l.Wait(1); m.Text != "hi" {
		t.Errorf("message: %+v", m)
	}
	if r := b.Call("nothing", map[string]any{}); r.Status != tool.Failed || !strings.Contains(r.Text, "sample_wait") {
		t.Errorf("an unknown tool gives %+v", r)
	}
	s := api.Store()
	for _, k := range []string{"b", "a", "c"} {
		if err := s.Put(k, []byte(k)); err != nil {
			t.Fatal(err)
		}
	}
	var keys []string
	s.List("", func(k string, _ []byte) bool { keys = append(keys, k); return k != "b" })
	if strings.Join(keys, "") != "ab" {
		t.Errorf("listed %v", keys)
	}
	if err := s.Put("big", make([]byte, 1<<20+1)); err == nil {
		t.Error("a value above the limit is taken")
	}
}
