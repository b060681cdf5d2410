package wholepath

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"homeagent/drivers/web"
)

// history reads the page's history as "role text", calls as "did name".
func (h *house) history() (lines []string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), turnWait)
	defer cancel()
	var got struct{ Items []web.Item }
	if err := h.api.Do(ctx, http.MethodGet, "chat/history?limit=200", nil, &got); err != nil {
		h.t.Fatalf("GET chat/history: %v", err)
	}
	for _, it := range got.Items {
		text := it.Text
		if it.Call != nil {
			text = it.Call.Name
		}
		lines = append(lines, string(it.Role)+" "+text)
	}
	return lines
}

// testHistoryStays kills the agent, which had no time to save the page's list.
func testHistoryStays(t *testing.T) {
	h := open(t, quiet)
	h.say("turn on the kitchen lamp")
	h.say("turn off the bedroom lamp")
	h.say("stop")
	var before []string
	eventually(t, turnWait, "the history has the last answer", func() bool {
		before = h.history()
		return len(before) > 0 && strings.HasPrefix(before[len(before)-1], "agent ")
	})
	for _, want := range []string{"user turn on the kitchen lamp", "user turn off the bedroom lamp", "did virtual_set", "user stop"} {
		if !slices.Contains(before, want) {
			t.Fatalf("%q is not in %q", want, before)
		}
	}
	pid := h.pids()["agent"]
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, startWait, "another agent", func() bool { now := h.pids()["agent"]; return now != 0 && now != pid })
	h.ready()
	after := h.history()
	if len(after) <= len(before) || !slices.Equal(after[:len(before)], before) {
		t.Errorf("before the kill %q, afterwards %q", before, after)
	}
}
