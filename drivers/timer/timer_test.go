package timer_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.yaml.in/yaml/v3"

	"homeagent/agent/event"
	"homeagent/agent/tool"
	"homeagent/drivers/timer"
)

// start runs a plugin inside the bubble; the returned function stops it.
func start(t *testing.T, cfg timer.Config, c timer.Clock, api *fakeAPI) (stop func()) {
	t.Helper()
	p := timer.New(cfg, c)
	if err := p.Start(t.Context(), api); err != nil {
		t.Fatal(err)
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := errors.Join(p.Stop(ctx), p.Stop(ctx)); err != nil {
			t.Error(err)
		}
	}
}

// pass lets d go by and everything that follows from it happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// expect compares what happened, line by line.
func expect(t *testing.T, api *fakeAPI, want ...string) {
	t.Helper()
	if got := api.heard(); !slices.Equal(got, want) {
		t.Errorf("happened:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// bubble runs f with a fake clock, UTC as the household's zone.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// A timer rings in time on the channel that set it and on voice, again and
// again on voice, and falls silent by itself.
func TestRings(t *testing.T) {
	bubble(t, func(t *testing.T) {
		api := newAPI(newStore())
		defer start(t, timer.Config{RingFor: 25 * time.Second}, nil, api)()
		text := api.must(t, "web:4f2a", "en", "timer_set", `{"seconds":600,"label":"noodles"}`)
		if !strings.HasPrefix(text, "Timer 1 (noodles) is set and rings in 10 minutes, at ") {
			t.Errorf("answer %q", text)
		}
		pass(599 * time.Second)
		expect(t, api)
		pass(2 * time.Minute)
		expect(t, api, "600 event ring", "600 web:4f2a: Time is up: noodles.", "600 voice: Time is up: noodles.",
			"610 voice: Time is up: noodles.", "620 voice: Time is up: noodles.", "625 event ring_off")
		if keys := api.store.keys(); len(keys) != 0 {
			t.Errorf("left in the store: %v", keys)
		}
		for _, in := range api.sent {
			if in.Source != "timer" || in.UserID != "anna" || in.Lang != "en" {
				t.Errorf("sent as %+v", in)
			}
		}
	})
}

// Words and channels of a ring, by language, label and who asked.
func TestWords(t *testing.T) {
	for _, tc := range []struct {
		name, channel, lang, args string
		set                       string
		want                      []string
	}{
		{"Chinese label", "voice", "zh", `{"seconds":90,"label":"吃药"}`, "定时器 1“吃药”已设好，1分钟30秒后", []string{"voice: 时间到：吃药。"}},
		{"Chinese", "voice", "zh", `{"seconds":3600}`, "定时器 1已设好，1小时后", []string{"voice: 时间到，1小时的定时器响了。"}},
		{"English", "voice", "en", `{"seconds":3661}`, "rings in 1 hour 1 minute 1 second", []string{"voice: Time is up. Your timer of 1 hour 1 minute 1 second is done."}},
		{"nobody asked", "", "", `{"seconds":1}`, "1秒后", []string{"voice: 时间到，1秒的定时器响了。"}},
		{"language of the label", "", "", `{"seconds":2,"label":"tea"}`, "rings in 2 seconds", []string{"voice: Time is up: tea."}},
		{"label is tidied", "console", "en", "{\"seconds\":1,\"label\":\"  a\\n\\tb \\u0000 c \"}", "(a b c)", []string{"console: Time is up: a b c.", "voice: Time is up: a b c."}},
		{"a week", "voice", "en", `{"seconds":604800}`, "7 days", []string{"voice: Time is up. Your timer of 7 days is done."}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				api := newAPI(newStore())
				defer start(t, timer.Config{}, nil, api)()
				if text := api.must(t, tc.channel, tc.lang, "timer_set", tc.args); !strings.Contains(text, tc.set) {
					t.Errorf("answer %q, want %q in it", text, tc.set)
				}
				var args struct{ Seconds float64 }
				json.Unmarshal([]byte(tc.args), &args)
				pass(time.Duration(args.Seconds * float64(time.Second)))
				var got []string
				for _, l := range api.heard() {
					if _, rest, _ := strings.Cut(l, " "); !strings.HasPrefix(rest, "event") {
						got = append(got, rest)
					}
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("said %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// Whoever says so ends the ring at once; what is set for later stays.
func TestSilenced(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(t *testing.T, api *fakeAPI)
		ends bool
	}{
		{"ring_off", func(_ *testing.T, a *fakeAPI) { a.control(event.Event{Type: event.Control, State: "ring_off"}) }, true},
		{"stop", func(_ *testing.T, a *fakeAPI) { a.control(event.Event{Type: event.Control, State: "stop"}) }, true},
		{"cancel", func(_ *testing.T, a *fakeAPI) { a.control(event.Event{Type: event.Control, State: "cancel"}) }, true},
		{"timer_cancel", func(t *testing.T, a *fakeAPI) { a.must(t, "voice", "en", "timer_cancel", `{"id":"1"}`) }, true},
		{"louder", func(_ *testing.T, a *fakeAPI) { a.control(event.Event{Type: event.Control, State: "louder"}) }, false},
	} {
		for _, hang := range []bool{false, true} {
			t.Run(tc.name+map[bool]string{true: ", voice hangs"}[hang], func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					api := newAPI(newStore())
					defer start(t, timer.Config{}, nil, api)()
					api.must(t, "voice", "en", "timer_set", `{"seconds":5}`)
					api.must(t, "voice", "en", "timer_set", `{"seconds":500,"label":"later"}`)
					api.setHang(hang)
					pass(6 * time.Second)
					api.heard()
					tc.do(t, api)
					pass(time.Second)
					if ended := slices.Contains(api.heard(), "6 event ring_off"); ended != tc.ends {
						t.Errorf("ended: %v, want %v", ended, tc.ends)
					}
					if tc.ends && !slices.Equal(api.store.keys(), []string{"timer/2"}) {
						t.Errorf("in the store: %v", api.store.keys())
					}
					if text := api.must(t, "voice", "en", "timer_list", `{}`); !strings.Contains(text, "Timer 2 (later): 8 minutes 13 seconds left") ||
						strings.Contains(text, "Timer 1: ringing now") == tc.ends {
						t.Errorf("list %q", text)
					}
				})
			})
		}
	}
}

// A timer goes on over a restart; one that fell due meanwhile is told, on
// channels that may come later than the plugin, and only once.
func TestRestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newStore()
		api := newAPI(s)
		stop := start(t, timer.Config{}, nil, api)
		api.must(t, "web:1", "en", "timer_set", `{"seconds":60,"label":"egg"}`)
		api.must(t, "web:1", "zh", "timer_set", `{"seconds":100}`)
		api.must(t, "web:1", "en", "timer_set", `{"seconds":300,"label":"bread"}`)
		stop()
		if _, err := api.call(t, "web:1", "en", "timer_set", `{"seconds":60}`); err == nil {
			t.Error("a stopped plugin took a timer")
		}
		pass(200 * time.Second)
		expect(t, api)

		api = newAPI(s)
		api.setAbsent(true, "web:1", "voice")
		stop = start(t, timer.Config{}, nil, api)
		defer func() { stop() }()
		pass(15 * time.Second)
		expect(t, api, "0 event ring", "0 event ring") // nobody there yet
		if n := len(s.keys()); n != 3 {
			t.Fatalf("%d timers stored before anyone heard", n)
		}
		api.setAbsent(false, "web:1", "voice")
		pass(80 * time.Second)
		var said []string
		for _, l := range api.heard() {
			if !strings.Contains(l, "event") {
				said = append(said, l)
			}
		}
		slices.Sort(said)
		if len(said) != 4 || !strings.HasPrefix(said[0], "20 voice: Missed: egg. It was due at ") ||
			!strings.HasPrefix(said[1], "20 voice: 错过了1分钟40秒的定时器。") || !strings.HasPrefix(said[2], "20 web:1: Missed: egg.") {
			t.Errorf("said %q", said)
		}
		pass(10 * time.Second)
		expect(t, api, "100 event ring", "100 web:1: Time is up: bread.", "100 voice: Time is up: bread.")
		if text := api.must(t, "web:1", "en", "timer_set", `{"seconds":60}`); !strings.HasPrefix(text, "Timer 4") {
			t.Errorf("a new timer is %q", text)
		}
	})
}

// A ring that no channel took is kept and told after the next start.
func TestUnheard(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newStore()
		api := newAPI(s)
		api.setAbsent(true, "console", "voice")
		stop := start(t, timer.Config{}, nil, api)
		api.must(t, "console", "en", "timer_set", `{"seconds":5,"label":"gas"}`)
		pass(2 * time.Minute)
		expect(t, api, "5 event ring", "65 event ring_off")
		stop()
		api = newAPI(s)
		defer start(t, timer.Config{}, nil, api)()
		pass(time.Second)
		got := api.heard()
		if len(got) != 4 || !strings.Contains(got[1], "console: Missed: gas.") || len(s.keys()) != 0 {
			t.Errorf("after the start %q, stored %v", got, s.keys())
		}
	})
}

