package web_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"homeagent/agent/event"
	"homeagent/drivers/web"
)

// historian is a registry with a memory.
type historian struct {
	*registry
	items []web.Item // oldest first
	err   error
}

func (h *historian) History(_ context.Context, limit int, before string) ([]web.Item, error) {
	end := len(h.items)
	if before != "" {
		end = max(0, slices.IndexFunc(h.items, func(it web.Item) bool { return it.ID == before }))
	}
	return h.items[max(0, end-limit):end], h.err
}

func TestHistoryIsJoinedWithMemory(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	// turn is what question and answer number n publish.
	turn := func(n int) []event.Event {
		e := event.Event{Time: at.Add(time.Duration(n) * time.Minute), Input: fmt.Sprintf("i%d", n), Source: "web", Channel: "web:x"}
		q, a := e, e
		q.Type, q.Text = event.RawInput, "question"
		a.Type, a.State, a.Text, a.Time = event.AgentOutput, "final", fmt.Sprintf("answer %d", n), e.Time.Add(time.Second)
		return []event.Event{q, a}
	}
	ring := event.Event{Type: event.AgentOutput, Time: at.Add(3*time.Minute + 30*time.Second), Channel: "voice", Text: "ring"}
	var live []event.Event
	for _, n := range []int{1, 3, 4} { // 2 was lost in a crash, 0 has been dropped, 5 still runs
		live = append(live, turn(n)...)
		if n == 3 {
			live = append(live, ring)
		}
	}
	live = append(live, turn(5)[0])
	var kept []web.Item
	for n := range 5 {
		for _, e := range turn(n) {
			e.Time = e.Time.Add(time.Millisecond) // memory's own clock
			it, ok := web.ItemOf(e)
			if !ok || it.Lang != "en" || it.Source != "web" || it.Channel != "web:x" {
				t.Fatalf("an item of %+v: %+v", e, it)
			}
			kept = append(kept, it)
		}
	}
	for _, row := range []struct {
		name, before string
		limit        int
		err          error
		want         []string
	}{
		{name: "all", limit: 50, want: []string{"i0/u", "i0/f", "i1/u", "i1/f", "i2/u", "i2/f", "i3/u", "i3/f", "ring", "i4/u", "i4/f", "i5/u"}},
		{name: "whole turns", limit: 5, want: []string{"ring", "i4/u", "i4/f", "i5/u"}},
		{name: "the newest", limit: 1, want: []string{"i5/u"}},
		{name: "before what runs", before: "i5/u", limit: 2, want: []string{"i4/u", "i4/f"}},
		{name: "before what both have", before: "i3/u", limit: 4, want: []string{"i1/u", "i1/f", "i2/u", "i2/f"}},
		{name: "before what memory alone has", before: "i2/u", limit: 4, want: []string{"i0/u", "i0/f", "i1/u", "i1/f"}},
		{name: "before the first", before: "i0/u", limit: 4},
		{name: "before what nobody has", before: "x/u", limit: 4},
		{name: "memory cannot be read", limit: 50, err: errors.New("broken"), want: []string{"i1/u", "i1/f", "i3/u", "i3/f", "ring", "i4/u", "i4/f", "i5/u"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := openWith(t, func(r *registry) web.Registry { return &historian{r, kept, row.err} })
			for _, e := range live {
				h.api.Publish(e)
			}
			query := fmt.Sprintf("chat/history?limit=%d&before=%s", row.limit, row.before)
			var r struct{ Items []struct{ ID, Text string } }
			if err := h.console("en").Do(testCtx(t), "GET", query, nil, &r); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, it := range r.Items {
				if it.Text == "ring" {
					it.ID = it.Text
				}
				got = append(got, it.ID)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// An answer that is sent again after a crash is another item.
func TestItemsHaveIDsOfTheirOwn(t *testing.T) {
	h := open(t)
	for _, text := range []string{"a", "b"} {
		h.api.Publish(event.Event{Type: event.AgentOutput, Input: "i", State: "final", Channel: "web:x", Text: text})
	}
	var r struct{ Items []web.Item }
	if err := h.console("en").Do(testCtx(t), "GET", "chat/history", nil, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Items) != 2 || r.Items[0].ID != "i/f" || r.Items[1].ID == "i/f" {
		t.Errorf("got %+v", r.Items)
	}
}
