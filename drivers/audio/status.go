package audio

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"

	"homeagent/agent/pcm"
	"homeagent/agent/plugin"
)

// Status is what the endpoint `audio` answers and `homectl status` shows.
type Status struct {
	Microphone Device `json:"microphone"`
	Speaker    Device `json:"speaker"`
	// Volume is in percent; Muted silences it.
	Volume int  `json:"volume"`
	Muted  bool `json:"muted"`
	// Overruns is the number of captured samples dropped since the start
	// because nobody read them in time.
	Overruns int64 `json:"overruns"`
	// Devices are all that can be chosen in config.yaml.
	Devices []pcm.Info `json:"devices"`
}

// Device is the state of the chosen microphone or speaker.
type Device struct {
	// Name is the full name, Label the device's own name.
	Name  string `json:"name"`
	Label string `json:"label,omitempty"`
	// Present tells whether it is there now; Note says in the reader's language
	// what to do if it is not.
	Present bool   `json:"present"`
	Note    string `json:"note,omitempty"`
}

// Status collects the state of sound for a reader of the language. It starts
// PortAudio if nobody has, but opens no device.
func (p *Plugin) Status(ctx context.Context, lang string) Status {
	st := Status{Volume: p.gain.Percent(), Muted: p.gain.Muted(), Overruns: p.cards.overruns(), Devices: []pcm.Info{}}
	devices, err := p.cards.Devices(ctx)
	st.Devices = append(st.Devices, devices...)
	st.Microphone = describe(p.cards.DefaultCapture(), true, devices, err)
	st.Speaker = describe(p.cards.DefaultPlayback(), false, devices, err)
	for _, d := range []*Device{&st.Microphone, &st.Speaker} {
		d.Note = note(*d, d == &st.Microphone, lang)
	}
	return st
}

// describe looks one chosen device up.
func describe(name string, capture bool, devices []pcm.Info, err error) Device {
	opener, id, _ := strings.Cut(name, ":")
	if opener == wavName {
		_, serr := os.Stat(id)
		return Device{Name: name, Label: id, Present: serr == nil || !capture}
	}
	for _, d := range devices {
		fits := capture && d.Capture || !capture && d.Playback
		if fits && (d.Name == name || id == "default") {
			return Device{Name: name, Label: d.Label, Present: true}
		}
	}
	d := Device{Name: name}
	if err != nil {
		d.Label = err.Error()
	}
	return d
}

// note says what to do about a device that is not there.
func note(d Device, capture bool, lang string) string {
	switch {
	case d.Present:
		return ""
	case strings.HasPrefix(d.Name, wavName+":") && lang == "zh":
		return "找不到这个 WAV 文件。请检查 config.yaml 里 audio 的路径。"
	case strings.HasPrefix(d.Name, wavName+":"):
		return "The WAV file is not there. Check its path in section audio of config.yaml."
	case capture && lang == "zh":
		return "没有找到麦克风。请插上麦克风，或在 config.yaml 的 audio.microphone 里选择另一个设备。"
	case capture:
		return "There is no microphone. Plug one in, or choose another device in audio.microphone of config.yaml."
	case lang == "zh":
		return "没有找到扬声器。请插上扬声器，或在 config.yaml 的 audio.speaker 里选择另一个设备。"
	}
	return "There is no speaker. Plug one in, or choose another device in audio.speaker of config.yaml."
}

// serve answers GET /api/v1/audio.
func (p *Plugin) serve(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	if req.Path != "" || req.Method != http.MethodGet {
		title := "There is nothing here. Ask for GET /api/v1/audio."
		if req.Lang == "zh" {
			title = "这里没有内容。请用 GET /api/v1/audio。"
		}
		return &plugin.Fault{Status: http.StatusNotFound, Title: title}
	}
	return json.NewEncoder(out).Encode(p.Status(ctx, req.Lang))
}
