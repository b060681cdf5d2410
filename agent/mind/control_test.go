package mind

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/queue"
	"homeagent/agent/tool"
	"homeagent/memory/disk/disktest"
)

// never is a provider that does not answer before its context ends.
func never(ctx context.Context, _ int, _ provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
	<-ctx.Done()
	return provider.Response{}, &provider.Error{Provider: "fake", Kind: provider.Canceled, Err: ctx.Err()}
}

func TestStop(t *testing.T) {
	rows := []struct {
		name     string
		think    func(gate chan struct{}) think
		word     string
		answer   string
		results  []tool.Status
		messages int
	}{
		{"the provider never answers", func(chan struct{}) think { return never }, "stop", "Stopped.", nil, 2},
		{"the provider is deaf", func(gate chan struct{}) think {
			return func(context.Context, int, provider.Request, func(provider.Chunk) error) (provider.Response, error) {
				<-gate
				return provider.Response{Text: "too late"}, nil
			}
		}, "never mind", "Cancelled.", nil, 2},
		{"a tool runs", func(chan struct{}) think {
			return plays(calls(call("a", "wait", `{}`), call("b", "wait", `{}`)), provider.Response{Text: "too late"})
		}, "停", "好，停了。", []tool.Status{tool.Failed, tool.NotRun}, 5},
		{"a deaf tool runs", func(chan struct{}) think {
			return plays(calls(call("a", "deaf", `{}`)), provider.Response{Text: "too late"})
		}, "别说了", "好，停了。", []tool.Status{tool.Unknown}, 4},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				defer close(gate)
				r := newRig(t, row.think(gate))
				r.tool("wait", tool.Act, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
					<-ctx.Done()
					return tool.Result{}, ctx.Err()
				})
				r.tool("deaf", tool.Act, func(context.Context, tool.Call) (tool.Result, error) {
					<-gate
					return tool.Result{}, nil
				})
				var controls []event.Event
				r.api.Subscribe(event.Control, func(e event.Event) { controls = append(controls, e) })
				r.start()
				id := r.say("do it")
				synctest.Wait() // the turn waits for the provider or a tool
				began := time.Now()
				ctl := r.say(row.word)
				synctest.Wait()
				if len(controls) != 1 || controls[0].Input != ctl || controls[0].Text != row.word || time.Since(began) != 0 {
					t.Errorf("controls after %v: %+v", time.Since(began), controls)
				}
				r.over(id)
				synctest.Wait()
				if d := time.Since(began); d > 100*time.Millisecond {
					t.Errorf("the turn ended after %v", d)
				}
				var answer, silence bool
				for _, m := range r.con.Sent() {
					answer = answer || m.ReplyTo == ctl && m.Text == row.answer && m.Final
					silence = silence || m.ReplyTo == id && m.Text == "" && m.Final
				}
				if !answer || !silence || len(r.con.Sent()) != 2 {
					t.Errorf("sent %+v", r.con.Sent())
				}
				var turn, control Turn
				for _, e := range r.mem.ended() {
					if e.ID == id {
						turn = e
					} else {
						control = e
					}
				}
				if control.ID != ctl || control.Outcome != Controlled || control.Final != row.answer || len(control.Messages) != 0 {
					t.Errorf("journal of the intent: %+v", control)
				}
				var got []tool.Status
				for _, res := range turn.Results {
					got = append(got, res.Status)
				}
				if turn.Outcome != Cancelled || !slices.Equal(got, row.results) || len(turn.Messages) != row.messages {
					t.Errorf("journal of the turn: %+v", turn)
				}
				if last := turn.Messages[len(turn.Messages)-1]; !strings.Contains(last.Content, "stopped") {
					t.Errorf("the context's note: %q", last.Content)
				}
				// Nothing is stuck: the next input gets its answer.
				r.llm.do = says("alive")
				r.turn("hello")
				if all := r.answers(); all[len(all)-1] != "alive" {
					t.Errorf("answers %q", all)
				}
				if s := r.m.Status(); s.Queue.User != 0 || s.Turn != nil {
					t.Errorf("status %+v", s)
				}
				r.end()
			})
		})
	}
}

