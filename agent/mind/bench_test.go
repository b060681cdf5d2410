package mind

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"homeagent/agent/bus"
	"homeagent/agent/host"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/queue"
	"homeagent/agent/tool"
	"homeagent/memory/disk"
)

// stopwatch notes when a turn passes the provider and the channel.
type stopwatch struct {
	asked, answered, again time.Time
	sent                   chan time.Time
	tools                  bool
}

func (s *stopwatch) think(_ context.Context, _ int, req provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
	if s.tools && lastOf(req, provider.Tool).CallID == "" {
		s.asked = time.Now()
		r := calls(call("c", "lamp", `{}`))
		s.answered = time.Now()
		return r, nil
	}
	if s.tools {
		s.again = time.Now()
	} else {
		s.asked = time.Now()
	}
	s.answered = time.Now()
	return provider.Response{Text: "the answer"}, nil
}

func (s *stopwatch) Send(context.Context, plugin.Message) error {
	s.sent <- time.Now()
	return nil
}

// BenchmarkTurn measures the mind's own part of a text turn on the real disk
// of the temporary folder: from InjectInput to the provider's request, and
// from its last byte to the channel.
func BenchmarkTurn(b *testing.B) { benchTurn(b, false) }

// BenchmarkToolRound measures a turn with one call of a tool that acts; round
// is from the model's last byte to its next request.
func BenchmarkToolRound(b *testing.B) { benchTurn(b, true) }

func benchTurn(b *testing.B, tools bool) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	q, err := queue.Open(disk.OS{}, filepath.Join(b.TempDir(), "queue.log"), log)
	if err != nil {
		b.Fatal(err)
	}
	defer q.Close()
	bs := bus.New(log, nil)
	defer bs.Close(context.Background())
	h := host.New(host.Options{Log: log, Bus: bs})
	s := &stopwatch{sent: make(chan time.Time), tools: tools}
	mem := &shortMemory{}
	m, err := New(Options{Log: log, Bus: bs, Host: h, Queue: q, Memory: mem, Provider: &lastLLM{fakeLLM{do: s.think}}})
	if err != nil {
		b.Fatal(err)
	}
	api := h.Core("bench")
	api.Channel("console", s)
	var firstDone time.Time
	api.RegisterTool("lamp", tool.Def{Description: "lamp", Risk: tool.Act}, func(context.Context, tool.Call) (tool.Result, error) {
		firstDone = s.answered
		return tool.Result{Text: "on"}, nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	var in, out, round time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := m.InjectText(ctx, "console", "console", "turn on the light"); err != nil {
			b.Fatal(err)
		}
		sent := <-s.sent
		in += s.asked.Sub(began)
		out += sent.Sub(s.answered)
		if tools {
			round += s.again.Sub(firstDone)
		}
	}
	cancel()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	n := float64(b.N) * 1e6
	b.ReportMetric(float64(in)/n, "ms/in")
	b.ReportMetric(float64(out)/n, "ms/out")
	if tools {
		b.ReportMetric(float64(round)/n, "ms/round")
	}
}

// shortMemory forgets at once, so that the bench measures the mind alone.
type shortMemory struct{ fakeMemory }

func (s *shortMemory) EndTurn(context.Context, Turn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.window = s.window[:0]
	return nil
}

// lastLLM keeps no requests.
type lastLLM struct{ fakeLLM }

func (l *lastLLM) ChatStream(ctx context.Context, req provider.Request, emit func(provider.Chunk) error) (provider.Response, error) {
	return l.do(ctx, 0, req, emit)
}
