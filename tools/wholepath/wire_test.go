package wholepath

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"homeagent/agent/bus"
	"homeagent/agent/host"
	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/agent/provider/chain"
	"homeagent/agent/queue"
	"homeagent/agent/tool"
	"homeagent/drivers/llm"
	"homeagent/memory"
	"homeagent/memory/disk"
	"homeagent/tools/fakellm"
)

// talker is a mind with a real memory and a real client of a strict language
// model, on a folder that outlives it. It is its own console.
type talker struct {
	mind *mind.Mind
	said chan plugin.Message
	end  func()
}

// Send implements plugin.Sender.
func (k *talker) Send(ctx context.Context, m plugin.Message) error {
	select {
	case k.said <- m:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// talk starts a mind on the folder. tools are offered beside the core's own.
func talk(t *testing.T, dir, url string, tools map[string]tool.Handler) *talker {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	b := bus.New(log, nil)
	mem, _, err := memory.Open(dir, memory.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	q, err := queue.Open(disk.OS{}, filepath.Join(dir, "queue.log"), log)
	if err != nil {
		t.Fatal(err)
	}
	client, err := llm.New(llm.Config{Kind: "deepseek", BaseURL: url, Key: "sk-0123456789abcdef"})
	if err != nil {
		t.Fatal(err)
	}
	h := host.New(host.Options{Log: log, Bus: b, Memory: mem.Plugin(), Stores: stores{mem}})
	mem.UseTools(h)
	k := &talker{said: make(chan plugin.Message, 8)}
	core := h.Core("test")
	if err := core.Channel("console", k); err != nil {
		t.Fatal(err)
	}
	for name, f := range tools {
		if err := core.RegisterTool(name, tool.Def{Description: "A tool of the test.", Risk: tool.Read}, f); err != nil {
			t.Fatal(err)
		}
	}
	k.mind, err = mind.New(mind.Options{Log: log, Bus: b, Host: h, Queue: q, Memory: mem, Provider: chain.New(chain.Options{Log: log, Tries: 1}, client)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- k.mind.Run(ctx) }()
	ended := false
	k.end = func() {
		if ended {
			return
		}
		ended = true
		cancel()
		err := <-done
		client.Close()
		end, cancel := context.WithTimeout(context.Background(), turnWait)
		defer cancel()
		h.Stop(end)
		if err := errors.Join(err, q.Close(), mem.Close()); err != nil {
			t.Error(err)
		}
		b.Close(end)
	}
	t.Cleanup(k.end)
	return k
}

// say gives the agent a text and returns its answer.
func (k *talker) say(t *testing.T, text string) string {
	t.Helper()
	id, err := k.mind.InjectText(t.Context(), "console", "console", text)
	if err != nil {
		t.Fatal(err)
	}
	late := time.NewTimer(turnWait)
	defer late.Stop()
	for {
		select {
		case m := <-k.said:
			if m.ReplyTo == id && m.Final {
				return m.Text
			}
		case <-late.C:
			t.Fatalf("no answer to %.40q: %+v", text, k.mind.Status())
		}
	}
}

// strict is a model that refuses what the real one refuses.
func strict(t *testing.T, script fakellm.Script) (*fakellm.Server, string) {
	t.Helper()
	fake := fakellm.New(script)
	fake.Key, fake.DeepSeek = "sk-0123456789abcdef", true
	srv := httptest.NewServer(fake)
	t.Cleanup(srv.Close)
	t.Cleanup(func() {
		if v := fake.Violations(); len(v) > 0 {
			t.Errorf("the model refused: %q", v)
		}
	})
	return fake, srv.URL
}

// calls answers the first request of each user message that holds the word
// with calls, and everything else with text.
func calls(word string, list func() []fakellm.Call) fakellm.Script {
	return func(r fakellm.Request) fakellm.Reply {
		if last := r.Messages[len(r.Messages)-1]; last.Role != "tool" && r.Contains(word) && !toolAfterUser(r) {
			return fakellm.Reply{Reasoning: "let me see", Calls: list()}
		}
		return fakellm.Reply{Text: "It is done."}
	}
}

func toolAfterUser(r fakellm.Request) bool {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		switch r.Messages[i].Role {
		case "tool":
			return true
		case "user":
			return false
		}
	}
	return false
}

// TestReasoningSurvives: the reasoning behind a tool call goes back to the
// model in every later turn, after a restart and across prunes too.
func TestReasoningSurvives(t *testing.T) {
	n := 0
	fake, url := strict(t, calls("look", func() []fakellm.Call {
		n++
		return []fakellm.Call{{ID: fmt.Sprintf("call-%d", n), Name: "look", Args: "{}"}}
	}))
	dir := t.TempDir()
	tools := map[string]tool.Handler{"look": func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "a lamp"}, nil }}
	k := talk(t, dir, url, tools)
	k.say(t, "look at the room")
	k.end()
	k = talk(t, dir, url, tools)
	k.say(t, "and now?")
	back := 0
	for _, m := range fake.Requests()[len(fake.Requests())-1].Messages {
		if len(m.ToolCalls) > 0 && m.Reasoning == "let me see" {
			back++
		}
	}
	if back != 1 {
		t.Errorf("after a restart %d messages with reasoning went back, want 1", back)
	}
	for i := range 60 { // several prunes; the strict model refuses an orphan or a lost reasoning
		text := fmt.Sprintf("tell me story %d", i)
		if i%4 == 0 {
			text = fmt.Sprintf("look at thing %d", i)
		}
		if got := k.say(t, text); got != "It is done." {
			t.Fatalf("%q was answered %q", text, got)
		}
	}
}

// TestToolThatFailsTheSameWay: the turn ends early, with words.
func TestToolThatFailsTheSameWay(t *testing.T) {
	n := 0
	fake, url := strict(t, func(r fakellm.Request) fakellm.Reply {
		if len(r.Tools) == 0 {
			return fakellm.Reply{Text: "The pump does not answer."}
		}
		n++
		return fakellm.Reply{Calls: []fakellm.Call{{ID: fmt.Sprintf("p%d", n), Name: "pump", Args: "{}"}}}
	})
	k := talk(t, t.TempDir(), url, map[string]tool.Handler{"pump": func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{}, errors.New("the pump is jammed")
	}})
	if got := k.say(t, "start the pump"); got != "The pump does not answer." {
		t.Errorf("answered %q", got)
	}
	if n := len(fake.Requests()); n > 4 {
		t.Errorf("the model was asked %d times about a call that keeps failing", n)
	}
}

