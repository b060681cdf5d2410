//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/wav"
	"homeagent/drivers/voice"
	"homeagent/drivers/web/client"
	"homeagent/tools/spoken"
)

// lampCommand is what the recording of the command says. Of the recordings there
// are it is the one that the recogniser understands wherever an endpointer cuts it.
const lampCommand = "turn on the living room light"

// speech is recordings, where they are there, else flite.
func speech(t testing.TB) (tk spoken.Takes, command []int16) {
	t.Helper()
	dir := filepath.Join(root, "..", "shared", "audio")
	light := filepath.Join(dir, "household", "living_room_light_en.wav")
	if _, err := os.Stat(filepath.Join(dir, "wakeword", "manifest.tsv")); err == nil {
		if _, err := os.Stat(light); err == nil {
			t.Log("recordings from ../shared/audio: a person says the wake word; who says the command its collection does not tell")
			return spoken.People(t), spoken.Trim(spoken.Read(t, light))
		}
	}
	t.Log("the recordings in ../shared/audio are absent: flite speaks instead")
	return spoken.Robot(t), spoken.Trim(spoken.Flite(t, "awb", lampCommand, "1.0"))
}

// enrol teaches a wake word through the page.
func (b *box) enrol(tk spoken.Takes) {
	b.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for i, take := range tk.Enrol {
		sound, err := wav.Encode(pcm.Voice, take)
		if err != nil {
			b.t.Fatal(err)
		}
		part, err := w.CreateFormFile("take", "take"+string(rune('1'+i))+".wav")
		if err != nil {
			b.t.Fatal(err)
		}
		part.Write(sound)
	}
	w.Close()
	ctx, cancel := context.WithTimeout(b.t.Context(), learnWait)
	defer cancel()
	r, err := b.api.Open(ctx, http.MethodPost, "wake/"+url.PathEscape(tk.Word), client.Upload{ContentType: w.FormDataContentType(), Body: &form})
	if err != nil {
		b.t.Fatalf("enrol %q: %v", tk.Word, err)
	}
	defer r.Close()
	var lines bytes.Buffer
	lines.ReadFrom(r)
	for line := range strings.Lines(lines.String()) {
		var l voice.Line
		if json.Unmarshal([]byte(line), &l) == nil && l.Event == "learnt" {
			return
		}
	}
	b.t.Fatalf("%q was not learnt: %s", tk.Word, lines.String())
}

