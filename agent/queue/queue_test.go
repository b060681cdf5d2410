package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory/disk"
	"homeagent/memory/disk/disktest"
)

const logPath = "/data/queue.log"

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func open(t *testing.T, fs disk.FS) *Queue {
	t.Helper()
	q, err := Open(fs, logPath, quiet())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func text(id, source string) plugin.Input {
	return plugin.Input{ID: id, Source: source, Type: plugin.Text, Payload: "text of " + id}
}

func put(t *testing.T, q *Queue, in plugin.Input) {
	t.Helper()
	if err := q.Put(in, nil); err != nil {
		t.Fatalf("Put %s: %v", in.ID, err)
	}
}

func next(t *testing.T, q *Queue) *Entry {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	e, err := q.Next(ctx)
	if err != nil {
		t.Fatalf("Next: %v", err)
	}
	return e
}

// steps is the whole life of a turn with two calls.
func steps(q *Queue, id string) []struct {
	name string
	do   func() error
} {
	call := tool.Call{ID: "c1", Name: "lamp", Args: json.RawMessage(`{"on":true}`)}
	read := tool.Call{ID: "c2", Name: "list", Args: json.RawMessage(`{}`)}
	return []struct {
		name string
		do   func() error
	}{
		{"round", func() error { return q.Round(id, Round{Text: "a", Reasoning: "b", Calls: []tool.Call{call, read}}) }},
		{"begin", func() error { return q.Begin(id, call) }},
		{"raw end", func() error {
			return q.End(id, tool.Result{CallID: "c1", Name: "lamp", Status: tool.Done, Text: "raw"}, true)
		}},
		{"end", func() error {
			return q.End(id, tool.Result{CallID: "c1", Name: "lamp", Status: tool.Done, Text: "lit"}, false)
		}},
		{"end of the read", func() error {
			return q.End(id, tool.Result{CallID: "c2", Name: "list", Status: tool.Done, Text: "one"}, false)
		}},
		{"final", func() error {
			return q.Final(id, Final{Text: "done", Said: "done", Channel: "web:1", Outcome: "answered"})
		}},
		{"sent", func() error { return q.Sent(id) }},
		{"done", func() error { return q.Done(id) }},
	}
}

func TestOrderUsersBeforeInternal(t *testing.T) {
	q := open(t, disktest.New())
	for _, in := range []plugin.Input{text("1", "_consolidation_"), text("2", "schedule"), text("3", "web"),
		text("4", "_probe_"), text("5", "voice"), text("6", "timer")} {
		put(t, q, in)
	}
	if s := q.Stats(); s.User != 3 || s.Internal != 3 {
		t.Errorf("stats: %+v", s)
	}
	var got []string
	for range 6 {
		e := next(t, q)
		got = append(got, e.Input.ID)
		if err := q.Done(e.Input.ID); err != nil {
			t.Error(err)
		}
	}
	if strings.Join(got, "") != "356124" {
		t.Errorf("order %v", got)
	}
}

func TestOrderSurvivesRestart(t *testing.T) {
	d := disktest.New()
	q := open(t, d)
	for i := range 5 {
		put(t, q, text(fmt.Sprint(i), "web"))
	}
	next(t, q) // 0 is running when the power goes
	q = open(t, d.Reboot(disktest.All))
	for i := range 5 {
		e := next(t, q)
		if e.Input.ID != fmt.Sprint(i) {
			t.Fatalf("%d comes as %s", i, e.Input.ID)
		}
		if want := map[bool]int{true: 1}[i == 0]; e.Starts != want {
			t.Errorf("input %d has ended %d starts, want %d", i, e.Starts, want)
		}
	}
}

func TestNextWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := open(t, disktest.New())
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan string, 2)
		ended := make(chan error, 1)
		go func() {
			for {
				e, err := q.Next(ctx)
				if err != nil {
					ended <- err
					return
				}
				got <- e.Input.ID
			}
		}()
		synctest.Wait()
		put(t, q, text("1", "web"))
		put(t, q, text("2", "web"))
		if a, b := <-got, <-got; a != "1" || b != "2" {
			t.Errorf("got %s, %s", a, b)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Next ended with %v", err)
		}
	})
}

