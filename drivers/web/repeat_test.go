package web_test

import (
	"slices"
	"testing"
	"time"

	"homeagent/agent/event"
)

// A ringing timer says the same sentence again and again.
func TestRepetitionIsNoNewItem(t *testing.T) {
	said := func(after time.Duration, channel, text string) event.Event {
		at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		return event.Event{Type: event.AgentOutput, Time: at.Add(after), Channel: channel, Text: text}
	}
	asked := said(5*time.Second, "voice", "what time is it")
	asked.Type, asked.Source = event.RawInput, "voice"
	var ring []event.Event
	for i := range 30 { // five minutes of one ring
		ring = append(ring, said(time.Duration(i)*10*time.Second, "voice", "Time is up."))
	}
	for _, row := range []struct {
		name string
		in   []event.Event
		want []string
	}{
		{"a long ring", ring, []string{"Time is up."}},
		{"two minutes later", []event.Event{said(0, "voice", "a"), said(2*time.Minute, "voice", "a")}, []string{"a"}},
		{"more than two minutes later", []event.Event{said(0, "voice", "a"), said(2*time.Minute+time.Second, "voice", "a")}, []string{"a", "a"}},
		{"another text", []event.Event{said(0, "voice", "a"), said(time.Second, "voice", "b"), said(2*time.Second, "voice", "a")}, []string{"a", "b", "a"}},
		{"another channel", []event.Event{said(0, "voice", "a"), said(time.Second, "web:x", "a")}, []string{"a", "a"}},
		{"something on another channel between", []event.Event{said(0, "voice", "a"), said(time.Second, "web:x", "b"), said(2*time.Second, "voice", "a")}, []string{"a", "b"}},
		{"asked again", []event.Event{said(0, "voice", "a"), asked, said(9*time.Second, "voice", "a")}, []string{"a", "what time is it", "a"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := open(t)
			c := h.console("en")
			s, err := c.Stream(testCtx(t), "GET", "events", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			await(t, s, "hello")
			for _, e := range row.in {
				h.api.Publish(e)
			}
			h.api.Publish(event.Event{Type: event.System, Text: "end"})
			var want []string
			for _, text := range row.want {
				if text == asked.Text {
					want = append(want, "raw_input "+text)
				} else {
					want = append(want, "agent_output "+text)
				}
			}
			if got := await(t, s, "system end"); !slices.Equal(got, want) {
				t.Errorf("the feed has %q, want %q", got, want)
			}
			var r struct{ Items []struct{ Text string } }
			if err := c.Do(testCtx(t), "GET", "chat/history", nil, &r); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, it := range r.Items {
				got = append(got, it.Text)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("the history has %q, want %q", got, row.want)
			}
		})
	}
}