// spokenCommand speaks into the box's microphone and listens to its speaker.
func (b *box) spokenCommand(m *model) {
	t := b.t
	spoken.NeedWake(t)
	judge := newJudge(t)
	tk, command := speech(t)
	service := newSpeechService(t, judge)
	b.configure(map[string]any{"voice": map[string]any{
		"language":      "zh", // with the network's engine only; an emulated processor is too slow for the local one
		"transcription": map[string]string{"base_url": service.url, "model": "whisper-1"},
		"speech":        map[string]string{"base_url": service.url, "model": "flite", "voice": "slt"},
	}})
	t.Log("in the guest: sound card driver, wake word, endpoint, mind, memory; on this computer: recognition (Moonshine) and voice (flite)")
	began := time.Now()
	b.plugLoopback()
	b.enrol(tk)
	t.Logf("the guest has learnt %q: %.1f s after the beginning", tk.Word, time.Since(began).Seconds())
	sound := b.listen()
	defer sound.leave()
	b.eventually(spokenWait, "the speaker's cable is listened to", func() bool { return len(sound.heard()) > 0 })
	step := func(what string) {
		t.Logf("%s: %.1f s after the beginning, %.1f s of the guest's own of listening", what, time.Since(began).Seconds(),
			pcm.Voice.Duration(len(sound.heard())).Seconds())
	}
	sound.play(spoken.Join(spoken.Silence(time.Second), tk.Spoken, spoken.Silence(250*time.Millisecond), command, spoken.Silence(time.Second)))
	step("the guest has heard the recording")

	b.eventually(spokenWait, "the recogniser is asked", func() bool { heard, _ := service.all(); return len(heard) > 0 })
	heard, _ := service.all()
	before := len(sound.heard()) // what came so far is the tone of being awake
	step(fmt.Sprintf("understood %q", heard))
	if share := spoken.Share(lampCommand, heard[0]); share < spoken.Enough || !lampWords.MatchString(heard[0]) {
		t.Errorf("the recogniser made %q of the command, %.0f %% of it", heard[0], 100*share)
	}
	b.eventually(spokenWait, "the language model gets the words", func() bool {
		return slices.ContainsFunc(m.asked(), func(s string) bool { return strings.Contains(s, strings.TrimRight(heard[0], ". ")) })
	})
	b.eventually(spokenWait, "the answer is spoken", func() bool { _, said := service.all(); return len(said) > 0 })
	_, said := service.all()
	step(fmt.Sprintf("to be spoken %q", said))
	if said[0] != lampAnswer {
		t.Fatalf("the box wants to say %q instead of %q", said[0], lampAnswer)
	}
	var virtual struct {
		Devices []struct {
			Name string
			On   bool
		}
	}
	b.get("virtual", &virtual)
	if !slices.ContainsFunc(virtual.Devices, func(d struct {
		Name string
		On   bool
	}) bool {
		return d.Name == "living_room_lamp" && d.On
	}) {
		t.Errorf("the lamp is not on: %+v", virtual.Devices)
	}
	var answer []int16
	defer func() {
		if out := os.Getenv("E2E_ANSWER"); out != "" {
			if b, err := wav.Encode(pcm.Voice, answer); err == nil {
				os.WriteFile(out, b, 0o644)
			}
		}
		if t.Failed() {
			step("failed")
			heard, said := service.all()
			t.Logf("understood %q, spoken %q, history %v", heard, said, b.history())
			t.Logf("the speaker gave %d samples, the loudest 0.1 s has an RMS of %.0f; in the guest:\n%s", len(answer), loudest(answer),
				b.run("cat /proc/asound/Loopback/pcm0?/sub0/status /run/homeagent/asound.conf; amixer -c 0 scontents; homectl status; homectl logs | tail -n 25"))
		}
	}()
	b.eventually(spokenWait, "the speaker has spoken the answer and is silent", func() bool {
		answer = sound.heard()[before:]
		return spokenOut(answer)
	})
	step("the answer is spoken")
	spoken.Plausible(t, lampAnswer, spoken.Trim(answer))
	got := judge.Freely(t, spoken.Trim(answer))
	share := spoken.Share(lampAnswer, got)
	t.Logf("the speaker said %q, understood as %q: %.0f %%", lampAnswer, got, 100*share)
	if share < spoken.Enough {
		t.Errorf("only %.0f %% of %q is understood: %q", 100*share, lampAnswer, got)
	}
	if other := spoken.Share("what time is it in the kitchen", got); other >= spoken.Enough {
		t.Errorf("the measure passes anything: %.0f %%", 100*other)
	}
}

// spokenOut reports whether there is most of a second of speech and half a
// second of silence behind it.
func spokenOut(s []int16) bool {
	half := pcm.Voice.Samples(time.Second) / 2
	if len(s) < half {
		return false
	}
	return loud(s) >= 60 && spoken.RMS(s[len(s)-half:]) < 100
}

// loud is how many hundredths of a second are no silence.
func loud(s []int16) (n int) {
	for i := 0; i+160 <= len(s); i += 160 {
		if spoken.RMS(s[i:i+160]) > 300 {
			n++
		}
	}
	return n
}

// loudest is the RMS of the loudest tenth of a second.
func loudest(s []int16) (level float64) {
	for i := 0; i+1600 <= len(s); i += 1600 {
		level = max(level, spoken.RMS(s[i:i+1600]))
	}
	return level
}