// Setting the wall clock, in either direction, moves no running timer, and the
// Store learns the new due time.
func TestWallClockIsSet(t *testing.T) {
	for _, jump := range []time.Duration{56 * 365 * 24 * time.Hour, -3 * time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s, c := newStore(), &clock{}
				api := newAPI(s)
				stop := start(t, timer.Config{}, c, api)
				api.must(t, "voice", "en", "timer_set", `{"seconds":300,"label":"tea"}`)
				c.set(jump)
				pass(100 * time.Second)
				expect(t, api)
				stop()
				pass(100 * time.Second)
				api = newAPI(s)
				defer start(t, timer.Config{}, c, api)()
				pass(99 * time.Second)
				expect(t, api)
				pass(2 * time.Second)
				expect(t, api, "100 event ring", "100 voice: Time is up: tea.")
			})
		})
	}
}

// A board that starts with a clock from before the timer was set counts the
// whole length again, until the clock is put right.
func TestClockBehindAtStart(t *testing.T) {
	for _, tc := range []struct {
		name  string
		fixed time.Duration // since the start; 0 is never
		rings string
	}{
		{"never put right", 0, "300 voice: Time is up: tea."},
		{"put right before it is due", 60 * time.Second, "200 voice: Time is up: tea."},
		{"put right when it was due already", 250 * time.Second, "270 voice: Missed: tea."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s, c := newStore(), &clock{}
				api := newAPI(s)
				stop := start(t, timer.Config{}, c, api)
				api.must(t, "voice", "en", "timer_set", `{"seconds":300,"label":"tea"}`)
				stop()
				pass(100 * time.Second)
				c.set(-20 * 365 * 24 * time.Hour)
				api = newAPI(s)
				defer start(t, timer.Config{}, c, api)()
				if tc.fixed > 0 {
					pass(tc.fixed)
					c.set(0)
				}
				pass(305*time.Second - tc.fixed)
				got := api.heard()
				if len(got) < 2 || !strings.HasPrefix(got[1], tc.rings) {
					t.Errorf("happened %q, want %q", got, tc.rings)
				}
			})
		})
	}
}

