package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"homeagent/agent/plugin"
	"homeagent/memory"
	"homeagent/tools/fakellm"
)

// relations is how many facts stand in the graph while turns are measured.
const relations = 10_000

// between is the pause before a turn is measured.
const between = 20 * time.Millisecond

// clock notes when the fake model received and answered.
type clock struct {
	mu             sync.Mutex
	received, sent []time.Time
}

func (c *clock) server(script fakellm.Script) *fakellm.Server {
	fake := fakellm.New(func(r fakellm.Request) fakellm.Reply {
		c.mu.Lock()
		c.received = append(c.received, r.Received)
		c.mu.Unlock()
		return script(r)
	})
	fake.Sent = func() {
		now := time.Now()
		c.mu.Lock()
		c.sent = append(c.sent, now)
		c.mu.Unlock()
	}
	return fake
}

// take returns what was noted since the last call.
func (c *clock) take() (received, sent []time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	received, sent = c.received, c.sent
	c.received, c.sent = nil, nil
	return received, sent
}

// benchStart: process start to the first answered text turn, on a data folder
// that has been used before, as at every start but the very first.
func benchStart(ctx context.Context, bin string, r *report) error {
	const n = 15
	var took []time.Duration
	dir, err := os.MkdirTemp("", "homeagent-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for i := range n + 1 {
		began := time.Now()
		h, err := openIn(bin, dir, "")
		if err != nil {
			return err
		}
		err = h.ready(ctx)
		if i > 0 {
			took = append(took, time.Since(began))
		}
		h.stop()
		if err != nil {
			return err
		}
	}
	r.add("start.ready_s", percentile(took, .5).Seconds(), "s", n)
	return nil
}

// The words of made-up facts: enough of them that a name or a thing stands in
// some tens of facts, as in a household that has been told ten thousand.
var (
	syllables = []string{"an", "bel", "cor", "da", "el", "fi", "gus", "han", "io", "jo", "ka", "li", "mar", "no", "ol", "pe", "ri", "su", "ta", "vi"}
	verbs     = []string{"likes", "bought", "lost", "borrowed", "painted", "repaired", "keeps", "lent", "found", "wants", "sold", "hid"}
	kinds     = []string{"red", "old", "wooden", "small", "broken", "spare", "heavy", "blue", "folding", "round", "quiet", "striped", "warm", "thin", "square", "silver", "winter", "garden", "paper", "iron"}
	things    = []string{"kettle", "ladder", "bicycle", "umbrella", "lantern", "drawer", "blanket", "guitar", "pump", "basket", "compass", "hammer", "teapot", "radio", "chair", "helmet", "mirror", "bucket", "carpet", "clock", "saddle", "candle", "shovel", "anchor", "whistle", "barrel", "cushion", "rope", "vase", "stool"}
)

func name(i int) string {
	n := len(syllables)
	return syllables[i%n] + syllables[i/n%n]
}

func thing(i int) string { return kinds[i%len(kinds)] + " " + things[i/len(kinds)%len(things)] }

// fill makes a data folder whose graph holds the relations.
func fill(ctx context.Context) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "homeagent-bench-"); err != nil {
		return "", err
	}
	m, _, err := memory.Open(dir, memory.Options{})
	if err != nil {
		return "", err
	}
	rng := rand.New(rand.NewPCG(1, 2)) // the same household in every run
	for range relations / 500 {
		var batch []plugin.Triple
		for range 500 {
			batch = append(batch, plugin.Triple{Subject: name(rng.IntN(400)), Relation: verbs[rng.IntN(len(verbs))], Object: thing(rng.IntN(600))})
		}
		if err := m.Commit(ctx, batch, "bench"); err != nil {
			return "", errors.Join(err, m.Close())
		}
	}
	return dir, m.Close()
}

// benchTurn: what a turn costs beside the model's own time.
func benchTurn(ctx context.Context, bin string, r *report) error {
	dir, err := fill(ctx)
	if err != nil {
		return err
	}
	var c clock
	fake := c.server(func(q fakellm.Request) fakellm.Reply {
		if q.Contains("look") && q.Messages[len(q.Messages)-1].Role != "tool" && !answered(q) {
			return fakellm.Reply{Calls: []fakellm.Call{{ID: fmt.Sprintf("c%d", q.Received.UnixNano()), Name: "virtual_list", Args: "{}"}}}
		}
		return fakellm.Reply{Text: "It is done."}
	})
	h, end, err := withModel(ctx, bin, dir, "", fake)
	if err != nil {
		return err
	}
	defer end()
	const n = 300
	var core, rounds []time.Duration
	for i := range n {
		// What follows an answer (the context's transaction) is over when a
		// person says the next thing; it is not part of that one's wait.
		time.Sleep(between)
		c.take()
		t0 := time.Now()
		t3, err := h.say(ctx, fmt.Sprintf("do you know what %s did with the %s", name(i*7%400), thing(i*13%600)))
		if err != nil {
			return err
		}
		received, sent := c.take()
		if len(received) != 1 || len(sent) != 1 {
			return fmt.Errorf("a plain turn asked the model %d times; homed says:\n%s", len(received), strings.Join(lines(h.log), "\n"))
		}
		core = append(core, received[0].Sub(t0)+t3.Sub(sent[0]))
	}
	for range n {
		time.Sleep(between)
		c.take()
		if _, err := h.say(ctx, "have a look at the lamps"); err != nil {
			return err
		}
		received, sent := c.take()
		if len(received) != 2 || len(sent) != 2 {
			return fmt.Errorf("a turn with a tool asked the model %d times", len(received))
		}
		rounds = append(rounds, received[1].Sub(sent[0]))
	}
	r.add("turn.core.p50_ms", ms(percentile(core, .5)), "ms", n)
	r.add("turn.core.p99_ms", ms(percentile(core, .99)), "ms", n)
	r.add("turn.tool_round.p50_ms", ms(percentile(rounds, .5)), "ms", n)
	r.add("turn.tool_round.p99_ms", ms(percentile(rounds, .99)), "ms", n)
	return nil
}

