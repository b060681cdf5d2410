package voice

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"homeagent/agent/event"
	"homeagent/agent/pcm"
	"homeagent/agent/plugin"
	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/speech/speechtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWakeCommandAnswer(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.mic.hear(quiet(500*time.Millisecond), wakeWord(), quiet(600*time.Millisecond), command())
		r.reach("speaking", Speaking)
		r.reach("idle", Idle)
		same(t, r.states(), Deaf, Idle, Listening, Recognising, Thinking, Speaking, Idle)
		same(t, r.inputs(), "turn on the lamp")
		in := r.api.inputs[0]
		if in.Source != "voice" || in.Channel != "voice" || in.Lang != "en" || in.Type != plugin.Text {
			t.Errorf("input %+v", in)
		}
		same(t, r.synth.texts(), "ok")
		if d := r.spk.played(); d < 150*time.Millisecond || d > 300*time.Millisecond {
			t.Errorf("%s were played", d)
		}
		if g := r.english.hints[0].Grammar; g != "grammar en" {
			t.Errorf("grammar %q", g)
		}
		if len(r.traces) != 1 {
			t.Fatalf("traces %+v", r.traces)
		}
		tr := r.traces[0]
		times := []time.Time{tr.LastSpeech, tr.Endpoint, tr.Recognised, tr.Answered, tr.FirstSound}
		if !slices.IsSortedFunc(times, time.Time.Compare) || tr.LastSpeech.IsZero() {
			t.Errorf("times %v", times)
		}
		// 500 ms of trailing silence lie between the first two.
		if d := tr.Endpoint.Sub(tr.LastSpeech); d < 450*time.Millisecond || d > 700*time.Millisecond {
			t.Errorf("endpoint after %s", d)
		}
		if tr.Input != "in1" || tr.Heard != "turn on the lamp" || tr.Answer != "ok" || tr.Session != "voice" || tr.Engine != "local" {
			t.Errorf("trace %+v", tr)
		}
	})
}

// The command follows the wake word without a pause: all of it reaches the
// recognizer and nothing of the wake word does.
func TestSameBreath(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.mic.hear(quiet(time.Second), wakeWord(), command())
		r.reach("recognising", Recognising, Thinking, Speaking)
		audio := r.english.heard[0]
		if slices.Contains(audio, magic) {
			t.Error("the wake word is in the utterance")
		}
		if d := pcm.Voice.Duration(len(audio)); d < 1200*time.Millisecond || d > 1700*time.Millisecond {
			t.Errorf("the utterance lasts %s", d)
		}
		if !within(audio, command()) {
			t.Error("a part of the command is missing")
		}
	})
}

// within reports whether part is somewhere in all.
func within(all, part []int16) bool {
	for i := range len(all) - len(part) + 1 {
		if slices.Equal(all[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

func TestNobodySpeaks(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { o.Config.EarCon = nil }, func(r *rig) {
		r.mic.hear(wakeWord())
		r.reach("listening", Listening)
		began := time.Now()
		r.reach("idle", Idle)
		if d := time.Since(began); d < 4*time.Second || d > 6*time.Second {
			t.Errorf("it listened for %s", d)
		}
		same(t, r.inputs())
		if d := r.spk.played(); d < 100*time.Millisecond || d > 200*time.Millisecond {
			t.Errorf("the tone lasted %s", d)
		}
	})
}

// Who speaks on at once hears no tone.
func TestNoToneIntoCommand(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { o.Config.EarCon = nil }, func(r *rig) {
		r.mic.hear(wakeWord(), command())
		r.reach("thinking", Thinking)
		if d := r.spk.played(); d != 0 {
			t.Errorf("%s of tone were played", d)
		}
	})
}

func TestLongestUtterance(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.mic.hear(wakeWord(), speechtest.Buzz(40*time.Second))
		r.reach("thinking", Thinking)
		if d := pcm.Voice.Duration(len(r.english.heard[0])); d < 14*time.Second || d > 16*time.Second {
			t.Errorf("cut at %s", d)
		}
	})
}

func TestTwoWakesInARow(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.mic.hear(wakeWord(), quiet(300*time.Millisecond), wakeWord(), quiet(200*time.Millisecond), command())
		r.reach("thinking", Thinking)
		same(t, r.inputs(), "turn on the lamp")
		if slices.Contains(r.english.heard[0], magic) || len(r.english.heard) != 1 {
			t.Errorf("%d utterances, a wake word among them: %v", len(r.english.heard), slices.Contains(r.english.heard[0], magic))
		}
	})
}