func TestListAndCancel(t *testing.T) {
	for _, tc := range []struct {
		name, lang, args string
		want             string // in the answer or the error
		fails            bool
		left             []string
	}{
		{"by id", "en", `{"id":"2"}`, "Cancelled: Timer 2 (tea).", false, []string{"timer/1", "timer/3"}},
		{"by label", "zh", `{"label":"面条"}`, "已取消：定时器 1“面条”。", false, []string{"timer/2", "timer/3"}},
		{"label as id", "en", `{"id":"TEA"}`, "Timer 2", false, []string{"timer/1", "timer/3"}},
		{"id and label", "en", `{"id":"2","label":"tea"}`, "Timer 2", false, []string{"timer/1", "timer/3"}},
		{"id and wrong label", "en", `{"id":"2","label":"x"}`, "there are: Timer 2 (tea), Timer 3, Timer 1 (面条)", true, []string{"timer/1", "timer/2", "timer/3"}},
		{"all", "en", `{}`, "Cancelled: Timer 1 (面条), Timer 2 (tea), Timer 3.", false, nil},
		{"all by empty id", "zh", `{"id":""}`, "已取消：", false, nil},
		{"unknown", "zh", `{"id":"9"}`, `没有定时器 "9"；现有：`, true, []string{"timer/1", "timer/2", "timer/3"}},
		{"unknown argument", "en", `{"name":"x"}`, "name", true, []string{"timer/1", "timer/2", "timer/3"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				api := newAPI(newStore())
				defer start(t, timer.Config{}, nil, api)()
				api.must(t, "voice", "zh", "timer_set", `{"seconds":900,"label":"面条"}`)
				api.must(t, "voice", "en", "timer_set", `{"seconds":300,"label":"tea"}`)
				api.must(t, "voice", "en", "timer_set", `{"seconds":600}`)
				if text := api.must(t, "voice", "en", "timer_list", ``); text != "Timer 2 (tea): 5 minutes left\nTimer 3: 10 minutes left\nTimer 1 (面条): 15 minutes left" {
					t.Errorf("list %q", text)
				}
				if text := api.must(t, "voice", "zh", "timer_list", `{}`); !strings.HasPrefix(text, "定时器 2“tea”：还有5分钟") {
					t.Errorf("list %q", text)
				}
				text, err := api.call(t, "voice", tc.lang, "timer_cancel", tc.args)
				if (err != nil) != tc.fails {
					t.Fatalf("got %q, %v", text, err)
				}
				if err != nil {
					text = err.Error()
				}
				if !strings.Contains(text, tc.want) {
					t.Errorf("got %q, want %q in it", text, tc.want)
				}
				if left := api.store.keys(); !slices.Equal(left, tc.left) {
					t.Errorf("left %v, want %v", left, tc.left)
				}
				pass(time.Hour)
				if rings := strings.Count(strings.Join(api.heard(), "\n"), "event ring\n"); rings != len(tc.left) {
					t.Errorf("%d rings, want %d", rings, len(tc.left))
				}
			})
		})
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct{ name, tool, args, want string }{
		{"no time", "timer_set", `{}`, "1 second and 7 days"},
		{"zero", "timer_set", `{"seconds":0}`, "1 second and 7 days"},
		{"negative", "timer_set", `{"seconds":-5}`, "1 second and 7 days"},
		{"over a week", "timer_set", `{"seconds":604801}`, "1 second and 7 days"},
		{"beyond all numbers", "timer_set", `{"seconds":1e999}`, "arguments"},
		{"words for a number", "timer_set", `{"seconds":"ten"}`, "arguments"},
		{"long label", "timer_set", `{"seconds":5,"label":"` + strings.Repeat("长", 201) + `"}`, "at most 200"},
		{"unknown argument", "timer_set", `{"seconds":5,"minutes":3}`, "minutes"},
		{"list with an argument", "timer_list", `{"x":1}`, "x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				api := newAPI(newStore())
				defer start(t, timer.Config{}, nil, api)()
				if text, err := api.call(t, "voice", "en", tc.tool, tc.args); err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %q, %v, want %q in the error", text, err, tc.want)
				}
				if n := len(api.store.keys()); n != 0 {
					t.Errorf("%d timers stored", n)
				}
			})
		})
	}
	bubble(t, func(t *testing.T) {
		api := newAPI(newStore())
		defer start(t, timer.Config{}, nil, api)()
		for range 100 {
			api.must(t, "voice", "en", "timer_set", `{"seconds":1000}`)
		}
		for _, lang := range []string{"zh", "en"} {
			if _, err := api.call(t, "voice", lang, "timer_set", `{"seconds":1000}`); err == nil || !strings.Contains(err.Error(), "100") {
				t.Errorf("the 101st timer gave %v", err)
			}
		}
		if text := api.must(t, "voice", "zh", "timer_cancel", `{}`); !strings.HasPrefix(text, "已取消") {
			t.Errorf("got %q", text)
		}
		if text := api.must(t, "voice", "zh", "timer_cancel", `{"id":"1"}`); text != "现在没有定时器。" {
			t.Errorf("got %q", text)
		}
		if text := api.must(t, "voice", "en", "timer_list", `{}`); text != "No timer is set." {
			t.Errorf("got %q", text)
		}
	})
}