func TestStopDuringAStage(t *testing.T) {
	for _, s := range plugin.Stages[:len(plugin.Stages)-1] {
		t.Run(string(s), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, ran := lampTurn(t)
				r.stage(s, func(ctx context.Context, _ *plugin.StageContext) error {
					<-ctx.Done()
					return nil
				})
				r.start()
				id := r.say("light")
				synctest.Wait()
				r.say("stop")
				r.over(id)
				synctest.Wait()
				if i := slices.IndexFunc(r.mem.ended(), func(e Turn) bool { return e.ID == id }); i < 0 || r.mem.ended()[i].Outcome != Cancelled {
					t.Errorf("turns %+v", r.mem.ended())
				}
				if slices.Contains(r.answers(), "the answer") {
					t.Error("a stopped turn has answered")
				}
				if early := s != plugin.AfterToolcall && s != plugin.BeforeOutput; early && len(*ran) > 0 {
					t.Error("a stopped turn has acted")
				}
				r.end()
			})
		})
	}
}

func TestStopWhileTheChannelHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, says("a long speech"))
		slow := &slowSender{}
		if err := r.api.Channel("voice", slow); err != nil {
			t.Fatal(err)
		}
		r.start()
		id := r.inject(plugin.Input{Source: "voice", Channel: "voice", Payload: "tell me a story"})
		synctest.Wait()
		r.say("stop")
		r.over(id)
		if len(slow.sent) != 2 || slow.sent[1].Text != "" || !slow.sent[1].Final {
			t.Errorf("the channel got %+v", slow.sent)
		}
		r.end()
	})
}

// slowSender takes a text only when its context ends.
type slowSender struct{ sent []plugin.Message }

func (s *slowSender) Send(ctx context.Context, m plugin.Message) error {
	s.sent = append(s.sent, m)
	if m.Text == "" {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func TestOtherIntents(t *testing.T) {
	rows := []struct {
		name, text, source string
		pending            bool
		intent             string // "" is a turn like any other
		answer             string
	}{
		{"mute", "静音", "console", false, "mute", "已静音，说“大声点”就恢复。"},
		{"louder", "louder", "console", false, "louder", "Louder."},
		{"ring off", "别响了", "console", false, "ring_off", "好，不响了。"},
		{"after a name", "jarvis, softer", "console", false, "softer", "Softer."},
		{"yes without a question", "好的", "console", false, "", "turn"},
		{"yes to a question", "好的", "console", true, "confirm", "好的。"},
		{"no to a question", "no", "console", true, "deny", "All right, I won't."},
		{"an internal source", "stop", "_probe_", false, "", ""},
		{"a schedule", "静音", "schedule", false, "", "turn"},
		{"a sentence", "stop the music at nine", "console", false, "", "turn"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t, says("turn"), with(func(o *Options) {
				o.Names = []string{"Jarvis"}
				o.Pending = func() bool { return row.pending }
			})).start()
			id := r.inject(plugin.Input{Source: row.source, Channel: "console", Payload: row.text})
			if row.intent == "" {
				r.over(id)
			} else {
				e := r.b.WaitEvent("the intent", func(e event.Event) bool { return e.Type == event.Control })
				if e.State != row.intent || e.Input != id {
					t.Errorf("event %+v", e)
				}
			}
			if row.answer == "" {
				r.settled()
				if got := r.answers(); len(got) != 0 {
					t.Errorf("sent %q", got)
				}
				return
			}
			if m := r.con.Wait(1); m.Text != row.answer {
				t.Errorf("answer %q", m.Text)
			}
		})
	}
}

func TestMuteDoesNotEndTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r := newRig(t, func(ctx context.Context, _ int, _ provider.Request, _ func(provider.Chunk) error) (provider.Response, error) {
			<-gate
			return provider.Response{Text: "done"}, ctx.Err()
		}).start()
		id := r.say("do it")
		synctest.Wait()
		r.say("mute")
		synctest.Wait()
		close(gate)
		r.over(id)
		if got := r.answers(); !slices.Contains(got, "done") {
			t.Errorf("answers %q", got)
		}
		r.end()
	})
}

func TestButtonStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, never).start()
		id := r.say("do it")
		synctest.Wait()
		r.api.Publish(event.Event{Type: event.Control, State: "stop"})
		r.over(id)
		if turns := r.mem.ended(); len(turns) != 1 || turns[0].Outcome != Cancelled {
			t.Errorf("turns %+v", turns)
		}
		r.end()
	})
}

func TestControlWithoutMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, never).start()
		r.inject(plugin.Input{Source: "console", Channel: "console", Payload: "stop", NoMemory: true})
		synctest.Wait()
		if got := r.answers(); len(got) != 1 || len(r.mem.ended()) != 0 {
			t.Errorf("answers %q, turns %+v", got, r.mem.ended())
		}
		r.end()
	})
}

