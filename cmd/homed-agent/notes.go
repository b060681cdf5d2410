package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/firmware/note"
	"homeagent/firmware/words"
)

// The pace at which a speaker is looked for that may still be starting, and how often.
const (
	speakerPause = 15 * time.Second
	speakerTries = 20
)

// herald tells, once after each start of the machine, the notes that ask to be
// spoken: it writes them into the conversation, where every page shows them,
// and has them spoken as soon as there is a speaker. A restart of the agent
// alone repeats neither.
type herald struct {
	notes []note.Note
	lang  string
	// boot names this start of the machine; with "" nothing is told, because
	// it could not be told only once.
	boot  string
	store plugin.Store
	show  func(event.Event)
	say   func(context.Context, plugin.Message) error
	// ready tells whether there is a speaker.
	ready func(context.Context) bool
	// pause waits before the next look for one; false is the end.
	pause func(context.Context) bool
	log   *slog.Logger
}

// heraldKey is where the store keeps what has been told.
const heraldKey = "told"

// told is what was told after one start of the machine, by the text.
type told struct {
	Boot  string   `json:"boot"`
	Shown []string `json:"shown,omitempty"`
	Said  []string `json:"said,omitempty"`
}

// run tells what has not been told yet and ends.
func (h *herald) run(ctx context.Context) {
	if h.boot == "" || !slices.ContainsFunc(h.notes, func(n note.Note) bool { return n.Say }) {
		return
	}
	t := h.load()
	var unsaid []string
	for _, n := range h.notes {
		text := n.In(h.lang)
		if !n.Say || text == "" {
			continue
		}
		if !slices.Contains(t.Shown, text) {
			h.show(event.Event{Type: event.AgentOutput, Time: time.Now(), Channel: "voice", State: "note", Text: text})
			t.Shown = append(t.Shown, text)
		}
		if !slices.Contains(t.Said, text) {
			unsaid = append(unsaid, text)
		}
	}
	h.save(t)
	if len(unsaid) == 0 || !h.speaker(ctx) {
		return
	}
	for _, text := range unsaid {
		lang := plugin.LangOf(text)
		if lang == "" {
			lang = h.lang
		}
		if err := h.say(ctx, plugin.Message{Channel: "voice", Text: text, Lang: lang}); err != nil {
			h.log.Warn("a note of the start is not spoken", "err", err)
			break
		}
		t.Said = append(t.Said, text)
	}
	h.save(t)
}

// speaker waits until there is one.
func (h *herald) speaker(ctx context.Context) bool {
	for range speakerTries {
		if h.ready(ctx) {
			return true
		}
		if !h.pause(ctx) {
			return false
		}
	}
	h.log.Info("no speaker came; what the start has to tell stands in the status and in the conversation")
	return false
}

func (h *herald) load() told {
	var t told
	// What cannot be read is told again: better twice than never.
	if j, err := h.store.Get(heraldKey); err != nil || json.Unmarshal(j, &t) != nil || t.Boot != h.boot {
		return told{Boot: h.boot}
	}
	return t
}

func (h *herald) save(t told) {
	j, err := json.Marshal(t)
	if err == nil {
		err = h.store.Put(heraldKey, j)
	}
	if err != nil {
		h.log.Warn("what was told is not kept and may be told again", "err", err)
	}
}

// bootID is the kernel's name for this start of the machine.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// boxLang is the language of the box's own words: the one that voice is set to,
// else that of the environment, which on an appliance says what its owner chose.
func boxLang(voice string, getenv func(string) string) string {
	if voice == words.Chinese || voice == words.English {
		return voice
	}
	return words.FromEnv(getenv)
}

// wait pauses until ctx ends.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// herald joins the notes of the start to voice and page.
func (a *agentHouse) herald(notes []note.Note) *herald {
	return &herald{
		notes: notes, lang: a.lang, boot: bootID(), store: a.memory.Store("start"), log: a.log,
		show: a.bus.Publish, say: a.host.Send,
		ready: func(ctx context.Context) bool { return a.audio.Status(ctx, a.lang).Speaker.Present },
		pause: func(ctx context.Context) bool { return wait(ctx, speakerPause) },
	}
}
