package voice

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/agent/pcm/wav"
	"homeagent/agent/plugin"
	"homeagent/drivers/voice/espeak"
	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/speech/speechtest"
	"homeagent/tools/fakespeech"
)

// A Chinese sentence in espeak-ng's synthetic voice goes through the microphone
// path in real time, over the network to a service that checks the sound it
// gets, to the agent, and the answer comes back as Chinese speech.
func TestChineseOverTheNetwork(t *testing.T) {
	const key = "sk-household"
	speaker := espeak.New(espeak.Config{})
	src, err := speaker.Synthesize(t.Context(), "打开客厅的灯", "zh")
	if errors.Is(err, speech.ErrMissing) {
		t.Skip("espeak-ng is not installed: no Chinese sentence was heard")
	}
	if err != nil {
		t.Fatal(err)
	}
	f := src.Format()
	sentence, err := speechtest.ReadAll(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	pause := make([]int16, f.Samples(700*time.Millisecond))
	file, err := wav.Encode(f, slices.Concat(pause, sentence, pause))
	if err != nil {
		t.Fatal(err)
	}

	fake := fakespeech.New(fakespeech.Config{Key: key})
	fake.Understand("打开客厅的灯。")
	srv := httptest.NewServer(fake)
	defer srv.Close()
	api := newFakeAPI(t)
	api.secrets["speech_key"] = key
	api.onInput = func(in plugin.Input) {
		text := "没听懂。"
		if in.Payload == "打开客厅的灯。" && in.Lang == "zh" {
			text = "好的，客厅灯已经打开了。"
		}
		if err := api.sender.Send(t.Context(), plugin.Message{Channel: in.Channel, Text: text, ReplyTo: in.ID, Final: true}); err != nil {
			t.Error(err)
		}
	}
	p := New(Options{
		Config:       Config{Microphone: off, Transcription: &Service{BaseURL: srv.URL + "/v1", Model: "whisper-1", Key: "speech_key", Languages: []string{"zh"}}},
		Synthesizers: []speech.Synthesizer{speaker},
		TempDir:      t.TempDir(),
	})
	if err := p.Start(t.Context(), api); err != nil {
		t.Fatal(err)
	}
	defer p.Stop(t.Context())
	out := &reply{}
	if err := api.endpoints["hear"](t.Context(), &plugin.Request{Method: http.MethodPost, Query: url.Values{}, Body: bytes.NewReader(file), Lang: "zh"}, out); err != nil {
		t.Fatal(err)
	}
	lines := out.lines(t)
	if c := fake.Complaints(); len(c) > 0 {
		t.Fatalf("the service complains: %q", c)
	}
	heard := fake.Heard()
	if len(heard) != 1 {
		t.Fatalf("%d utterances reached the service: %+v", len(heard), lines)
	}
	h := heard[0]
	if h.Language != "zh" || !strings.Contains(h.Prompt, "客厅灯") || !strings.Contains(h.Prompt, "living room lamp") {
		t.Errorf("language %q, prompt %q", h.Language, h.Prompt)
	}
	spoken := f.Duration(len(sentence))
	if h.Duration < spoken-300*time.Millisecond || h.Duration > spoken+time.Second {
		t.Errorf("%s of sound for a sentence of %s", h.Duration, spoken)
	}
	if want := speechtest.RMS(sentence); h.RMS < want/3 || h.RMS > want*1.5 {
		t.Errorf("loudness %.0f instead of about %.0f", h.RMS, want)
	}
	same(t, of(lines, "answer"), "好的，客厅灯已经打开了。")
	for _, l := range lines {
		if l.Event != "answer" {
			continue
		}
		rd, err := wav.NewReader(bytes.NewReader(l.WAV))
		if err != nil {
			t.Fatal(err)
		}
		sound := make([]int16, rd.Info().Frames)
		if _, err := rd.ReadMono(sound); err != nil {
			t.Fatal(err)
		}
		if d := rd.Format().Duration(len(sound)); d < time.Second || d > 6*time.Second || speechtest.RMS(sound) < 500 {
			t.Errorf("the answer lasts %s with loudness %.0f", d, speechtest.RMS(sound))
		}
	}
	if text := out.buf.String(); strings.Contains(text, key) {
		t.Error("the key is in the answer")
	}
}