// A timer that could not be stored does not count, and says so.
func TestStoreFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newStore()
		api := newAPI(s)
		defer start(t, timer.Config{}, nil, api)()
		api.must(t, "voice", "en", "timer_set", `{"seconds":60,"label":"kept"}`)
		s.fail = errors.New("no space left on device")
		if _, err := api.call(t, "voice", "en", "timer_set", `{"seconds":5}`); !errors.Is(err, s.fail) {
			t.Errorf("set gave %v", err)
		}
		if _, err := api.call(t, "voice", "en", "timer_cancel", `{}`); !errors.Is(err, s.fail) {
			t.Errorf("cancel gave %v", err)
		}
		pass(61 * time.Second)
		expect(t, api, "60 event ring", "60 voice: Time is up: kept.")
		if err := timer.New(timer.Config{}, nil).Start(t.Context(), newAPI(s)); !errors.Is(err, s.fail) {
			t.Errorf("start gave %v", err)
		}
	})
}

// What is no timer is set aside and the rest still rings.
func TestGarbageInStore(t *testing.T) {
	for _, bad := range []string{"", "{", "null", `{"id":"2"}`, `{"id":"7","seconds":9,"set":"2026-01-01T00:00:00Z","due":"2026-01-01T00:00:09Z"}`,
		`{"id":"2","seconds":1e300,"set":"2026-01-01T00:00:00Z","due":"2026-01-01T00:00:09Z"}`} {
		t.Run(bad, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newStore()
				api := newAPI(s)
				stop := start(t, timer.Config{}, nil, api)
				api.must(t, "voice", "en", "timer_set", `{"seconds":60,"label":"good"}`)
				stop()
				s.Put("timer/2", []byte(bad))
				defer start(t, timer.Config{}, nil, api)()
				pass(61 * time.Second)
				expect(t, api, "60 event ring", "60 voice: Time is up: good.")
				if keys := s.keys(); !slices.Equal(keys, []string{"bad/timer/2"}) {
					t.Errorf("stored %v", keys)
				}
			})
		})
	}
}

