//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
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
	"homeagent/agent/pcm/resample"
	"homeagent/agent/pcm/wav"
	"homeagent/drivers/voice"
	"homeagent/drivers/web/client"
	"homeagent/tools/emulator"
	"homeagent/tools/spoken"
)

// soundFormat is what the emulated sound card speaks.
var soundFormat = pcm.Format{Rate: emulator.SoundRate, Channels: emulator.SoundChannels}

func newSound(t testing.TB) *emulator.Sound {
	t.Helper()
	s, err := emulator.NewSound()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// converted changes the format of samples.
func converted(t testing.TB, samples []int16, from, to pcm.Format) []int16 {
	t.Helper()
	c, err := resample.New(from, to)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	out, err := c.Convert(nil, samples)
	if err == nil {
		out, err = c.Flush(out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// speech is a person, where the recordings are there, else flite.
func speech(t testing.TB) (tk spoken.Takes, command []int16) {
	t.Helper()
	dir := filepath.Join(root, "..", "shared", "audio")
	lamp := filepath.Join(dir, "household", "turn_on_the_living_room_lamp.wav")
	if _, err := os.Stat(filepath.Join(dir, "wakeword", "manifest.tsv")); err == nil {
		if _, err := os.Stat(lamp); err == nil {
			t.Log("recordings of people from ../shared/audio")
			return spoken.People(t), spoken.Trim(spoken.Read(t, lamp))
		}
	}
	t.Log("the recordings of people in ../shared/audio are absent: flite speaks instead")
	return spoken.Robot(t), spoken.Trim(spoken.Flite(t, "rms", "turn on the living room lamp", "1.0"))
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
func (b *box) spokenCommand(m *model, sound *emulator.Sound) {
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
	b.enrol(tk)
	t.Logf("the guest learnt %q in %.1f s", tk.Word, time.Since(began).Seconds())

	spent, err := sound.Heard()
	if err != nil {
		t.Fatal(err)
	}
	in := spoken.Join(spoken.Silence(time.Second), tk.Spoken, spoken.Silence(250*time.Millisecond), command, spoken.Silence(500*time.Millisecond))
	sound.Play(converted(t, in, pcm.Voice, soundFormat))

	b.eventually(turnWait, "the recogniser is asked", func() bool { heard, _ := service.all(); return len(heard) > 0 })
	heard, _ := service.all()
	t.Logf("understood: %q", heard)
	if !lampWords.MatchString(heard[0]) {
		t.Errorf("the recogniser made %q of the command", heard[0])
	}
	b.eventually(turnWait, "the language model gets the words", func() bool {
		return slices.ContainsFunc(m.asked(), func(s string) bool { return strings.Contains(s, strings.TrimRight(heard[0], ". ")) })
	})
	b.eventually(turnWait, "the answer is spoken", func() bool { _, said := service.all(); return len(said) > 0 })
	_, said := service.all()
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
	grown, length := time.Now(), 0
	defer func() {
		if t.Failed() {
			t.Logf("the speaker gave %d samples, the loudest 0.1 s has an RMS of %.0f; in the guest:\n%s", len(answer), loudest(answer),
				b.run("cat /proc/asound/card0/pcm0p/sub0/status /run/homeagent/asound.conf; amixer -c 0 scontents; homectl status; homectl logs | tail -n 25"))
		}
	}()
	b.eventually(turnWait, "the speaker has spoken the answer and is silent", func() bool {
		all, err := sound.Heard()
		if err != nil || len(all) <= len(spent) {
			return false
		}
		if len(all) != length {
			grown, length = time.Now(), len(all)
		}
		answer = converted(t, all[len(spent):], soundFormat, pcm.Voice)
		return spokenOut(answer, time.Since(grown) > 5*time.Second)
	})
	if out := os.Getenv("E2E_ANSWER"); out != "" {
		if b, err := wav.Encode(pcm.Voice, answer); err == nil {
			os.WriteFile(out, b, 0o644)
		}
	}
	answer = spoken.Trim(answer)
	text := said[len(said)-1]
	spoken.Plausible(t, text, answer)
	got := judge.Freely(t, answer)
	share := spoken.Share(text, got)
	t.Logf("the speaker said %q, understood as %q: %.0f %%", text, got, 100*share)
	if share < spoken.Enough {
		t.Errorf("only %.0f %% of %q is understood: %q", 100*share, text, got)
	}
	if other := spoken.Share("what time is it in the kitchen", got); other >= spoken.Enough {
		t.Errorf("the measure passes anything: %.0f %%", 100*other)
	}
}

// spokenOut reports whether there is most of a second of speech and the speaker
// has ended: by half a second of silence, or because nothing comes any more, for
// a card whose stream was closed writes no silence.
func spokenOut(s []int16, ended bool) bool {
	half := pcm.Voice.Samples(time.Second) / 2
	if len(s) < half {
		return false
	}
	loud := 0
	for i := 0; i+160 <= len(s); i += 160 {
		if spoken.RMS(s[i:i+160]) > 300 {
			loud++
		}
	}
	return loud >= 60 && (ended || spoken.RMS(s[len(s)-half:]) < 100)
}

// loudest is the RMS of the loudest tenth of a second.
func loudest(s []int16) (level float64) {
	for i := 0; i+1600 <= len(s); i += 1600 {
		level = max(level, spoken.RMS(s[i:i+1600]))
	}
	return level
}