// Later in a sentence the wake word is a word like others.
func TestWakeWordInsideSentence(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.mic.hear(wakeWord(), speechtest.Buzz(2500*time.Millisecond), wakeWord())
		r.reach("thinking", Thinking)
		if len(r.english.heard) != 1 || !slices.Contains(r.english.heard[0], magic) {
			t.Error("the sentence was cut at the wake word")
		}
	})
}

// A short sound behind the wake word, its own end, does not use up the wait.
func TestTailOfWakeWord(t *testing.T) {
	for _, c := range []struct {
		name string
		tail time.Duration
	}{{"too short for speech", 120 * time.Millisecond}, {"like a syllable", 400 * time.Millisecond}} {
		t.Run(c.name, func(t *testing.T) {
			inRig(t, nil, func(r *rig) {
				r.english.next = []speech.Transcript{{}, {Text: "turn on the lamp", Command: true}}
				if c.tail < shortest {
					r.english.next = r.english.next[1:]
				}
				r.mic.hear(wakeWord(), speechtest.Buzz(c.tail), quiet(1500*time.Millisecond), command())
				r.until("the input", func() bool { return len(r.inputs()) == 1 })
			})
		})
	}
}

func TestNothingUnderstood(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
	}{{"empty", ""}, {"blank", " \n\t"}, {"marks", "... !?"}, {"bad bytes", "\xff\xfe\x00"}} {
		t.Run(c.name, func(t *testing.T) {
			inRig(t, func(r *rig, o *Options) { r.english.next = says(c.text) }, func(r *rig) {
				r.mic.hear(wakeWord(), command())
				r.saw(Recognising)
				r.reach("idle", Idle)
				same(t, r.inputs())
				same(t, r.synth.texts())
			})
		})
	}
}

func TestFreeSpeech(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name   string
		config *bool
		llm    bool
		want   bool
	}{{"without an LLM", nil, false, false}, {"with an LLM", nil, true, true}, {"asked for", &yes, false, true}, {"switched off", &no, true, false}} {
		t.Run(c.name, func(t *testing.T) {
			change := func(r *rig, o *Options) {
				r.english.next = says("tell me a story")
				o.Config.FreeSpeech, o.Config.Language = c.config, "en"
				o.LLM = func() bool { return c.llm }
			}
			inRig(t, change, func(r *rig) {
				r.mic.hear(wakeWord(), command())
				r.saw(Recognising)
				r.pass(3 * time.Second)
				if c.want {
					same(t, r.inputs(), "tell me a story")
					return
				}
				same(t, r.inputs())
				same(t, r.synth.texts())
				if !slices.Contains(r.states(), Ignored) {
					t.Errorf("states %v", r.states())
				}
			})
		})
	}
}

// say plays the wake word and a command that is understood as text.
func (r *rig) say(text string) {
	r.english.set(func(e *fakeRecognizer) { e.next = says("!" + text) })
	r.mic.hear(wakeWord(), command())
}

func TestStopWhileSpeaking(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { r.answer(strings.Repeat("a long story. ", 20), 0) }, func(r *rig) {
		r.say("tell me")
		r.reach("speaking", Speaking)
		r.pass(2 * time.Second)
		r.answer("Stopped.", 0)
		r.say("stop")
		r.reach("listening", Listening)
		if _, speaking := r.p.live.mouth.saying(); speaking {
			t.Error("it goes on speaking while somebody speaks to it")
		}
		at := r.spk.played()
		r.until("stop", func() bool { return len(r.inputs()) == 2 })
		r.reach("idle", Idle)
		if d := r.spk.played() - at; d > 1100*time.Millisecond {
			t.Errorf("%s were played after the wake word, more than the confirmation", d)
		}
		same(t, r.synth.texts()[1:], "Stopped")
	})
}

func TestStopWhileThinking(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { r.answer("never", time.Hour) }, func(r *rig) {
		r.say("tell me")
		r.reach("thinking", Thinking)
		r.pass(time.Second)
		r.api.mu.Lock()
		r.api.onInput = nil // the agent says nothing about it
		r.api.mu.Unlock()
		r.say("stop")
		r.until("stop", func() bool { return len(r.inputs()) == 2 })
		began := time.Now()
		r.reach("idle", Idle)
		if d := time.Since(began); d > 3*time.Second {
			t.Errorf("it went on thinking for %s", d)
		}
		same(t, r.synth.texts())
	})
}