// answered reports whether a tool message follows the newest user message.
func answered(q fakellm.Request) bool {
	for i := len(q.Messages) - 1; i >= 0; i-- {
		switch q.Messages[i].Role {
		case "tool":
			return true
		case "user":
			return false
		}
	}
	return false
}

// benchSyncs counts the syncs of text turns by tracing the processes.
func benchSyncs(ctx context.Context, bin string, r *report) error {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return fmt.Errorf("%w: strace is not installed", errSkip)
	}
	var c clock
	h, end, err := withModel(ctx, bin, "", "", c.server(fakellm.Say("It is done.")))
	if err != nil {
		return err
	}
	defer end()
	pids, err := h.pids(ctx)
	if err != nil {
		return err
	}
	out := filepath.Join(h.dir, "strace.out")
	args := []string{"-f", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range,syncfs,sync", "-o", out}
	for _, pid := range pids {
		args = append(args, "-p", fmt.Sprint(pid))
	}
	tr := exec.Command(strace, args...)
	if err := tr.Start(); err != nil {
		return fmt.Errorf("%w: %v", errSkip, err)
	}
	// Attached once a traced turn shows in the file.
	for deadline := time.Now().Add(startWait); len(lines(out)) < 8; {
		if time.Now().After(deadline) {
			tr.Process.Kill()
			tr.Wait()
			return fmt.Errorf("%w: strace could not attach", errSkip)
		}
		if _, err := h.say(ctx, "hello"); err != nil {
			return err
		}
	}
	before := len(lines(out))
	const n = 200
	for i := range n {
		if _, err := h.say(ctx, fmt.Sprintf("hello for the %dth time, tell me a story", i)); err != nil {
			return err
		}
	}
	tr.Process.Signal(syscall.SIGINT)
	tr.Wait()
	count := 0
	for _, l := range lines(out)[before:] {
		if !strings.Contains(l, "resumed>") && strings.Contains(l, "sync(") {
			count++ // other lines are signals, and the ends of calls that began on a line of their own
		}
	}
	r.add("turn.syncs", float64(count)/n, "syncs", n)
	return nil
}

// benchPrefix: how often system prompt and tool list are byte-equal to those of
// the turn before, while devices are pulled out and put back.
func benchPrefix(ctx context.Context, bin string, r *report) error {
	fake := fakellm.New(fakellm.Say("It is done."))
	h, end, err := withModel(ctx, bin, "", "", fake)
	if err != nil {
		return err
	}
	defer end()
	const n, unplugs = 200, 20
	for i := range n {
		switch i % (n / unplugs) {
		case 3:
			err = h.post(ctx, "virtual/kitchen_lamp/unplug")
		case 8:
			err = h.post(ctx, "virtual/kitchen_lamp/plug")
		}
		if err != nil {
			return err
		}
		if _, err := h.say(ctx, fmt.Sprintf("story number %d please", i)); err != nil {
			return err
		}
	}
	reqs := fake.Requests()
	same := 0
	for i := 1; i < len(reqs); i++ {
		if reqs[i].Prefix == reqs[i-1].Prefix && reqs[i].Prefix != "" {
			same++
		}
	}
	r.share("prompt.prefix_stable_share", same, len(reqs)-1)
	return nil
}

// benchStop: the word "stop" to the end of a request that hangs.
func benchStop(ctx context.Context, bin string, r *report) error {
	var c clock
	hang := make(chan struct{}, 1)
	fake := c.server(func(q fakellm.Request) fakellm.Reply {
		if !q.Contains("think") {
			return fakellm.Reply{Text: "Yes."}
		}
		select {
		case hang <- struct{}{}:
		default:
		}
		return fakellm.Reply{Hang: true}
	})
	h, end, err := withModel(ctx, bin, "", "", fake)
	if err != nil {
		return err
	}
	defer end()
	const n = 100
	var took []time.Duration
	for range n {
		done := make(chan error, 1)
		go func() {
			_, err := h.say(ctx, "think about everything")
			done <- err
		}()
		select {
		case <-hang:
		case <-time.After(turnWait):
			return errors.New("the model was not asked")
		}
		c.take()
		t0 := time.Now()
		if _, err := h.say(ctx, "stop"); err != nil {
			return err
		}
		if err := <-done; err != nil {
			return err
		}
		for {
			if _, sent := c.take(); len(sent) > 0 {
				took = append(took, sent[0].Sub(t0))
				break
			}
			if time.Since(t0) > turnWait {
				return errors.New("stop did not end the request")
			}
			time.Sleep(200 * time.Microsecond)
		}
	}
	r.add("control.stop_p50_ms", ms(percentile(took, .5)), "ms", n)
	r.add("control.stop_p99_ms", ms(percentile(took, .99)), "ms", n)
	return nil
}