func TestDefinitions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		api := newAPI(newStore())
		defer start(t, timer.Config{}, nil, api)()
		for name, risk := range map[string]tool.Risk{"timer_set": tool.Act, "timer_list": tool.Read, "timer_cancel": tool.Act} {
			if def := api.tools[name]; def.Risk != risk || !json.Valid(def.Parameters) || def.Description == "" || def.Name != name {
				t.Errorf("%s: %+v", name, def)
			}
		}
	})
}

func TestConfig(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		ring       time.Duration
		want       string // in the error
	}{
		{"nothing", ``, 0, ""},
		{"set", `ring_for: 2m`, 2 * time.Minute, ""},
		{"too short", `ring_for: 1s`, 0, "timer.ring_for"},
		{"too long", `ring_for: 1h`, 0, "timer.ring_for"},
		{"unknown key", `ringfor: 1m`, 0, "ringfor"},
		{"no time", `ring_for: soon`, 0, "timer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(tc.text), &doc); err != nil {
				t.Fatal(err)
			}
			var node *yaml.Node
			if len(doc.Content) > 0 {
				node = doc.Content[0]
			}
			c, err := timer.ParseConfig(node)
			if tc.want == "" {
				if err != nil || c.RingFor != tc.ring {
					t.Errorf("got %+v, %v", c, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q in it", err, tc.want)
			}
		})
	}
	if timer.New(timer.Config{RingFor: time.Hour}, nil).Start(t.Context(), newAPI(newStore())) == nil {
		t.Error("a wrong config was accepted")
	}
}
