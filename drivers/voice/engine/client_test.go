package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"homeagent/drivers/voice/speech"
)

// short is a deadline that a process which hangs will surely miss.
const short = 300 * time.Millisecond

func TestRecognize(t *testing.T) {
	rows := []struct {
		name, mode, grammar string
		free                bool
		deadline            time.Duration
		want                speech.Transcript
		err                 error  // matched by errors.Is
		text                string // part of the error
	}{
		{name: "free text", mode: "answers", want: speech.Transcript{Text: "3 samples", Lang: "en", Engine: "fake"}},
		{name: "command", mode: "answers", grammar: "g", want: speech.Transcript{Text: "3 samples", Lang: "en", Engine: "fake", Command: true}},
		{name: "free takes no grammar", mode: "answers", grammar: "g", free: true, want: speech.Transcript{Text: "3 samples", Lang: "en", Engine: "fake"}},
		{name: "with less", mode: "answers", grammar: "less", want: speech.Transcript{Text: "3 samples", Lang: "en", Engine: "fake", Command: true}},
		{name: "nothing installed", mode: "answers", grammar: "missing", err: speech.ErrMissing, text: "tools/setup"},
		{name: "engine fails", mode: "answers", grammar: "broken", text: "it broke"},
		{name: "crash, then well", mode: "crashes once", want: speech.Transcript{Text: "3 samples", Lang: "en", Engine: "fake"}},
		{name: "crash, again", mode: "crashes", err: ErrCrashed, text: "out of memory"},
		{name: "ends at once", mode: "exits", err: ErrCrashed, text: "no library here"},
		{name: "hangs", mode: "hangs", deadline: short, err: ErrCrashed, text: "it hung"},
		{name: "hangs without reading", mode: "deaf", deadline: short, err: ErrCrashed, text: "it hung"},
		{name: "talks nonsense", mode: "garbage", err: ErrCrashed, text: "not a frame"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			opt := command(t, row.mode)
			opt.Deadline = row.deadline
			c := client(t, opt)
			r := c.English()
			if row.free {
				r = c.Free()
			}
			got, err := r.Recognize(t.Context(), []int16{1, 2, 3}, speech.Hint{Grammar: row.grammar})
			if row.err == nil && row.text == "" {
				if err != nil || got != row.want {
					t.Errorf("%+v, %v; want %+v", got, err, row.want)
				}
				return
			}
			if err == nil || row.err != nil && !errors.Is(err, row.err) || !strings.Contains(err.Error(), row.text) {
				t.Errorf("error %v, want %v with %q", err, row.err, row.text)
			}
		})
	}
}

