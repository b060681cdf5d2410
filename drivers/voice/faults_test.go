package voice

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"homeagent/agent/plugin"
	"homeagent/drivers/voice/speech"
)

// Whatever the engines do, the box listens again and the next command works.
func TestBadEngines(t *testing.T) {
	hang := func() chan struct{} { return make(chan struct{}) }
	for _, c := range []struct {
		name  string
		bad   func(r *rig) (mend func())
		heard bool // the command is understood all the same
	}{
		{"recognizer fails", func(r *rig) func() {
			r.english.set(func(e *fakeRecognizer) { e.err = errors.New("crashed") })
			return func() { r.english.set(func(e *fakeRecognizer) { e.err = nil }) }
		}, false},
		{"recognizer panics", func(r *rig) func() {
			r.english.set(func(e *fakeRecognizer) { e.panic = true })
			return func() { r.english.set(func(e *fakeRecognizer) { e.panic = false }) }
		}, false},
		{"recognizer is slow", func(r *rig) func() {
			r.english.set(func(e *fakeRecognizer) { e.wait = time.Minute })
			return func() { r.english.set(func(e *fakeRecognizer) { e.wait = 0 }) }
		}, false},
		{"recognizer hangs for good", func(r *rig) func() {
			h := hang()
			r.t.Cleanup(func() { close(h) })
			r.english.set(func(e *fakeRecognizer) { e.hang = h })
			return func() { r.english.set(func(e *fakeRecognizer) { e.hang = nil }) }
		}, false},
		{"recognizer rambles", func(r *rig) func() {
			r.english.set(func(e *fakeRecognizer) {
				e.next = []speech.Transcript{{Text: strings.Repeat("la ", 1<<20), Lang: "xx", Command: true}, says("!turn on the lamp")[0]}
			})
			return func() {}
		}, true},
		{"endpointer cannot be opened", func(r *rig) func() {
			r.ends.openErr = speech.ErrMissing
			return func() {}
		}, true},
		{"endpointer fails", func(r *rig) func() {
			r.ends.err = errors.New("crashed")
			return func() {}
		}, true},
		{"endpointer hangs for good", func(r *rig) func() {
			h := hang()
			r.t.Cleanup(func() { close(h) })
			r.ends.hang = h
			return func() {}
		}, true},
		{"endpointer gives nonsense", func(r *rig) func() {
			r.ends.garbage = true
			return func() { r.ends.mu.Lock(); r.ends.garbage = false; r.ends.mu.Unlock() }
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inRig(t, nil, func(r *rig) {
				mend := c.bad(r)
				r.mic.hear(wakeWord(), command())
				r.saw(Listening)
				if c.heard {
					r.until("the input", func() bool { return len(r.inputs()) == 1 })
				}
				r.reach("idle", Idle)
				mend()
				n := len(r.inputs())
				r.mic.hear(wakeWord(), command())
				r.until("the next input", func() bool { return len(r.inputs()) == n+1 })
				r.reach("idle", Idle)
				if in := r.inputs(); len(in[0]) > 2*longestText {
					t.Errorf("a text of %d bytes reached the agent", len(in[0]))
				}
			})
		})
	}
}

func TestDetectorPanics(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.wake.mu.Lock()
		r.wake.last.panics = true
		r.wake.mu.Unlock()
		r.pass(time.Second)
		if err := r.p.Listen(r.t.Context()); err != nil {
			t.Fatal(err)
		}
		r.mic.hear(command())
		r.until("the input", func() bool { return len(r.inputs()) == 1 })
	})
}

// A microphone that goes away comes back, whatever was going on.
func TestMicrophoneLost(t *testing.T) {
	unplug := func(m *fakeMic) { m.lost = errors.New("unplugged") }
	stall := func(m *fakeMic) { m.stalled = true }
	for _, c := range []struct {
		name string
		how  func(*fakeMic)
		in   State
	}{
		{"idle", unplug, Idle}, {"listening", unplug, Listening}, {"recognising", unplug, Recognising},
		{"thinking", unplug, Thinking}, {"speaking", unplug, Speaking}, {"stalls while idle", stall, Idle}, {"stalls while listening", stall, Listening},
	} {
		t.Run(c.name, func(t *testing.T) {
			change := func(r *rig, o *Options) {
				r.english.wait = time.Second
				r.answer("a rather long answer", time.Second)
			}
			inRig(t, change, func(r *rig) {
				r.reach("idle", Idle)
				r.pass(500 * time.Millisecond)
				if c.in != Idle {
					r.mic.hear(wakeWord(), command())
					r.reach(string(c.in), c.in)
				}
				r.mic.set(c.how)
				r.reach("deaf", Deaf)
				if !r.notice("microphone_lost") {
					t.Errorf("nobody was told: %s", r.log())
				}
				answered := c.in == Recognising || c.in == Thinking || c.in == Speaking
				if got := len(r.synth.texts()); answered != (got == 1) {
					t.Errorf("%d answers were spoken", got)
				}
				r.pass(10 * time.Second)
				r.mic.set(func(m *fakeMic) { m.lost, m.stalled, m.queue = nil, false, nil })
				r.reach("idle", Idle)
				if !r.notice("microphone_back") {
					t.Error("nobody was told that it is back")
				}
				n := len(r.inputs())
				r.mic.hear(quiet(200*time.Millisecond), wakeWord(), command())
				r.until("the next input", func() bool { return len(r.inputs()) == n+1 })
			})
		})
	}
}

