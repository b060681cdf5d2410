package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/firmware/note"
)

// shelf is a store of one plugin in memory.
type shelf map[string][]byte

func (s shelf) Get(k string) ([]byte, error)                       { return s[k], nil }
func (s shelf) Put(k string, v []byte) error                       { s[k] = v; return nil }
func (s shelf) Delete(k string) error                              { delete(s, k); return nil }
func (s shelf) List(string, func(key string, v []byte) bool) error { return nil }

func TestHerald(t *testing.T) {
	notes := []note.Note{{ZH: "时钟不准", EN: "the clock is wrong", Say: true}, {ZH: "安静", EN: "quiet"}, {EN: "only English", Say: true}}
	type start struct {
		boot      string
		speaker   int // tries until there is one, -1 for never
		fails     bool
		shown, to []string
	}
	both := []string{"时钟不准", "only English"}
	tests := []struct {
		name   string
		lang   string
		notes  []note.Note
		starts []start
	}{
		{"once a start of the machine", "zh", notes, []start{
			{"b1", 0, false, both, []string{"zh 时钟不准", "en only English"}}, {"b1", 0, false, nil, nil},
			{"b2", 0, false, both, []string{"zh 时钟不准", "en only English"}},
		}},
		{"in English", "en", notes, []start{{"b1", 0, false, []string{"the clock is wrong", "only English"}, []string{"en the clock is wrong", "en only English"}}}},
		{"a speaker comes later", "zh", notes, []start{{"b1", 3, false, both, []string{"zh 时钟不准", "en only English"}}}},
		{"no speaker, then one after a restart of the agent", "zh", notes, []start{
			{"b1", -1, false, both, nil}, {"b1", 0, false, nil, []string{"zh 时钟不准", "en only English"}},
		}},
		{"a voice that takes nothing is asked again", "zh", notes[:1], []start{
			{"b1", 0, true, []string{"时钟不准"}, nil}, {"b1", 0, false, nil, []string{"zh 时钟不准"}},
		}},
		{"nothing to say", "zh", notes[1:2], []start{{"b1", 0, false, nil, nil}}},
		{"none", "zh", nil, []start{{"b1", 0, false, nil, nil}}},
		{"a machine that names no start", "zh", notes, []start{{"", 0, false, nil, nil}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := shelf{}
			for i, s := range tt.starts {
				var shown, said []string
				tries := 0
				h := &herald{
					notes: tt.notes, lang: tt.lang, boot: s.boot, store: store, log: slog.New(slog.DiscardHandler),
					show: func(e event.Event) {
						if e.Type != event.AgentOutput || e.Time.IsZero() || e.Channel != "voice" {
							t.Errorf("event %+v", e)
						}
						shown = append(shown, e.Text)
					},
					say: func(_ context.Context, m plugin.Message) error {
						if s.fails {
							return errors.New("not now")
						}
						if m.Channel != "voice" {
							t.Errorf("message %+v", m)
						}
						said = append(said, m.Lang+" "+m.Text)
						return nil
					},
					ready: func(context.Context) bool { return s.speaker >= 0 && tries >= s.speaker },
					pause: func(context.Context) bool { tries++; return true },
				}
				h.run(t.Context())
				if !slices.Equal(shown, s.shown) || !slices.Equal(said, s.to) {
					t.Errorf("start %d: shown %q, said %q", i, shown, said)
				}
			}
		})
	}
}

func TestHeraldEndsWithTheAgent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	store := shelf{heraldKey: []byte("garbage")}
	h := &herald{
		notes: []note.Note{{EN: "a", Say: true}}, lang: "en", boot: "b", store: store, log: slog.New(slog.DiscardHandler),
		show: func(event.Event) {}, ready: func(context.Context) bool { return false },
		say:   func(context.Context, plugin.Message) error { t.Error("spoken"); return nil },
		pause: func(ctx context.Context) bool { return wait(ctx, speakerPause) },
	}
	h.run(ctx)
}

func TestBoxLang(t *testing.T) {
	tests := []struct{ voice, env, want string }{
		{"zh", "en_US.UTF-8", "zh"}, {"en", "zh_CN.UTF-8", "en"}, {"auto", "en_US.UTF-8", "en"}, {"auto", "zh_CN.UTF-8", "zh"}, {"", "", "zh"},
	}
	for _, tt := range tests {
		if got := boxLang(tt.voice, func(string) string { return tt.env }); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}
