package engine

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"homeagent/drivers/voice/internal/clips"
	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/sphinx"
)

const lampGrammar = `#JSGF V1.0;
grammar home;
public <command> = turn (on | off) the (living room | kitchen) (lamp | light) | what time is it;
`

// real makes a client of the real engines process, or skips.
func real(t testing.TB) *Client {
	t.Helper()
	dir := clips.Models(t, "onnxruntime/libonnxruntime.so*", "moonshine/*.onnx", "silero/silero_vad_v6.onnx")
	if _, err := os.Stat(sphinx.DefaultModel); err != nil {
		t.Skipf("skipped: %s is absent; tools/setup brings it", sphinx.DefaultModel)
	}
	opt := command(t, "real")
	opt.Env = append(opt.Env, modelsEnv+"="+dir)
	return client(t, opt)
}

// clip finds one recording.
func clip(t testing.TB, name string) clips.Clip {
	t.Helper()
	kind, _, _ := strings.Cut(name, "/")
	for _, c := range clips.Kind(t, kind) {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no recording %s", name)
	return clips.Clip{}
}

// The whole path of one utterance, twice, with the process lost in the first.
func TestRealUtterance(t *testing.T) {
	c := real(t)
	lamp := clip(t, "household/turn_on_the_living_room_lamp.wav")
	for _, lost := range []bool{true, false} {
		e, err := c.OpenEndpointer(t.Context(), speech.EndpointConfig{})
		if err != nil {
			t.Fatal(err)
		}
		sound := append(append([]int16{}, lamp.Audio...), make([]int16, 16000)...)
		var found speech.Speech
		for at := 0; at < len(sound) && !found.Ended; at += speech.Frame {
			if lost && at == 10*speech.Frame {
				kill(t, c)
			}
			if found, err = e.Accept(t.Context(), sound[at:min(at+speech.Frame, len(sound))]); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if !found.Ended || found.Start >= found.End {
			t.Errorf("lost %v: found %+v", lost, found)
		}
	}
	got, err := c.English().Recognize(t.Context(), lamp.Audio, speech.Hint{Lang: "en", Grammar: lampGrammar})
	if want := (speech.Transcript{Text: lamp.Transcript, Lang: "en", Engine: "pocketsphinx", Command: true}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestRealAtOnce(t *testing.T) {
	c := real(t)
	if err := c.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		clip, grammar, want string
		command             bool
	}{
		{"household/turn_on_the_living_room_lamp.wav", lampGrammar, "turn on the living room lamp", true},
		{"household/what_time_is_it.wav", lampGrammar, "what time is it", true},
		{"household/what_time_is_it.wav", "", "What time is it?", false},
		{"other/ps_001.wav", lampGrammar, "Ten of clubs.", false},
	}
	var wg sync.WaitGroup
	for _, row := range rows {
		sound := clip(t, row.clip).Audio
		wg.Go(func() {
			got, err := c.English().Recognize(t.Context(), sound, speech.Hint{Grammar: row.grammar})
			if err != nil || got.Text != row.want || got.Command != row.command {
				t.Errorf("%s: %+v, %v; want %q", row.clip, got, err, row.want)
			}
		})
	}
	wg.Wait()
}

func TestRealWithoutModels(t *testing.T) {
	opt := command(t, "real")
	opt.Env = append(opt.Env, modelsEnv+"="+t.TempDir())
	c := client(t, opt)
	_, endErr := c.OpenEndpointer(t.Context(), speech.EndpointConfig{})
	_, recErr := c.English().Recognize(t.Context(), make([]int16, 16000), speech.Hint{})
	for name, err := range map[string]error{"warm": c.Warm(t.Context()), "endpointer": endErr, "recognize": recErr} {
		if !errors.Is(err, speech.ErrMissing) || !strings.Contains(err.Error(), "tools/setup") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c.PID() == 0 {
		t.Error("the process ended over it")
	}
}