// "stop" from elsewhere falls silent within 50 ms, before the loop knows.
func TestStopFromElsewhere(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.api.sender.Send(r.t.Context(), plugin.Message{Channel: "voice", Text: strings.Repeat("a long story. ", 20)})
		r.reach("speaking", Speaking)
		r.pass(time.Second)
		began := time.Now()
		r.api.control(event.Event{Type: event.Control, State: "stop", Source: "web"})
		r.spk.mu.Lock()
		if len(r.spk.flush) == 0 || time.Since(began) > 50*time.Millisecond {
			t.Errorf("flushed %v, began %v", r.spk.flush, began)
		}
		r.spk.mu.Unlock()
		synctest.Wait()
		at := r.spk.played()
		r.pass(3 * time.Second)
		if got := r.spk.played(); got != at {
			t.Errorf("%s were played after stop", got-at)
		}
		r.reach("idle", Idle)
	})
}

// An answer that comes while somebody speaks waits, and an answer to nobody is
// spoken as well.
func TestAnswersWait(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.mic.hear(wakeWord(), speechtest.Buzz(3*time.Second))
		r.reach("listening", Listening)
		r.pass(500 * time.Millisecond)
		r.api.sender.Send(r.t.Context(), plugin.Message{Channel: "voice", Text: "ding"})
		r.pass(500 * time.Millisecond)
		same(t, r.synth.texts())
		r.until("both", func() bool { return len(r.synth.texts()) == 2 })
		same(t, r.synth.texts(), "ding", "ok")
	})
}

// An answer may be sent before InjectInput has returned, and several may come.
func TestAnswerBeforeID(t *testing.T) {
	change := func(r *rig, o *Options) {
		r.api.onInput = func(in plugin.Input) {
			for i, text := range []string{"one", "two", "three"} {
				if err := r.api.sender.Send(r.t.Context(), plugin.Message{Channel: "voice", Text: text, ReplyTo: in.ID, Final: i == 2}); err != nil {
					t.Error(err)
				}
			}
			<-time.After(time.Second)
		}
	}
	inRig(t, change, func(r *rig) {
		r.say("tell me")
		r.until("the answers", func() bool { return len(r.synth.texts()) == 3 })
		same(t, r.synth.texts(), "one", "two", "three")
		r.reach("idle", Idle)
	})
}

func TestSilentAnswer(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { r.answer("", time.Second) }, func(r *rig) {
		r.say("turn on the lamp")
		r.reach("thinking", Thinking)
		r.reach("idle", Idle)
		same(t, r.synth.texts())
	})
}

func TestLateAnswer(t *testing.T) {
	change := func(r *rig, o *Options) {
		o.Config.Answer = 5 * time.Second
		r.answer("at last", 20*time.Second)
	}
	inRig(t, change, func(r *rig) {
		r.say("tell me")
		r.until("both", func() bool { return len(r.synth.texts()) == 2 })
		same(t, r.synth.texts(), strings.Trim(sayLate.in("en"), "."), "at last")
		r.reach("idle", Idle)
	})
}

func TestInputNotTaken(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { r.api.refuse = errors.New("disk full") }, func(r *rig) {
		r.say("turn on the lamp")
		r.until("an apology", func() bool { return len(r.synth.texts()) == 1 })
		r.reach("idle", Idle)
	})
}

func TestOwnVoice(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.api.sender.Send(r.t.Context(), plugin.Message{Channel: "voice", Text: "My name is Computer and I like to talk"})
		r.reach("speaking", Speaking)
		r.mic.hear(wakeWord())
		r.pass(time.Second)
		if s := r.p.state.Load(); s != Speaking {
			t.Errorf("it woke itself: %v", s)
		}
		r.reach("idle", Idle)
	})
}

func TestMute(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.reach("idle", Idle)
		if err := r.p.MuteMicrophone(true); err != nil {
			t.Fatal(err)
		}
		r.reach("muted", Muted)
		if r.mic.live != 0 {
			t.Error("the microphone is still open")
		}
		if err := r.p.Listen(r.t.Context()); !errors.Is(err, errNoMicrophone) {
			t.Errorf("Listen: %v", err)
		}
		r.pass(time.Minute)
		same(t, []int{r.mic.opened}, 1)
		if err := r.p.Stop(r.t.Context()); err != nil {
			t.Fatal(err)
		}
		// A restart does not open it again.
		r.p = New(r.p.opt)
		if err := r.p.Start(r.t.Context(), r.api); err != nil {
			t.Fatal(err)
		}
		r.reach("muted", Muted)
		same(t, []int{r.mic.opened}, 1)
		if err := r.p.MuteMicrophone(false); err != nil {
			t.Fatal(err)
		}
		r.reach("idle", Idle)
		r.say("turn on the lamp")
		r.until("the input", func() bool { return len(r.inputs()) == 1 })
	})
}