// TestReplayEveryStep stops the process after each step of a turn, with and
// without what was not synced, and looks at what the next one finds.
func TestReplayEveryStep(t *testing.T) {
	n := len(steps(nil, ""))
	for stop := range n + 1 {
		for _, compact := range []bool{false, true} {
			t.Run(fmt.Sprintf("after %d steps, compacted %v", stop, compact), func(t *testing.T) {
				d := disktest.New()
				q := open(t, d)
				put(t, q, text("x", "web"))
				put(t, q, text("y", "web"))
				next(t, q)
				for _, s := range steps(q, "x")[:stop] {
					if err := s.do(); err != nil {
						t.Fatalf("%s: %v", s.name, err)
					}
				}
				if compact {
					q.mu.Lock()
					err := q.rewrite()
					q.mu.Unlock()
					if err != nil {
						t.Fatal(err)
					}
				}
				q = open(t, d.Reboot(disktest.All))
				e := next(t, q)
				if stop == n {
					if e.Input.ID != "y" || e.Starts != 0 || e.Resumed() {
						t.Errorf("after done comes %+v", e)
					}
					return
				}
				if e.Input.ID != "x" || e.Starts != 1 || !e.Resumed() {
					t.Fatalf("comes %+v", e)
				}
				want := []bool{len(e.Rounds) == 1, e.Calls["c1"].Begun != nil, e.Calls["c1"].Result != nil,
					e.Calls["c1"].Result != nil && !e.Calls["c1"].Raw, e.Calls["c2"].Result != nil, e.Final != nil, e.Sent}
				for i, have := range want {
					if have != (i < stop) {
						t.Errorf("step %q found: %v after %d steps", steps(nil, "")[i].name, have, stop)
					}
				}
				if stop >= 4 && (e.Calls["c1"].Result.Text != "lit" || e.Rounds[0].Reasoning != "b") {
					t.Errorf("content lost: %+v", e)
				}
			})
		}
	}
}

func TestPauseTakesTheStartBack(t *testing.T) {
	d := disktest.New()
	q := open(t, d)
	put(t, q, text("x", "web"))
	put(t, q, text("y", "web"))
	for range 4 {
		e := next(t, q)
		if e.Input.ID != "x" || e.Starts != 0 {
			t.Fatalf("comes %s with %d starts", e.Input.ID, e.Starts)
		}
		if err := q.Pause("x"); err != nil {
			t.Fatal(err)
		}
		d = d.Reboot(disktest.Synced)
		q = open(t, d)
	}
}

func TestStartsAreCounted(t *testing.T) {
	d := disktest.New()
	q := open(t, d)
	put(t, q, text("x", "web"))
	for want := range 4 {
		if e := next(t, q); e.Starts != want {
			t.Fatalf("start %d: %d counted", want, e.Starts)
		}
		d = d.Reboot(disktest.All)
		q = open(t, d)
	}
	e := next(t, q)
	if err := q.Aside(e.Input.ID); err != nil {
		t.Fatal(err)
	}
	q = open(t, d.Reboot(disktest.Synced))
	s := q.Stats()
	if len(s.Aside) != 1 || s.Aside[0].Payload != "text of x" || s.User != 0 {
		t.Errorf("set aside: %+v", s)
	}
}

func TestAsideIsBoundedAndSurvivesCompaction(t *testing.T) {
	d := disktest.New()
	q := open(t, d)
	for i := range asideKept + 3 {
		in := text(fmt.Sprint(i), "web")
		in.Type, in.Media = plugin.Media, []provider.Media{{MIME: "image/png", Name: "a.png", Data: []byte("bytes")}}
		put(t, q, in)
		next(t, q)
		if err := q.Aside(in.ID); err != nil {
			t.Fatal(err)
		}
	}
	q.mu.Lock()
	err := q.rewrite()
	q.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, d.Reboot(disktest.Synced)).Stats()
	if len(s.Aside) != asideKept || s.Aside[0].ID != "3" || s.Aside[0].Media[0].Name != "a.png" || s.Aside[0].Media[0].Data != nil {
		t.Errorf("%d set aside, first %+v", len(s.Aside), s.Aside[0])
	}
}

func TestCompaction(t *testing.T) {
	d := disktest.New()
	q := open(t, d)
	keep := text("keep", "_probe_")
	put(t, q, keep)
	big := strings.Repeat("长", 1000)
	q.least = 40 << 10
	for i := range 40 {
		in := text(fmt.Sprint(i), "web")
		in.Payload = big
		put(t, q, in)
		next(t, q)
		if err := q.Done(in.ID); err != nil {
			t.Fatal(err)
		}
		if s := q.Stats(); s.LogBytes > q.least+10<<10 {
			t.Fatalf("the log grew to %d", s.LogBytes)
		}
	}
	q = open(t, d.Reboot(disktest.All)) // the last done is not synced
	if e := next(t, q); e.Input.ID != "keep" {
		t.Errorf("after compaction comes %s", e.Input.ID)
	}
}

