package bus

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/agent/event"
)

// logged collects log lines.
type logged struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newBus() (*Bus, *logged) {
	out := &logged{}
	return New(slog.New(slog.NewTextHandler(out, nil)), nil), out
}

func closeBus(t *testing.T, b *Bus) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := b.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestOrderAndTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBus()
		var system, all []string
		b.Subscribe("a", event.System, func(e event.Event) { system = append(system, e.Text) })
		b.Subscribe("b", event.All, func(e event.Event) {
			if e.Time.IsZero() {
				t.Error("an event without a time")
			}
			all = append(all, e.Text)
		})
		for i := range 5 {
			b.Publish(event.Event{Type: event.System, Text: fmt.Sprint(i)})
			b.Publish(event.Event{Type: event.ToolCall, Text: "t"})
		}
		synctest.Wait()
		if got := strings.Join(system, ""); got != "01234" {
			t.Errorf("system events: %q", got)
		}
		if got := strings.Join(all, ""); got != "0t1t2t3t4t" {
			t.Errorf("all events: %q", got)
		}
		closeBus(t, b)
	})
}

func TestSlowSubscriberLosesOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, out := newBus()
		gate := make(chan struct{})
		var got []string
		b.Subscribe("slow one", event.System, func(e event.Event) {
			<-gate
			got = append(got, e.Text)
		})
		b.Publish(event.Event{Type: event.System, Text: "first"})
		synctest.Wait() // the handler holds "first"
		for i := range queueLen + 10 {
			b.Publish(event.Event{Type: event.System, Text: fmt.Sprint(i)})
		}
		close(gate)
		synctest.Wait()
		if len(got) != 1+queueLen || got[1] != "10" || got[queueLen] != fmt.Sprint(queueLen+9) {
			t.Errorf("got %d events, second %q, last %q", len(got), got[1], got[len(got)-1])
		}
		if !strings.Contains(out.String(), "slow one") || !strings.Contains(out.String(), "lost=10") {
			t.Errorf("the loss was not logged: %s", out)
		}
		closeBus(t, b)
	})
}

func TestControlPassesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBus()
		gate := make(chan struct{})
		var all, alone []string
		b.Subscribe("hangs", event.All, func(e event.Event) {
			<-gate
			all = append(all, e.Text+e.State)
		})
		b.Subscribe("device", event.Control, func(e event.Event) { alone = append(alone, e.State) })
		b.Publish(event.Event{Type: event.System, Text: "0"})
		synctest.Wait()
		for i := range 2 * queueLen {
			b.Publish(event.Event{Type: event.System, Text: fmt.Sprint(i)})
		}
		b.Publish(event.Event{Type: event.Control, State: "stop"})
		synctest.Wait()
		if len(alone) != 1 || alone[0] != "stop" {
			t.Errorf("the control subscriber got %v while another hung", alone)
		}
		close(gate)
		synctest.Wait()
		if len(all) < 2 || all[1] != "stop" {
			t.Errorf("behind a full queue stop came as %v", all[:2])
		}
		closeBus(t, b)
	})
}

func TestControlIsNeverLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBus()
		gate := make(chan struct{})
		seen := map[string]int{}
		b.Subscribe("device", event.Control, func(e event.Event) {
			<-gate
			seen[e.State]++
		})
		b.Publish(event.Event{Type: event.Control, State: "mute"})
		b.Publish(event.Event{Type: event.Control, State: "stop"})
		for range 10 * queueLen {
			b.Publish(event.Event{Type: event.Control, State: "louder"})
		}
		close(gate)
		synctest.Wait()
		if seen["stop"] != 1 || seen["mute"] != 1 || seen["louder"] == 0 {
			t.Errorf("seen: %v", seen)
		}
		closeBus(t, b)
	})
}

func TestPanicIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, out := newBus()
		n := 0
		b.Subscribe("breaks", event.System, func(event.Event) {
			if n++; n == 1 {
				panic("boom")
			}
		})
		b.Publish(event.Event{Type: event.System})
		b.Publish(event.Event{Type: event.System})
		synctest.Wait()
		if n != 2 || !strings.Contains(out.String(), "boom") || !strings.Contains(out.String(), "breaks") {
			t.Errorf("called %d times, log: %s", n, out)
		}
		closeBus(t, b)
	})
}

func TestUndo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBus()
		n := 0
		var undo func()
		undo = b.Subscribe("once", event.System, func(event.Event) {
			n++
			undo() // from the handler itself
		})
		b.Publish(event.Event{Type: event.System})
		b.Publish(event.Event{Type: event.System})
		synctest.Wait()
		undo()
		b.Publish(event.Event{Type: event.System})
		synctest.Wait()
		if n != 1 {
			t.Errorf("called %d times after undo", n)
		}
		closeBus(t, b)
		b.Subscribe("late", event.System, func(event.Event) { t.Error("called on a closed bus") })
		b.Publish(event.Event{Type: event.System})
		synctest.Wait()
		closeBus(t, b) // twice is harmless
	})
}

func TestCloseGivesUpOnAHangingHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBus()
		gate := make(chan struct{})
		b.Subscribe("hangs", event.System, func(event.Event) { <-gate })
		b.Publish(event.Event{Type: event.System})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := b.Close(ctx); err == nil {
			t.Error("Close returned nil although a handler hangs")
		}
		close(gate)
		synctest.Wait()
	})
}