func TestSpeakerMute(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.say("mute")
		r.until("mute", func() bool { return len(r.inputs()) == 1 })
		r.reach("idle", Idle)
		r.pass(5 * time.Second)
		same(t, r.synth.texts()) // not even the confirmation
		r.say("louder")
		r.until("the confirmation", func() bool { return len(r.synth.texts()) == 1 })
	})
}

// The engine is loaded while the command is being spoken, and loading that
// fails or hangs keeps nobody from being heard.
func TestEngineIsWarmed(t *testing.T) {
	for _, c := range []struct {
		name string
		warm func(ctx context.Context) error
	}{
		{"loads", func(context.Context) error { return nil }},
		{"fails", func(context.Context) error { return speech.ErrMissing }},
		{"hangs", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var warmed atomic.Int32
			inRig(t, func(r *rig, o *Options) {
				o.Warm = func(ctx context.Context) error { warmed.Add(1); return c.warm(ctx) }
			}, func(r *rig) {
				r.pass(time.Second)
				if n := warmed.Load(); n != 0 {
					t.Errorf("warmed %d times before anybody spoke", n)
				}
				r.mic.hear(wakeWord(), command())
				r.reach("listening", Listening)
				synctest.Wait()
				if n := warmed.Load(); n != 1 {
					t.Errorf("warmed %d times", n)
				}
				r.until("the input", func() bool { return len(r.inputs()) == 1 })
			})
		})
	}
}

func TestPushToTalk(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { o.Wake = nil }, func(r *rig) {
		r.reach("idle", Idle)
		r.pass(time.Second)
		if err := r.p.Listen(r.t.Context()); err != nil {
			t.Fatal(err)
		}
		r.reach("listening", Listening)
		r.mic.hear(command())
		r.until("the input", func() bool { return len(r.inputs()) == 1 })
		r.reach("speaking", Speaking)
		if err := r.p.Listen(r.t.Context()); err != nil { // a button is barge-in too
			t.Fatal(err)
		}
		r.reach("listening", Listening)
		r.reach("idle", Idle)
	})
}

func TestLongMessage(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.api.sender.Send(r.t.Context(), plugin.Message{Channel: "voice", Text: strings.Repeat("很长的回答。", 200000), Lang: "zh"})
		r.reach("speaking", Speaking)
		r.until("the text", func() bool { return len(r.synth.texts()) == 1 })
		got := r.synth.texts()[0]
		if n := len([]rune(got)); n > longestSpoken+20 || !strings.Contains(got, strings.Trim(noteRest.in("zh"), "。")) {
			t.Errorf("%d characters: …%s", n, got[max(0, len(got)-60):])
		}
		r.api.control(event.Event{Type: event.Control, State: "stop"})
		r.reach("idle", Idle)
	})
}

// Talk that is no command, or in a language that nobody here understands, is
// shown on the page and never answered aloud.
func TestEnglishOnlyIsShownNotSaid(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*rig, *Options)
	}{
		{"Chinese without an engine", func(r *rig, o *Options) { o.Config.Language = "zh" }},
		{"English that is no command", func(r *rig, o *Options) { r.english.next = says("it rained all day") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inRig(t, c.change, func(r *rig) {
				for range 2 {
					r.mic.hear(wakeWord(), command())
					r.saw(Listening)
					r.reach("idle", Idle)
					r.pass(20 * time.Second)
				}
				same(t, r.synth.texts())
				same(t, r.inputs())
				if n := strings.Count(r.log(), noteEnglishOnly.in("zh")); n != 1 {
					t.Errorf("the page was told %d times in %s", n, r.log())
				}
			})
		})
	}
}

func TestStartRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"language", Config{Language: "fr"}, "voice.language"},
		{"time", Config{Longest: time.Hour}, "voice.longest"},
		{"address", Config{Transcription: &Service{BaseURL: "nowhere", Model: "m"}}, "voice.transcription.base_url"},
		{"password", Config{Speech: &Service{BaseURL: "http://a:b@host/v1", Model: "m"}}, "voice.speech.key"},
		{"model", Config{Speech: &Service{BaseURL: "http://host/v1"}}, "voice.speech.model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New(Options{Config: c.cfg})
			err := p.Start(t.Context(), newFakeAPI(t))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not name %s", err, c.want)
			}
			if err := p.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}
