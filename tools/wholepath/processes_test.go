package wholepath

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeagent/drivers/web/client"
	"homeagent/tools/fakellm"
	"homeagent/tools/spoken"
)

// endWait is the promise: SIGTERM ends everything within five seconds. The
// supervisor kills what has not ended after four.
const endWait = 5 * time.Second

// long is a recording that is still heard while something is done to the house:
// a command, a pause, another command.
func long(t testing.TB, pause time.Duration) string {
	t.Helper()
	return spoken.Save(t, spoken.Join(spoken.Silence(300*time.Millisecond), spoken.Trim(spoken.Flite(t, "rms", "turn on the kitchen lamp", "1.0")), spoken.Silence(pause),
		spoken.Trim(spoken.Flite(t, "rms", "turn on the bedroom lamp", "1.0")), spoken.Silence(300*time.Millisecond)))
}

// hearing in the background; the channel gives what came of it.
func (h *house) hearBeside(file string, args ...string) <-chan hearing {
	done := make(chan hearing, 1)
	go func() { done <- h.hear(file, args...) }()
	return done
}

// lampOn waits until a lamp is on.
func (h *house) lampOn(name string) {
	h.t.Helper()
	eventually(h.t, hearWait, name+" is on", func() bool { return h.lamps()[name] })
}

func TestProcesses(t *testing.T) {
	t.Run("SIGTERM ends all", func(t *testing.T) {
		t.Parallel()
		testTerm(t)
	})
	t.Run("each comes back", func(t *testing.T) {
		t.Parallel()
		testEachComesBack(t)
	})
	t.Run("kill -9 of the whole tree", func(t *testing.T) {
		t.Parallel()
		testKillAll(t)
	})
	t.Run("an acknowledged input outlives the agent", func(t *testing.T) {
		t.Parallel()
		testAcknowledged(t)
	})
	t.Run("what was said outlives the agent", func(t *testing.T) {
		t.Parallel()
		testHistoryStays(t)
	})
}

// testTerm ends a house in the middle of a recording.
func testTerm(t *testing.T) {
	h := open(t, quiet)
	h.say("turn on the living room lamp")
	if canHear(t) {
		heard := h.hearBeside(long(t, 20*time.Second), "--no-wake")
		h.lampOn("kitchen_lamp") // the engines work, and the recording goes on
		defer func() {
			if got := <-heard; got.code == 0 {
				t.Errorf("homectl hear ended well although the house ended: %s", got)
			}
		}()
	}
	pids := h.pids()
	if pids["door"] == 0 || pids["agent"] == 0 {
		t.Fatalf("processes: %v", pids)
	}
	began := time.Now()
	h.homed.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-h.homed.ended:
	case <-time.After(endWait):
		t.Errorf("after %v %q still run", endWait, left(pids))
		<-h.homed.ended
	}
	t.Logf("%d processes ended in %v", len(pids), time.Since(began).Round(time.Millisecond))
	if h.homed.err != nil {
		t.Errorf("homed ended with %v", h.homed.err)
	}
	eventually(t, endWait, "no process is left", func() bool { return len(left(pids)) == 0 })
	if !strings.Contains(h.log.String(), "homed ended") {
		t.Error("homed did not say that it ended")
	}
}

// canHear reports whether recordings can be understood here.
func canHear(t *testing.T) bool {
	ok := true
	t.Run("with a recording", func(t *testing.T) {
		ok = false
		spoken.Need(t, "flite", "espeak-ng")
		spoken.NeedEngines(t)
		ok = true
	})
	return ok
}

