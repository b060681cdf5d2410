package voice

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/drivers/voice/speech"
)

func TestUnderstand(t *testing.T) {
	down := errors.New("down")
	type engine struct {
		text string // "!" before a command
		err  error
		wait time.Duration
	}
	for _, c := range []struct {
		name          string
		lang          string
		local, remote *engine
		langs         []string // of the remote
		free          bool
		want          outcome
		text          string
		asked         bool // the remote
		hint          string
	}{
		{"english command stays here", "en", &engine{text: "!stop"}, &engine{text: "x"}, nil, false, understood, "stop", false, ""},
		{"english free speech", "en", &engine{text: "a story"}, nil, nil, true, understood, "a story", false, ""},
		{"english that is no command", "en", &engine{text: "a story"}, nil, nil, false, notCommand, "a story", false, ""},
		{"english, engine fails, service helps", "en", &engine{err: down}, &engine{text: "stop"}, nil, false, understood, "stop", true, "en"},
		{"english, both fail", "en", &engine{err: down}, &engine{err: down}, nil, false, failed, "", true, "en"},
		{"english without engine", "en", nil, &engine{text: "stop"}, nil, false, understood, "stop", true, "en"},
		{"chinese", "zh", &engine{text: "!stop"}, &engine{text: "打开灯"}, nil, false, understood, "打开灯", true, "zh"},
		{"chinese without service", "zh", &engine{text: "!stop"}, nil, nil, false, noEngine, "", false, ""},
		{"chinese, service for english only", "zh", nil, &engine{text: "x"}, []string{"en"}, false, noEngine, "", false, ""},
		{"auto, command", "auto", &engine{text: "!stop"}, &engine{text: "打开灯"}, nil, false, understood, "stop", false, ""},
		{"auto, no command", "auto", &engine{text: "die guy dun"}, &engine{text: "打开灯"}, nil, true, understood, "打开灯", true, ""},
		{"auto, one language", "auto", &engine{text: ""}, &engine{text: "打开灯"}, []string{"zh"}, true, understood, "打开灯", true, "zh"},
		{"auto, slow engine", "auto", &engine{text: "hm", wait: 5 * time.Second}, &engine{text: "打开灯", wait: time.Second}, nil, true, understood, "打开灯", true, ""},
		{"auto, slow engine but a command first", "auto", &engine{text: "!stop", wait: time.Second}, &engine{text: "打开灯", wait: 5 * time.Second}, nil, true, understood, "stop", true, ""},
		{"auto, service down, free speech", "auto", &engine{text: "a story"}, &engine{err: down}, nil, true, understood, "a story", true, ""},
		{"auto, service down, no free speech", "auto", &engine{text: "a story"}, &engine{err: down}, nil, false, failed, "", true, ""},
		{"auto, service hears nothing", "auto", &engine{text: "uh"}, &engine{text: ""}, nil, true, nothing, "", true, ""},
		{"auto, service only", "auto", nil, &engine{text: "hello"}, nil, false, understood, "hello", true, ""},
		{"auto, engine only", "auto", &engine{text: "!stop"}, nil, nil, false, understood, "stop", false, ""},
		{"auto, nothing", "auto", nil, nil, nil, false, noEngine, "", false, ""},
		{"auto, both hang", "auto", &engine{wait: time.Hour}, &engine{wait: time.Hour}, nil, true, failed, "", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hearing{grammar: func(string) string { return "g" }, free: func() bool { return c.free }, names: func() []string { return []string{"客厅灯"} }}
				remote := &fakeRecognizer{name: "remote", langs: c.langs}
				if c.local != nil {
					h.english = &fakeRecognizer{name: "local", langs: []string{"en"}, next: says(c.local.text), err: c.local.err, wait: c.local.wait}
				}
				if c.remote != nil {
					remote.next, remote.err, remote.wait = says(c.remote.text), c.remote.err, c.remote.wait
					h.remote = remote
				}
				ctx, cancel := context.WithTimeout(t.Context(), recogniseWait)
				defer cancel()
				v := h.understand(ctx, command(), c.lang)
				if v.outcome != c.want || v.outcome != failed && v.t.Text != c.text {
					t.Errorf("outcome %d, %+v", v.outcome, v)
				}
				if c.want == noEngine && !errors.Is(v.err, speech.ErrMissing) || c.want == failed && v.err == nil {
					t.Errorf("error %v", v.err)
				}
				cancel()
				synctest.Wait() // the one that lost the race has ended too
				if asked := len(remote.hints) > 0; asked != c.asked {
					t.Errorf("the service was asked: %v", asked)
				} else if asked {
					same(t, []string{remote.hints[0].Lang}, c.hint)
					same(t, remote.hints[0].Words, "客厅灯")
				}
				if c.want == understood && v.t.Lang != map[bool]string{true: "zh", false: "en"}[c.text == "打开灯"] {
					t.Errorf("language %q", v.t.Lang)
				}
			})
		})
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("turn on the lamp", "en")
	f.Add("打开\x00灯\xff", "xx")
	f.Add(" ... ", "")
	f.Fuzz(func(t *testing.T, text, lang string) {
		v := judge(speech.Transcript{Text: text, Lang: lang}, "en")
		if v.outcome != understood && v.outcome != nothing {
			t.Fatalf("outcome %d", v.outcome)
		}
		if v.outcome == understood && (v.t.Text == "" || len([]rune(v.t.Text)) > longestText || v.t.Lang != "zh" && v.t.Lang != "en") {
			t.Errorf("%+v", v.t)
		}
		for _, r := range v.t.Text {
			if r < ' ' || r == 0x7f {
				t.Errorf("control character in %q", v.t.Text)
			}
		}
	})
}