func TestBounds(t *testing.T) {
	media := func(sizes ...int) (out []provider.Media) {
		for _, n := range sizes {
			out = append(out, provider.Media{MIME: "image/png", Data: make([]byte, n)})
		}
		return out
	}
	rows := []struct {
		name   string
		in     plugin.Input
		status int // 0 is accepted
		want   string
	}{
		{"largest text", plugin.Input{Source: "web", Payload: strings.Repeat("x", MaxText)}, 0, ""},
		{"one byte more", plugin.Input{Source: "web", Payload: strings.Repeat("x", MaxText+1)}, 413, "Send it as a file"},
		{"a megabyte of Chinese", plugin.Input{Source: "web", Payload: strings.Repeat("长", 350<<10)}, 413, "存成文件发送"},
		{"invalid UTF-8", plugin.Input{Source: "web", Payload: "abc\xff"}, 400, "as a file"},
		{"invalid UTF-8 in Chinese", plugin.Input{Source: "web", Payload: "你好\xff"}, 400, "存成文件发送"},
		{"NUL", plugin.Input{Source: "web", Payload: "a\x00b"}, 400, "NUL"},
		{"empty", plugin.Input{Source: "web", Payload: " \n"}, 400, "空的"},
		{"empty in English", plugin.Input{Source: "web", Lang: "en"}, 400, "empty"},
		{"no source", plugin.Input{Payload: "x"}, 400, "names no source"},
		{"bad type", plugin.Input{Source: "web", Type: "smell", Payload: "x"}, 400, "text or media"},
		{"channel with a NUL", plugin.Input{Source: "web", Payload: "x", Channel: "a\x00"}, 400, "channel"},
		{"endless user", plugin.Input{Source: "web", Payload: "x", UserID: strings.Repeat("u", maxName+1)}, 400, "user"},
		{"largest media", plugin.Input{Source: "web", Type: plugin.Media, Media: media(MaxMedia/2, MaxMedia/2)}, 0, ""},
		{"media too large", plugin.Input{Source: "web", Type: plugin.Media, Lang: "en", Media: media(MaxMedia, 1)}, 413, "one by one"},
		{"media in too many pieces", plugin.Input{Source: "web", Type: plugin.Media, Media: media(make([]int, MaxParts+1)...)}, 413, "分几次"},
		{"media without media", plugin.Input{Source: "web", Type: plugin.Media, Payload: "look"}, 400, "Attach"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			d := disktest.New()
			q := open(t, d)
			r.in.ID = "id"
			err := q.Put(r.in, nil)
			waiting := open(t, d.Reboot(disktest.Synced)).Stats().User
			if r.status == 0 {
				if err != nil || waiting != 1 {
					t.Errorf("refused: %v; %d waiting", err, waiting)
				}
				return
			}
			var f *plugin.Fault
			if !errors.As(err, &f) || !errors.Is(err, ErrInput) || f.Status != r.status || !strings.Contains(f.Title, r.want) {
				t.Errorf("got %v, want status %d and %q", err, r.status, r.want)
			}
			if waiting != 0 || q.Stats().User != 0 {
				t.Errorf("a refused input is kept")
			}
		})
	}
}

func TestFull(t *testing.T) {
	q := open(t, disktest.New())
	n := 0
	for ; n < MaxQueued-reserved; n++ {
		put(t, q, text(fmt.Sprint(n), "_consolidation_"))
	}
	if err := q.Put(text("inner", "_consolidation_"), nil); !errors.Is(err, ErrFull) {
		t.Errorf("internal inputs may fill the queue: %v", err)
	}
	for ; n < MaxQueued; n++ {
		put(t, q, text(fmt.Sprint(n), "web"))
	}
	var f *plugin.Fault
	if err := q.Put(text("more", "web"), nil); !errors.As(err, &f) || !errors.Is(err, ErrFull) || f.Status != 503 {
		t.Errorf("the queue takes more than its bound: %v", err)
	}
	e := next(t, q)
	if err := q.Done(e.Input.ID); err != nil {
		t.Fatal(err)
	}
	put(t, q, text("again", "web"))
}

func TestHeldBytesAreBounded(t *testing.T) {
	q := open(t, disktest.New())
	in := plugin.Input{ID: "a", Source: "web", Type: plugin.Media, Media: []provider.Media{{MIME: "a/b", Data: make([]byte, 1000)}}}
	put(t, q, in)
	if q.held != 1000 {
		t.Fatalf("holds %d bytes", q.held)
	}
	q.held = MaxHeld - 999 // as many inputs would
	in.ID = "b"
	if err := q.Put(in, nil); !errors.Is(err, ErrFull) {
		t.Errorf("got %v", err)
	}
	q.held = MaxHeld - 1000
	put(t, q, in)
	for range 2 {
		if err := q.Done(next(t, q).Input.ID); err != nil {
			t.Fatal(err)
		}
	}
	if q.held != MaxHeld-2000 {
		t.Errorf("the bytes of finished inputs still count: %d", q.held)
	}
}

func TestTwiceAndUnknown(t *testing.T) {
	q := open(t, disktest.New())
	put(t, q, text("x", "web"))
	if err := q.Put(text("x", "web"), nil); !errors.Is(err, ErrInput) {
		t.Errorf("the same id twice: %v", err)
	}
	for _, s := range steps(q, "nobody") {
		if s.do() == nil {
			t.Errorf("%s of an unknown input is taken", s.name)
		}
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
	if err := q.Close(); err != nil {
		t.Error("closing twice:", err)
	}
	if err := q.Put(text("late", "web"), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestNewIDSortsByTime(t *testing.T) {
	now := time.Now()
	seen := map[string]bool{}
	last := ""
	for i := range 1000 {
		id := NewID(now.Add(time.Duration(i) * 2 * time.Millisecond))
		if id <= last || seen[id] {
			t.Fatalf("%q after %q", id, last)
		}
		seen[id], last = true, id
	}
}
