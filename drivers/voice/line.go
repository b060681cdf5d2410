package voice

import (
	"encoding/json"

	"homeagent/agent/pcm/wav"
	"homeagent/agent/plugin"
)

// Line is one line of what the endpoints `hear` and `wake` answer while they
// work (application/x-ndjson). Event says which fields are set:
//
//	state    State
//	heard    Text, Lang, Engine, Command: what goes to the agent
//	ignored  Text, Lang, Engine: English that is no known command
//	nothing  somebody was called but said nothing that has words
//	answer   Text, Lang, Input, WAV (what was heard of it), Stopped
//	trace    Trace: times of an utterance, before its answer line
//	notice   Text for people
//	error    Text for people: this utterance came to nothing
//	record   Text, Take: say the wake word now
//	learnt   Text: the word's name
//	alive    nothing happened for a while
//	end      the recording is over and answered; the last line
type Line struct {
	Event   string `json:"event"`
	State   State  `json:"state,omitempty"`
	Text    string `json:"text,omitempty"`
	Lang    string `json:"lang,omitempty"`
	Engine  string `json:"engine,omitempty"`
	Command bool   `json:"command,omitempty"`
	Input   string `json:"input,omitempty"`
	// WAV is a whole file, 16-bit mono at 22050 Hz.
	WAV     []byte `json:"wav,omitempty"`
	Stopped bool   `json:"stopped,omitempty"`
	Take    int    `json:"take,omitempty"`
	Trace   *Trace `json:"trace,omitempty"`
}

// setSound puts recorded sound into the line.
func (l *Line) setSound(samples []int16) {
	if len(samples) == 0 {
		return
	}
	// It fails only for 4 GiB of sound, which a tape never holds.
	l.WAV, _ = wav.Encode(tapeFormat, samples)
}

// ndjson is the content type of lines.
const ndjson = "application/x-ndjson"

// writeLine sends one line.
func writeLine(out plugin.Reply, l Line) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	return err
}

// writeJSON sends a whole answer.
func writeJSON(out plugin.Reply, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	return err
}