// TestStoppedTurnStaysStopped cuts the power right after a stop.
func TestStoppedTurnStaysStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left *disktest.Disk
		r := newRig(t, plays(calls(call("a", "lamp", `{}`), call("b", "wait", `{}`)), provider.Response{Text: "x"}))
		acted := 0
		r.tool("lamp", tool.Act, func(context.Context, tool.Call) (tool.Result, error) { acted++; return tool.Result{}, nil })
		r.tool("wait", tool.Act, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		})
		r.start()
		id := r.say("do it")
		synctest.Wait()
		r.say("stop")
		r.b.WaitEvent("the silence", func(e event.Event) bool { return e.State == "turn_end" && e.Input == id })
		left = r.disk.Reboot(disktest.Synced) // done is not synced, the cancellation is
		r.end()

		s := newRig(t, says("must not be asked"), onDisk(left)).start()
		s.over(id)
		if len(s.llm.requests()) != 0 || len(s.con.Sent()) != 1 || s.con.Sent()[0].Text != "" {
			t.Errorf("asked %d times, sent %+v", len(s.llm.requests()), s.con.Sent())
		}
		if turn := s.mem.ended()[0]; turn.Outcome != Cancelled || len(turn.Results) != 2 {
			t.Errorf("turn %+v", turn)
		}
		s.end()
	})
}

// TestOrderlyStop stops the process within a turn several times: the input is
// dealt with in the end, finished calls are not repeated, nothing is set aside.
func TestOrderlyStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		mem := &fakeMemory{}
		acted := 0
		var id string
		for i := range 5 {
			r := newRig(t, func(ctx context.Context, n int, req provider.Request, emit func(provider.Chunk) error) (provider.Response, error) {
				if lastOf(req, provider.Tool).CallID == "" {
					return calls(call("a", "lamp", `{}`)), nil
				}
				if i < 4 {
					return never(ctx, n, req, emit)
				}
				return provider.Response{Text: "done"}, nil
			}, onDisk(d), withMemory(mem))
			r.tool("lamp", tool.Act, func(context.Context, tool.Call) (tool.Result, error) { acted++; return tool.Result{}, nil })
			r.start()
			if i == 0 {
				id = r.say("do it")
			}
			synctest.Wait()
			if i < 4 {
				r.end()
				r.settled()
				if !slices.Contains(r.states(), "turn_paused") || len(r.con.Sent()) != 0 {
					t.Errorf("run %d: states %v, sent %+v", i, r.states(), r.con.Sent())
				}
				d = r.disk.Reboot(disktest.Synced)
				continue
			}
			r.over(id)
			if got := r.answers(); len(got) != 1 || got[0] != "done" || acted != 1 {
				t.Errorf("answers %q, acted %d", got, acted)
			}
			if req := r.llm.requests()[0]; !strings.Contains(req.Notes, "interrupted") {
				t.Errorf("the provider is not told: %q", req.Notes)
			}
			r.end()
		}
	})
}

func TestStopBeforeTheAnswerLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, says("an answer"))
		slow := &slowSender{}
		if err := r.api.Channel("voice", slow); err != nil {
			t.Fatal(err)
		}
		r.start()
		id := r.inject(plugin.Input{Source: "voice", Channel: "voice", Payload: "hello there"})
		synctest.Wait()
		r.end()
		s := newRig(t, says("must not be asked"), onDisk(r.disk.Reboot(disktest.Synced)))
		l := s.b.Listen("voice")
		s.start()
		s.over(id)
		if got := l.Sent(); len(got) != 1 || got[0].Text != "I was interrupted; this may be a repeat: an answer" || !got[0].Final {
			t.Errorf("sent %+v", got)
		}
		s.end()
	})
}

func TestInjectErrors(t *testing.T) {
	r := newRig(t, says("ok")).start()
	var f *plugin.Fault
	if _, err := r.m.InjectText(context.Background(), "console", "console", strings.Repeat("长", 1<<20)); !errors.As(err, &f) || !errors.Is(err, queue.ErrInput) {
		t.Errorf("a megabyte: %v", err)
	}
	if _, err := r.m.InjectText(context.Background(), "console", "console", "a\x00b"); !errors.As(err, &f) {
		t.Errorf("a NUL: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.m.InjectText(ctx, "console", "console", "x"); err == nil {
		t.Error("an ended context is taken")
	}
	if r.m.Run(context.Background()) == nil {
		t.Error("a second Run is taken")
	}
	r.turn("hello")
	if got := r.answers(); len(got) != 1 {
		t.Errorf("answers %q", got)
	}
}