// testEachComesBack kills one process after the other while a recording is heard.
func testEachComesBack(t *testing.T) {
	spoken.Need(t, "flite", "espeak-ng")
	spoken.NeedEngines(t)
	h := open(t, quiet)
	file := long(t, 4*time.Second)
	for _, row := range []struct {
		victim string
		// survives: the recording is heard to its end.
		survives bool
	}{{"engines", true}, {"door", false}, {"agent", false}} {
		t.Run(row.victim, func(t *testing.T) {
			h := h.in(t)
			h.say("turn off all lights")
			heard := h.hearBeside(file, "--no-wake")
			h.lampOn("kitchen_lamp")
			before := h.pids()
			if before[row.victim] == 0 {
				t.Fatalf("no %s among %v", row.victim, before)
			}
			if err := syscall.Kill(before[row.victim], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			got := <-heard
			switch {
			case row.survives && (got.code != 0 || !h.lamps()["bedroom_lamp"]):
				t.Errorf("the recording was not heard to its end: %s", got)
			case !row.survives && (got.code == 0 || strings.TrimSpace(got.stderr) == ""):
				t.Errorf("nobody was told that the recording broke off: %s", got)
			}
			h.ready()
			after := h.pids()
			for name, pid := range before {
				// The engines are the agent's and end with it.
				gone := name == row.victim || name == "engines" && row.victim == "agent"
				if gone == (after[name] == pid) {
					t.Errorf("%s was process %d and is %d after %s was killed", name, pid, after[name], row.victim)
				}
			}
			if names := left(map[string]int{row.victim: before[row.victim], "engines": before["engines"]}); row.victim != "door" && len(names) > 0 {
				t.Errorf("%q are still there", names)
			}
			// And it hears as before, two at once: nothing was left behind.
			h.say("turn off all lights")
			one, two := h.hearBeside(file, "--no-wake"), h.hearBeside(file, "--no-wake")
			for _, got := range []hearing{<-one, <-two} {
				if len(got.all("answer")) != 2 || got.code != 0 {
					t.Errorf("afterwards: %s", got)
				}
			}
		})
	}
}

// testKillAll pulls the plug on everything at once.
func testKillAll(t *testing.T) {
	h := open(t, quiet)
	for said, want := range map[string]string{
		"turn on the bedroom lamp":                   "on",
		"set a timer for two hours":                  "2 hours",
		"remember that my passport is in the drawer": "drawer",
	} {
		if got := h.say(said); !strings.Contains(got, want) {
			t.Fatalf("%q is answered with %q", said, got)
		}
	}
	pids := h.pids()
	if err := h.homed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-h.homed.ended
	eventually(t, endWait, "the children died with homed", func() bool { return len(left(pids)) == 0 })

	h = start(t, h.dir)
	h.ready()
	if !h.lamps()["bedroom_lamp"] {
		t.Error("the bedroom lamp was on")
	}
	if got := h.say("what timers are running"); !strings.Contains(got, "left") {
		t.Errorf("the timer is lost: %q", got)
	}
	if got := h.say("where is my passport"); !strings.Contains(got, "drawer") {
		t.Errorf("the fact is lost: %q", got)
	}
	rep, err := h.status()
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Notices) > 0 {
		t.Errorf("notices after a kill: %q", rep.Notices)
	}
	if aside, _ := filepath.Glob(filepath.Join(h.dir, "*bad*")); len(aside) > 0 {
		t.Errorf("files were set aside: %q", aside)
	}
}

// testAcknowledged kills the agent while one input is being answered and
// another waits; both were acknowledged.
func testAcknowledged(t *testing.T) {
	m := newModel(t, replies("ready"))
	h := open(t, m.config()+quiet)
	m.SetScript(never)
	asked := len(m.Requests())
	ctx, cancel := context.WithTimeout(t.Context(), 2*turnWait)
	defer cancel()
	first, second := h.accept(ctx, "tell me of the first"), h.accept(ctx, "tell me of the second")
	eventually(t, turnWait, "the model is asked", func() bool { return len(m.Requests()) == asked+1 })
	before := h.pids()
	m.SetScript(func(r fakellm.Request) fakellm.Reply {
		return fakellm.Reply{Text: "answer to: " + r.Last("user")}
	})
	if err := syscall.Kill(before["agent"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, in := range []struct{ id, text string }{{first, "first"}, {second, "second"}} {
		var got client.Answer
		eventually(t, 2*turnWait, "the answer to the "+in.text, func() bool {
			var texts struct {
				Items []json.RawMessage `json:"items"`
			}
			if h.api.Do(ctx, http.MethodGet, "chat/history?limit=20", nil, &texts) == nil {
				for _, it := range texts.Items {
					if s := string(it); strings.Contains(s, "answer to:") && strings.Contains(s, in.text) && strings.Contains(s, in.id) {
						got = client.Answer{ID: in.id, Text: s}
					}
				}
			}
			return got.ID != ""
		})
	}
	after := h.pids()
	if after["agent"] == before["agent"] || after["door"] != before["door"] {
		t.Errorf("processes before %v, after %v", before, after)
	}
	if got := h.say("and now"); !strings.Contains(got, "and now") {
		t.Errorf("afterwards: %q", got)
	}
	if v := m.Violations(); len(v) > 0 {
		t.Errorf("the model complains: %q", v)
	}
}

// accept says something and returns its id as soon as it was taken in.
func (h *house) accept(ctx context.Context, text string) string {
	h.t.Helper()
	s, err := h.api.Stream(ctx, http.MethodPost, "chat", map[string]string{"text": text})
	if err != nil {
		h.t.Fatal(err)
	}
	defer s.Close()
	ev, err := s.Next()
	var a client.Answer
	if err != nil || ev.Name != "accepted" || json.Unmarshal(ev.Data, &a) != nil || a.ID == "" {
		h.t.Fatalf("%q is answered with %s %s, %v", text, ev.Name, ev.Data, err)
	}
	return a.ID
}