// A microphone that stays away is in the log once, however often it is tried.
func TestMicrophoneLostIsLoggedOnce(t *testing.T) {
	var text bytes.Buffer
	inRig(t, func(r *rig, _ *Options) {
		r.api.logger = slog.New(slog.NewTextHandler(&text, nil))
	}, func(r *rig) {
		for n := range 2 {
			r.mic.set(func(m *fakeMic) { m.lost = errors.New("unplugged") })
			r.reach("deaf", Deaf)
			r.pass(5 * time.Minute)
			if got := strings.Count(text.String(), "msg=microphone"); got != n+1 {
				t.Errorf("%d lines after %d losses:\n%s", got, n+1, &text)
			}
			r.mic.set(func(m *fakeMic) { m.lost = nil })
			r.reach("idle", Idle)
		}
	})
}

// A speaker that stays away is in the log once, however much is to be said.
func TestSpeakerLostIsLoggedOnce(t *testing.T) {
	var text bytes.Buffer
	inRig(t, func(r *rig, _ *Options) {
		r.api.logger = slog.New(slog.NewTextHandler(&text, nil))
	}, func(r *rig) {
		say := func() {
			r.api.sender.Send(r.t.Context(), plugin.Message{Channel: "voice", Text: "hello"})
			r.pass(5 * time.Second)
		}
		for n := range 2 {
			for range 5 {
				r.spk.mu.Lock()
				r.spk.fail = 2 // the sentence and its second try
				r.spk.mu.Unlock()
				say()
			}
			if got := strings.Count(text.String(), "msg=speaking"); got != n+1 {
				t.Errorf("%d lines after %d losses:\n%s", got, n+1, &text)
			}
			say() // is heard
		}
	})
}

func TestNoMicrophoneAtAll(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { o.Config.Microphone = off }, func(r *rig) {
		r.reach("deaf", Deaf)
		if err := r.p.Listen(r.t.Context()); !errors.Is(err, errNoMicrophone) {
			t.Errorf("Listen: %v", err)
		}
		r.api.sender.Send(r.t.Context(), plugin.Message{Channel: "voice", Text: "tea is ready"})
		r.reach("speaking", Speaking)
		r.reach("deaf", Deaf)
		same(t, r.synth.texts(), "tea is ready")
	})
}

func TestSynthesizers(t *testing.T) {
	zh := &fakeSynthesizer{name: "zh only", langs: []string{"zh"}}
	broken := &fakeSynthesizer{name: "broken", err: errors.New("no network")}
	for _, c := range []struct {
		name  string
		all   []speech.Synthesizer
		lang  string
		says  func(r *rig) []string
		fails bool
	}{
		{"by language", []speech.Synthesizer{zh}, "zh", func(*rig) []string { return zh.texts() }, false},
		{"the next one", []speech.Synthesizer{broken}, "en", func(r *rig) []string { return r.synth.texts() }, false},
		{"wrong language skipped", []speech.Synthesizer{zh}, "en", func(r *rig) []string { return r.synth.texts() }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inRig(t, func(r *rig, o *Options) { o.Synthesizers = append(c.all, o.Synthesizers...) }, func(r *rig) {
				r.api.sender.Send(r.t.Context(), plugin.Message{Channel: "voice", Text: "hello", Lang: c.lang})
				r.reach("speaking", Speaking)
				r.reach("idle", Idle)
				same(t, c.says(r), "hello")
			})
		})
	}
	t.Run("none", func(t *testing.T) {
		inRig(t, func(r *rig, o *Options) { o.Synthesizers = nil }, func(r *rig) {
			r.api.sender.Send(r.t.Context(), plugin.Message{Channel: "voice", Text: "hello"})
			r.until("a notice", func() bool { return strings.Contains(r.log(), "tools/setup") })
			r.reach("idle", Idle)
		})
	})
}

func TestSpeakerLost(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.spk.fail = 1 // once: opened again, nothing is lost
		r.api.sender.Send(r.t.Context(), plugin.Message{Channel: "voice", Text: "hello"})
		r.until("hello", func() bool { return r.spk.played() > 400*time.Millisecond })
		r.reach("idle", Idle)
		r.spk.mu.Lock()
		r.spk.fail = 2 // for good
		r.spk.mu.Unlock()
		r.api.sender.Send(r.t.Context(), plugin.Message{Channel: "voice", Text: "hello"})
		r.until("a notice", func() bool { return strings.Contains(r.log(), "unplugged") })
		r.reach("idle", Idle)
		at := r.spk.played()
		r.api.sender.Send(r.t.Context(), plugin.Message{Channel: "voice", Text: "hello"})
		r.until("hello again", func() bool { return r.spk.played() > at+400*time.Millisecond })
	})
}
