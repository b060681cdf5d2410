package wholepath

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"homeagent/tools/fakespeech"
	"homeagent/tools/spoken"
)

// TestChineseSpokenSynthetic speaks Chinese with espeak-ng, for there are no
// recordings of people: the wake word by flite and the sentence in one
// recording, through the transcription client to a service that checks the
// sound it was sent. The answer is Chinese, in text and in sound.
func TestChineseSpokenSynthetic(t *testing.T) {
	t.Parallel()
	spoken.Need(t, "espeak-ng", "flite")
	spoken.NeedEngines(t)
	spoken.NeedWake(t)
	const key = "sk-a-key-for-the-speech-service"
	fake := fakespeech.New(fakespeech.Config{Key: key})
	srv := httptest.NewServer(fake)
	t.Cleanup(srv.Close)
	dir := folder(t, quiet[:len(quiet)-2]+fmt.Sprintf(", transcription: {base_url: %q, model: whisper-1, key: speech}}\n", srv.URL+"/v1"))
	if err := os.Mkdir(filepath.Join(dir, "secrets"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "secrets", "speech"), []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := start(t, dir)
	h.ready()
	tk := spoken.Robot(t)
	h.teach(tk)
	w := h.watch()
	for _, row := range []struct {
		name, spoken, understood, first string
		calls                           []string
		lamps                           map[string]bool
		says                            *regexp.Regexp
	}{
		{"打开客厅灯", "打开客厅灯", "打开客厅灯。", "关掉客厅灯", []string{set("living_room_lamp", "on")}, map[string]bool{"living_room_lamp": true}, regexp.MustCompile(`^客厅灯.*开.*。$`)},
		{"现在几点了", "现在几点了", "现在几点了？", "", nil, nil, regexp.MustCompile(`^现在是?.*点.*。$`)},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := h.in(t)
			if row.first != "" {
				h.say(row.first)
			}
			sentence := spoken.Trim(spoken.Espeak(t, "cmn", row.spoken))
			fake.Understand(row.understood)
			asked := len(fake.Heard())
			out := filepath.Join(t.TempDir(), "answer.wav")
			got := h.hear(spoken.Save(t, spoken.Join(spoken.Silence(500*time.Millisecond), tk.Spoken, spoken.Silence(250*time.Millisecond), sentence, spoken.Silence(300*time.Millisecond))), "--out", out)
			answers := got.all("answer")
			if len(answers) != 1 || got.code != 0 {
				t.Fatalf("%d answers: %s; the service complains %q", len(answers), got, fake.Complaints())
			}
			if heard := got.all("heard"); len(heard) != 1 || heard[0].Text != row.understood || heard[0].Lang != "zh" {
				t.Errorf("heard %+v", heard)
			}
			a := answers[0]
			if !row.says.MatchString(a.Text) || a.Lang != "zh" {
				t.Errorf("answer %q (%s), want %v", a.Text, a.Lang, row.says)
			}
			w.fence()
			same(t, "tool calls", w.calls(a.Input), row.calls)
			lamps := h.lamps()
			for name, on := range row.lamps {
				if lamps[name] != on {
					t.Errorf("%s on is %v, want %v", name, lamps[name], on)
				}
			}
			spoken.Plausible(t, a.Text, spoken.Read(t, out))

			// The service was sent this sentence, whole and nothing else.
			heard := fake.Heard()[asked:]
			if len(heard) != 1 {
				t.Fatalf("the service was asked %d times", len(heard))
			}
			if h := heard[0]; h.Language != "" && h.Language != "zh" {
				t.Errorf("it was told that this is %q", h.Language)
			}
			if !contains(heard[0].Samples, sentence[1600:len(sentence)-1600]) {
				t.Error("the sentence is not in the sound that the service was sent")
			}
			if long := len(sentence) + 2*16000; len(heard[0].Samples) > long {
				t.Errorf("the service was sent %v of sound", heard[0].Duration)
			}
		})
	}
	if c := fake.Complaints(); len(c) > 0 {
		t.Errorf("the service complains: %q", c)
	}
}

// contains reports whether one sound lies in another, sample by sample but for
// rounding.
func contains(all, part []int16) bool {
	for at := 0; at+len(part) <= len(all); at++ {
		same := true
		for i, v := range part {
			if d := int(all[at+i]) - int(v); d < -2 || d > 2 {
				same = false
				break
			}
		}
		if same {
			return true
		}
	}
	return false
}
