package voice

import (
	"errors"
	"strings"
	"testing"

	"homeagent/drivers/voice/speech"
)

// The box speaks the house's language until somebody speaks another, unless the
// section voice names one.
func TestOwnLanguage(t *testing.T) {
	for _, c := range []struct {
		name            string
		language, house string
		want            string
	}{
		{"nothing is set", "", "", "zh"},
		{"auto, a Chinese house", "auto", "zh", "zh"},
		{"auto, an English house", "auto", "en", "en"},
		{"unset, an English house", "", "en", "en"},
		{"English in a Chinese house", "en", "zh", "en"},
		{"Chinese in an English house", "zh", "en", "zh"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inRig(t, func(r *rig, o *Options) {
				o.Config.Language, o.Lang = c.language, c.house
				// A service understands both languages; it fails.
				o.Transcription = &fakeRecognizer{name: "service", langs: []string{"zh", "en"}, err: errors.New("down")}
				r.english.err = errors.New("down")
			}, func(r *rig) {
				r.mic.hear(wakeWord(), command())
				r.until("the apology", func() bool { return len(r.synth.texts()) == 1 })
				same(t, r.synth.texts(), strings.TrimSuffix(sayFailed.in(c.want), "."))
				r.reach("idle", Idle)
			})
		})
	}
}

// A text that is of no language is taken for the one heard last, at first the house's.
func TestLanguageOfNumbers(t *testing.T) {
	const number = "42"
	for _, c := range []struct {
		name  string
		house string
		heard []speech.Transcript
		want  []string
	}{
		{"a Chinese house", "zh", []speech.Transcript{{Text: number}}, []string{"zh"}},
		{"an English house", "en", []speech.Transcript{{Text: number}}, []string{"en"}},
		{"after English in a Chinese house", "zh", []speech.Transcript{{Text: "good morning"}, {Text: number}}, []string{"en", "en"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inRig(t, func(r *rig, o *Options) {
				o.Lang = c.house
				o.English = nil
				o.Transcription = &fakeRecognizer{name: "service", langs: []string{"zh", "en"}, next: c.heard}
			}, func(r *rig) {
				for i := range c.heard {
					r.mic.hear(wakeWord(), command())
					r.until("the input", func() bool { return len(r.inputs()) == i+1 })
					r.reach("idle", Idle)
				}
				var got []string
				r.api.mu.Lock()
				for _, in := range r.api.inputs {
					got = append(got, in.Lang)
				}
				r.api.mu.Unlock()
				same(t, got, c.want...)
			})
		})
	}
}
