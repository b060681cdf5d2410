package voice

import (
	"context"
	"errors"
	"net/http"

	"homeagent/agent/plugin"
)

// Status is what the endpoint `voice` answers.
type Status struct {
	State        State  `json:"state"`
	Microphone   string `json:"microphone"`
	Speaker      string `json:"speaker"`
	Muted        bool   `json:"muted"`
	SpeakerMuted bool   `json:"speaker_muted"`
	Language     string `json:"language"`
	// Understands lists the languages that can be spoken to the box.
	Understands []string `json:"understands"`
	FreeSpeech  bool     `json:"free_speech"`
	WakeWords   []string `json:"wake_words"`
	// Notes say what is missing and what to do, in the reader's language.
	Notes []string `json:"notes"`
}

// status collects it for a reader of the language.
func (p *Plugin) status(lang string) Status {
	st := Status{Microphone: p.cfg.Microphone, Speaker: p.cfg.Speaker, Muted: p.micMuted.Load(), SpeakerMuted: p.speakerMuted.Load(),
		Language: p.cfg.Language, Understands: []string{}, FreeSpeech: p.freeSpeech(), WakeWords: []string{}, Notes: []string{}}
	st.State, _ = p.state.Load().(State)
	if p.hearing.english != nil && p.cfg.Language != "zh" || p.hearing.remote != nil && offers(p.hearing.remote.Langs(), "en") {
		st.Understands = append(st.Understands, "en")
	}
	if p.hearing.remote != nil && offers(p.hearing.remote.Langs(), "zh") && p.cfg.Language != "en" {
		st.Understands = append(st.Understands, "zh")
	}
	switch {
	case len(st.Understands) == 0:
		st.Notes = append(st.Notes, sayNoEngine.in(lang))
	case p.hearing.remote == nil && p.cfg.Language != "en":
		st.Notes = append(st.Notes, noteEnglishOnly.in(lang))
	}
	words, err := p.words()
	if err == nil {
		err = p.wakeable(words)
	}
	if err != nil {
		st.Notes = append(st.Notes, sprintf(noteNoWake.in(lang), reason(err, lang)))
	}
	for _, w := range words {
		st.WakeWords = append(st.WakeWords, w.Name)
	}
	if len(words) == 0 && err == nil {
		st.WakeWords = append(st.WakeWords, p.opt.Wake.BuiltIn())
	}
	if len(p.synths) == 0 {
		st.Notes = append(st.Notes, noteNoSynth.in(lang))
	}
	return st
}

// serveVoice tells the state (GET) and mutes (POST mute, unmute,
// speaker/mute, speaker/unmute).
func (p *Plugin) serveVoice(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	switch {
	case req.Method == http.MethodGet && req.Path == "":
	case req.Method == http.MethodPost && (req.Path == "mute" || req.Path == "unmute"):
		if err := p.MuteMicrophone(req.Path == "mute"); err != nil {
			return err
		}
	case req.Method == http.MethodPost && req.Path == "speaker/mute":
		p.speakerMuted.Store(true)
		p.live.mouth.stop()
	case req.Method == http.MethodPost && req.Path == "speaker/unmute":
		p.speakerMuted.Store(false)
	default:
		return fault(http.StatusMethodNotAllowed, req.Lang, faultMethod, nil)
	}
	return writeJSON(out, p.status(req.Lang))
}

// serveListen is push to talk.
func (p *Plugin) serveListen(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	if req.Method != http.MethodPost {
		return fault(http.StatusMethodNotAllowed, req.Lang, faultMethod, nil)
	}
	if err := p.Listen(ctx); err != nil {
		if errors.Is(err, errNoMicrophone) {
			return fault(http.StatusServiceUnavailable, req.Lang, faultNoMic, err)
		}
		return err
	}
	return writeJSON(out, Line{Event: "state", State: Listening})
}