func TestProgramIsAbsent(t *testing.T) {
	for name, cmd := range map[string][]string{"none": nil, "not there": {t.TempDir() + "/none"}} {
		t.Run(name, func(t *testing.T) {
			c := client(t, Options{Command: cmd})
			if err := c.Warm(t.Context()); err == nil || !strings.Contains(err.Error(), "start the speech engines") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestSeveralAtOnceInAnyOrder(t *testing.T) {
	c := client(t, command(t, "backwards"))
	var wg sync.WaitGroup
	for n := range 3 {
		wg.Go(func() {
			got, err := c.Free().Recognize(t.Context(), make([]int16, n), speech.Hint{})
			if want := fmt.Sprintf("%d samples", n); err != nil || got.Text != want {
				t.Errorf("%q, %v; want %q", got.Text, err, want)
			}
		})
	}
	wg.Wait()
}

func TestCrashEndsEveryRequest(t *testing.T) {
	opt := command(t, "hangs")
	opt.Deadline = short
	c := client(t, opt)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := c.Free().Recognize(t.Context(), nil, speech.Hint{}); !errors.Is(err, ErrCrashed) {
				t.Errorf("error %v", err)
			}
		})
	}
	wg.Wait()
}

func TestCancelLeavesTheProcess(t *testing.T) {
	c := client(t, command(t, "hangs"))
	if err := c.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid := c.PID()
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	if _, err := c.Free().Recognize(ctx, nil, speech.Hint{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if err := c.Warm(t.Context()); err != nil || c.PID() != pid {
		t.Errorf("after a request was given up: %v, process %d is now %d", err, pid, c.PID())
	}
}

func TestTooLongASound(t *testing.T) {
	c := client(t, command(t, "answers"))
	if _, err := c.Free().Recognize(t.Context(), make([]int16, 61*16000), speech.Hint{}); err == nil {
		t.Error("no error")
	}
	if c.Running() {
		t.Error("a process was started for it")
	}
}

func TestClose(t *testing.T) {
	for _, mode := range []string{"answers", "stubborn", "deaf"} {
		t.Run(mode, func(t *testing.T) {
			c := client(t, command(t, mode))
			if mode != "deaf" {
				if err := c.Warm(t.Context()); err != nil || !c.Running() || c.PID() == 0 {
					t.Fatalf("warm: %v, running %v", err, c.Running())
				}
			} else {
				ctx, cancel := context.WithTimeout(t.Context(), short)
				defer cancel()
				if err := c.Warm(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
			}
			c.Close()
			c.Close()
			if c.Running() || c.PID() != 0 {
				t.Error("it still runs")
			}
			if err := c.Warm(t.Context()); !errors.Is(err, ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
}

func TestEndpointer(t *testing.T) {
	rows := []struct {
		name, mode string
		err        error
		procs      int // that were needed
	}{{"well", "answers", nil, 1}, {"a crash on the way", "crashes once", nil, 2}, {"only crashes", "crashes", ErrCrashed, 2}}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			c := client(t, command(t, row.mode))
			started := 0
			start := c.start
			c.start = func() (child, error) {
				started++
				return start()
			}
			e, err := c.OpenEndpointer(t.Context(), speech.EndpointConfig{Trailing: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			var got speech.Speech
			fed := 0
			for !got.Ended && err == nil && fed < 10000 {
				got, err = e.Accept(t.Context(), make([]int16, 500))
				fed += 500
			}
			if !errors.Is(err, row.err) || started != row.procs {
				t.Errorf("error %v after %d processes, want %v after %d", err, started, row.err, row.procs)
			}
			if want := (speech.Speech{Started: true, Ended: true, Start: 1000, End: 3000}); row.err == nil && (got != want || fed != 4000) {
				t.Errorf("found %+v after %d samples", got, fed)
			}
			if err := errors.Join(e.Close(), e.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEndpointerResumesMidSpeech(t *testing.T) {
	c := client(t, command(t, "answers"))
	e, err := c.OpenEndpointer(t.Context(), speech.EndpointConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if got, err := e.Accept(t.Context(), make([]int16, 2000)); err != nil || !got.Started || got.Ended {
		t.Fatalf("%+v, %v", got, err)
	}
	kill(t, c)
	got, err := e.Accept(t.Context(), make([]int16, 2000))
	if want := (speech.Speech{Started: true, Ended: true, Start: 1000, End: 3000}); err != nil || got != want {
		t.Errorf("after the process was killed: %+v, %v", got, err)
	}
}

// kill ends the client's process from outside and waits until that is known.
func kill(t *testing.T, c *Client) {
	t.Helper()
	c.mu.Lock()
	p := c.proc
	c.mu.Unlock()
	if p == nil {
		t.Fatal("there is no process")
	}
	p.child.Kill()
	<-p.gone
}

func TestKilledFromOutside(t *testing.T) {
	c := client(t, command(t, "answers"))
	for range 2 {
		if err := c.Warm(t.Context()); err != nil {
			t.Fatal(err)
		}
		kill(t, c)
		if c.Running() {
			t.Error("it counts as running")
		}
	}
	if got, err := c.Free().Recognize(t.Context(), nil, speech.Hint{}); err != nil || got.Text != "0 samples" {
		t.Errorf("%q, %v", got.Text, err)
	}
}