// TestHugeResults: four results of 60 KB in one turn, then one of 800 KB.
func TestHugeResults(t *testing.T) {
	size, want := 60<<10, 4
	fake, url := strict(t, calls("read", func() []fakellm.Call {
		var list []fakellm.Call
		for i := range want {
			list = append(list, fakellm.Call{ID: fmt.Sprintf("r%d-%d", size, i), Name: "read", Args: "{}"})
		}
		return list
	}))
	k := talk(t, t.TempDir(), url, map[string]tool.Handler{"read": func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: strings.Repeat("灯", size/3)}, nil
	}})
	if got := k.say(t, "read four books"); got != "It is done." {
		t.Fatalf("four of 60 KB: answered %q", got)
	}
	whole := 0
	for _, m := range fake.Requests()[len(fake.Requests())-1].Messages {
		if m.Role == "tool" && len(m.Text()) == size {
			whole++
		}
	}
	if whole != 4 {
		t.Errorf("%d of 4 results of 60 KB reached the model whole", whole)
	}
	size, want = 800<<10, 1
	if got := k.say(t, "read one more"); got != "It is done." {
		t.Fatalf("one of 800 KB: answered %q", got)
	}
	for _, m := range fake.Requests()[len(fake.Requests())-1].Messages {
		if m.Role == "tool" && len(m.Text()) > host.MaxToolText+1024 {
			t.Errorf("a result of %d bytes reached the model", len(m.Text()))
		}
	}
	if got := k.say(t, "still there?"); got != "It is done." {
		t.Errorf("the next turn was answered %q", got)
	}
}
