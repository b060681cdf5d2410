package voice

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/speech/speechtest"
)

// rig is a started plugin with fakes around it, in a synctest bubble.
type rig struct {
	t       *testing.T
	api     *fakeAPI
	p       *Plugin
	mic     *fakeMic
	spk     *fakeSpeaker
	wake    *fakeWake
	english *fakeRecognizer
	ends    *fakeEndpointing
	synth   *fakeSynthesizer
	mu      sync.Mutex
	traces  []Trace
}

// inRig runs f with a started plugin whose wake word is enrolled and whose agent
// answers every input with "ok" after 300 ms.
func inRig(t *testing.T, change func(*rig, *Options), f func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, api: newFakeAPI(t), wake: &fakeWake{}, english: &fakeRecognizer{name: "local", langs: []string{"en"}, next: says("!turn on the lamp")},
			ends: &fakeEndpointing{}, synth: &fakeSynthesizer{name: "hum"}}
		r.mic, r.spk = r.api.dev.mic, r.api.dev.spk
		r.api.store[wordKey+"computer"] = []byte{3}
		quiet := false
		opt := Options{Config: Config{EarCon: &quiet}, Wake: r.wake, Endpointing: r.ends, English: r.english, Synthesizers: []speech.Synthesizer{r.synth},
			Grammar: func(lang string) string { return "grammar " + lang }, TempDir: t.TempDir(),
			Observe: func(tr Trace) { r.mu.Lock(); r.traces = append(r.traces, tr); r.mu.Unlock() }}
		r.answer("ok", 300*time.Millisecond)
		if change != nil {
			change(r, &opt)
		}
		r.p = New(opt)
		if err := r.p.Start(t.Context(), r.api); err != nil {
			t.Fatal(err)
		}
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := r.p.Stop(ctx); err != nil {
				t.Error(err)
			}
			if err := r.p.Stop(ctx); err != nil {
				t.Errorf("stopping twice: %v", err)
			}
			if r.mic.live != 0 {
				t.Errorf("%d microphones are still open", r.mic.live)
			}
			synctest.Wait()
			if r.ends.open != 0 && r.ends.hang == nil {
				t.Errorf("%d endpointers are still open", r.ends.open)
			}
		}()
		r.reach(string(Idle), Muted, Idle, Deaf)
		f(r)
	})
}

// answer makes the agent answer inputs with a text after a while.
func (r *rig) answer(text string, after time.Duration) {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	r.api.onInput = func(in plugin.Input) {
		time.AfterFunc(after, func() {
			r.api.sender.Send(context.Background(), plugin.Message{Channel: "voice", Text: text, ReplyTo: in.ID, Lang: in.Lang, Final: true})
		})
	}
}

// pass lets time pass in the bubble.
func (r *rig) pass(d time.Duration) { <-time.After(d); synctest.Wait() }

// until waits for a condition, at most two minutes of the bubble's time.
func (r *rig) until(what string, cond func() bool) {
	r.t.Helper()
	for range 2400 {
		synctest.Wait()
		if cond() {
			return
		}
		<-time.After(50 * time.Millisecond)
	}
	r.t.Fatalf("%s did not come; events: %s", what, r.log())
}

// reach waits until the live session is in one of the states.
func (r *rig) reach(what string, states ...State) {
	r.t.Helper()
	r.until(what, func() bool { return slices.Contains(states, r.p.state.Load().(State)) })
}

// saw waits until a state has been published, for how short ever.
func (r *rig) saw(s State) {
	r.t.Helper()
	r.until(string(s), func() bool { return slices.Contains(r.states(), s) })
}

// inputs lists what the agent was given.
func (r *rig) inputs() (out []string) {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	for _, in := range r.api.inputs {
		out = append(out, in.Payload)
	}
	return out
}

// states lists the voice states published so far.
func (r *rig) states() (out []State) {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	for _, e := range r.api.events {
		if e.Type == event.Voice && (e.Text == "" || e.State == string(Ignored)) {
			out = append(out, State(e.State))
		}
	}
	return out
}

// log is every event in short.
func (r *rig) log() string {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	var b strings.Builder
	for _, e := range r.api.events {
		b.WriteString("\n  " + string(e.Type) + " " + e.Source + " " + e.State + " " + e.Text)
	}
	return b.String()
}

// notice reports whether an event of type system has a state.
func (r *rig) notice(state string) bool {
	r.api.mu.Lock()
	defer r.api.mu.Unlock()
	return slices.ContainsFunc(r.api.events, func(e event.Event) bool { return e.Type == event.System && e.State == state })
}

// same fails the test where two lists differ.
func same[T comparable](t *testing.T, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%v instead of %v", got, want)
	}
}

// command is a spoken sentence of 1.2 s.
func command() []int16 { return speechtest.Buzz(1200 * time.Millisecond) }

// quiet is a pause.
func quiet(d time.Duration) []int16 { return speechtest.Silence(d) }
