package sphinx

import (
	"errors"
	"os"
	"strings"
	"testing"

	"homeagent/drivers/voice/speech"
)

const lampGrammar = `#JSGF V1.0;
grammar home;
public <cmd> = [please] ( turn (on | off) [the] <room> (lamp | light) | what time is it | go <way> <n> meters );
<room> = living room | kitchen | bedroom;
<way> = forward | back;
<n> = five | ten | twenty;
`

// need ends the test by a skip where the Debian packages are absent.
func need(t *testing.T, files ...string) {
	t.Helper()
	for _, f := range files {
		if _, err := os.Stat(f); err != nil {
			t.Skipf("skipped: %s is absent; tools/setup brings PocketSphinx and its model", f)
		}
	}
}

func dict(t *testing.T) *Dict {
	t.Helper()
	need(t, DefaultDict, DefaultModel)
	d, err := OpenDict("", nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// decoder makes one that the test closes.
func decoder(t *testing.T, grammar string) *Decoder {
	t.Helper()
	d, err := New(Config{}, dict(t), grammar)
	if errors.Is(err, speech.ErrMissing) {
		t.Skip("skipped:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestDecode(t *testing.T) {
	const goForward = "/usr/share/pocketsphinx/test/data/goforward.raw"
	need(t, goForward)
	raw, err := os.ReadFile(goForward)
	if err != nil {
		t.Fatal(err)
	}
	audio := make([]int16, len(raw)/2)
	for i := range audio {
		audio[i] = int16(uint16(raw[2*i]) | uint16(raw[2*i+1])<<8)
	}
	d := decoder(t, lampGrammar)
	for _, round := range []string{"first", "again"} {
		got, err := d.Decode(audio)
		if err != nil || got != "go forward ten meters" {
			t.Errorf("%s: %q, %v", round, got, err)
		}
	}
	if got, err := d.Decode(nil); got != "" || err != nil {
		t.Errorf("no audio: %q, %v", got, err)
	}
	if got, err := d.Decode(make([]int16, 100)); got != "" || err != nil {
		t.Errorf("6 ms of nothing: %q, %v", got, err)
	}
	if _, err := d.Decode(make([]int16, MaxSamples+1)); err == nil {
		t.Error("too long an utterance gave no error")
	}
	if got, err := d.Decode(audio); err != nil || got != "go forward ten meters" {
		t.Errorf("after odd utterances: %q, %v", got, err)
	}
	d.Close()
	d.Close()
	if _, err := d.Decode(audio); err == nil {
		t.Error("a closed decoder gave no error")
	}
}

func TestTwoDecodersAtOnce(t *testing.T) {
	a, b := decoder(t, lampGrammar), decoder(t, "#JSGF V1.0; grammar g; public <x> = yes | no;")
	if _, err := a.Decode(make([]int16, 16000)); err != nil {
		t.Error(err)
	}
	a.Close()
	if _, err := b.Decode(make([]int16, 16000)); err != nil {
		t.Error(err)
	}
}

func TestNewRefuses(t *testing.T) {
	d := dict(t)
	rows := []struct {
		name, grammar, err string
		cfg                Config
		words              string
		missing            bool
	}{
		{name: "empty", grammar: "", err: "#JSGF"},
		{name: "a word without pronunciation", grammar: "#JSGF V1.0; grammar g; public <x> = turn on the (zzyzzx | qwrtz | qwrtz);", words: "qwrtz zzyzzx"},
		{name: "a rule that is not defined", grammar: "#JSGF V1.0; grammar g; public <x> = turn on <thing>;", err: "grammar: "},
		{name: "no public rule", grammar: "#JSGF V1.0; grammar g; <x> = turn on;", err: "grammar: "},
		{name: "bracket left open", grammar: "#JSGF V1.0; grammar g; public <x> = (turn on;", err: "grammar: "},
		{name: "a zero byte", grammar: "#JSGF V1.0; grammar g; public <x> = turn [\x00];", err: "zero byte"},
		{name: "no model", grammar: "#JSGF V1.0; grammar g; public <x> = turn;", cfg: Config{Model: "/none"}, missing: true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dec, err := New(row.cfg, d, row.grammar)
			if err == nil {
				dec.Close()
				t.Fatal("no error")
			}
			var mw *MissingWordsError
			if errors.As(err, &mw) != (row.words != "") || row.words != "" && strings.Join(mw.Words, " ") != row.words {
				t.Errorf("error %v, want one naming %q", err, row.words)
			}
			if !strings.Contains(err.Error(), row.err) {
				t.Errorf("error %q, want one with %q", err, row.err)
			}
			if errors.Is(err, speech.ErrMissing) != row.missing {
				t.Errorf("error %v: ErrMissing is %v", err, !row.missing)
			}
		})
	}
}

func TestDict(t *testing.T) {
	path := t.TempDir() + "/d.dict"
	text := "lamp L AE M P\nread R IY D\nread(2) R EH D\nbroken\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDict(path, map[string][]string{"doudou": {"D OW D OW"}, "lamp": {"L AA M P"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Lookup([]string{"lamp", "read", "doudou", "broken", "none"})
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{"lamp": "L AA M P", "read": "R IY D|R EH D", "doudou": "D OW D OW", "broken": "", "none": ""} {
		if g := strings.Join(got[word], "|"); g != want {
			t.Errorf("%s: %q, want %q", word, g, want)
		}
	}
	no, err := d.Missing([]string{"zz", "lamp", "aa", "zz"})
	if err != nil || strings.Join(no, " ") != "aa zz" {
		t.Errorf("missing %q, %v", no, err)
	}
	if _, err := OpenDict(path+".none", nil); !errors.Is(err, speech.ErrMissing) {
		t.Errorf("absent dictionary: %v", err)
	}
}

func TestDecodeWithOwnPronunciation(t *testing.T) {
	need(t, DefaultDict, DefaultModel)
	rows := []struct {
		name   string
		phones string
		ok     bool
	}{{"good", "D OW D OW", true}, {"a phone that is not in the model", "D OW XX", false}}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			d, err := OpenDict("", map[string][]string{"doudou": {row.phones}})
			if err != nil {
				t.Fatal(err)
			}
			dec, err := New(Config{}, d, "#JSGF V1.0; grammar g; public <x> = call doudou;")
			if errors.Is(err, speech.ErrMissing) {
				t.Skip("skipped:", err)
			}
			if (err == nil) != row.ok {
				t.Errorf("error %v", err)
			}
			if err == nil {
				dec.Close()
			}
		})
	}
}
