package wholepath

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"homeagent/tools/spoken"
)

// fliteService is an OpenAI-compatible speech service that speaks with flite:
// the second voice, which a recognizer understands better than espeak-ng.
func fliteService(t testing.TB) (config string) {
	t.Helper()
	spoken.Need(t, "flite")
	dir := t.TempDir()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Input string `json:"input"`
			Voice string `json:"voice"`
		}
		if r.URL.Path != "/v1/audio/speech" || json.NewDecoder(r.Body).Decode(&q) != nil {
			http.Error(w, "a speech request is expected", http.StatusBadRequest)
			return
		}
		f, err := os.CreateTemp(dir, "answer-*.wav")
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		f.Close()
		if out, err := exec.CommandContext(r.Context(), "flite", "-voice", q.Voice, "-t", q.Input, "-o", f.Name()).CombinedOutput(); err != nil {
			http.Error(w, fmt.Sprintf("%v: %s", err, out), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "audio/wav")
		http.ServeFile(w, r, f.Name())
	}))
	t.Cleanup(srv.Close)
	return fmt.Sprintf("voice:\n  microphone: \"off\"\n  speaker: \"off\"\n  speech: {base_url: %q, model: flite, voice: slt}\n", srv.URL+"/v1")
}

// spokenRow is a command in sound and what must come of it.
type spokenRow struct {
	name  string
	sound func(t testing.TB) []int16 // without the wake word
	first string                     // said by text before, to set the scene
	calls []string                   // tool calls, in order
	lamps map[string]bool            // virtual devices afterwards
	says  *regexp.Regexp             // the answer; nil: nothing is answered
	check func(t testing.TB, answer string)
}

var lampOn = regexp.MustCompile(`^The living room lamp is on\.$`)

// clock checks that an answer tells the time of now.
func clock(t testing.TB, text string) {
	t.Helper()
	m := regexp.MustCompile(`(\d{1,2}):(\d\d) (AM|PM)`).FindStringSubmatch(text)
	if m == nil {
		t.Errorf("no time in %q", text)
		return
	}
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2])
	said := (hour%12+map[string]int{"AM": 0, "PM": 12}[m[3]])*60 + minute
	now := time.Now()
	// The answer was given within the last minutes, yesterday's included.
	if ago := (now.Hour()*60 + now.Minute() - said + 24*60) % (24 * 60); ago > 4 {
		t.Errorf("%q was %d minutes ago", text, ago)
	}
}

func set(name, state string) string {
	return fmt.Sprintf(`virtual_set {"name":%q,"state":%q} done`, name, state)
}

// TestSpoken speaks to the house: the wake word and a command in one recording,
// and gets an answer in sound that a recognizer understands.
func TestSpoken(t *testing.T) {
	t.Parallel()
	household := func(name string, cut time.Duration) func(testing.TB) []int16 {
		return func(t testing.TB) []int16 {
			s := spoken.Read(t, filepath.Join(spoken.Recordings(t, "household"), name))
			return spoken.Trim(s[int(cut.Seconds()*16000):])
		}
	}
	robotSays := func(voice, text string) func(testing.TB) []int16 {
		return func(t testing.TB) []int16 { return spoken.Trim(spoken.Flite(t, voice, text, "1.0")) }
	}
	cards := func(name string) func(testing.TB) []int16 {
		return func(t testing.TB) []int16 { return spoken.Trim(spoken.Read(t, spoken.Debian(t, name))) }
	}
	lamp := []string{set("living_room_lamp", "on")}
	off := "turn off the living room lamp"
	for _, g := range []struct {
		name   string
		takes  func(testing.TB) spoken.Takes
		config func(testing.TB) string
		rows   []spokenRow
	}{
		{"a person calls", spoken.People, func(testing.TB) string { return quiet }, []spokenRow{
			{name: "turn on the living room lamp", sound: household("turn_on_the_living_room_lamp.wav", 0), first: off,
				calls: lamp, lamps: map[string]bool{"living_room_lamp": true}, says: lampOn},
			{name: "turn on the living room light", sound: household("living_room_light_en.wav", 0), first: off,
				calls: lamp, lamps: map[string]bool{"living_room_lamp": true}, says: lampOn},
			{name: "what time is it", sound: household("what_time_is_it.wav", 0), says: regexp.MustCompile(`^It is `), check: clock},
			// The recording begins with another name, "hey jane", which ends before a second.
			{name: "turn the lights off", sound: household("hey_jane_lights_off.wav", time.Second), first: "turn on the bedroom lamp",
				calls: []string{set("living_room_lamp", "off"), set("kitchen_lamp", "off"), set("bedroom_lamp", "off")},
				lamps: map[string]bool{"living_room_lamp": false, "bedroom_lamp": false}, says: regexp.MustCompile(`lamps? .*are off\.$`)},
			{name: "go forward ten meters is no command", sound: household("go_forward_ten_meters.wav", 0)},
		}},
		{"flite calls and answers", spoken.Robot, fliteService, []spokenRow{
			{name: "turn on the living room lamp", sound: robotSays("rms", "turn on the living room lamp"), first: off,
				calls: lamp, lamps: map[string]bool{"living_room_lamp": true}, says: lampOn},
			{name: "what time is it", sound: robotSays("slt", "what time is it"), says: regexp.MustCompile(`^It is `), check: clock},
			{name: "turn off the kitchen lamp", sound: robotSays("awb", "turn off the kitchen lamp"), first: "turn on the kitchen lamp",
				calls: []string{set("kitchen_lamp", "off")}, lamps: map[string]bool{"kitchen_lamp": false}, says: regexp.MustCompile(`^The kitchen lamp is off\.$`)},
			{name: "Debian's go forward ten meters is no command", sound: cards("goforward.raw")},
			{name: "Debian's reading is no command", sound: cards("librivox/sense_and_sensibility_01_austen_64kb-0880.wav")},
		}},
	} {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			spoken.NeedEngines(t)
			spoken.NeedWake(t)
			tk := g.takes(t)
			h := open(t, g.config(t))
			h.teach(tk)
			w := h.watch()
			var answers []spokenAnswer
			for _, row := range g.rows {
				t.Run(row.name, func(t *testing.T) {
					if a := h.spoken(t, w, tk, row); a.text != "" {
						answers = append(answers, a)
					}
				})
			}
			t.Run("the same commands without the wake word", func(t *testing.T) {
				without := spoken.Silence(time.Second)
				for _, row := range g.rows {
					if row.says != nil {
						without = spoken.Join(without, row.sound(t), spoken.Silence(time.Second))
					}
				}
				h.nothing(t, w, spoken.Save(t, without), nil)
			})
			t.Run("the wrong sound fails the measure", func(t *testing.T) {
				wrongSound(t, answers)
			})
		})
	}
}

// spokenAnswer is what was said and what was understood of it.
type spokenAnswer struct {
	text, heard string
	sound       []int16
}

// spoken plays one row and looks at everything that came of it.
func (h *house) spoken(t *testing.T, w *watcher, tk spoken.Takes, row spokenRow) spokenAnswer {
	h = h.in(t)
	sound := row.sound(t)
	if row.first != "" {
		h.say(row.first)
	}
	before := len(w.inputs("voice"))
	file := spoken.Save(t, spoken.Join(spoken.Silence(500*time.Millisecond), tk.Spoken, spoken.Silence(250*time.Millisecond), sound, spoken.Silence(300*time.Millisecond)))
	out := filepath.Join(t.TempDir(), "answer.wav")
	args := []string{"--out", out}
	if row.says == nil {
		h.nothing(t, w, file, []string{"ignored", "nothing", "notice"})
		return spokenAnswer{}
	}
	got := h.hear(file, args...)
	answers := got.all("answer")
	if len(answers) != 1 || got.code != 0 {
		t.Fatalf("%d answers: %s", len(answers), got)
	}
	text := answers[0].Text
	if !row.says.MatchString(text) {
		t.Errorf("answer %q, want %v", text, row.says)
	}
	if row.check != nil {
		row.check(t, text)
	}
	w.fence()
	same(t, "tool calls", w.calls(answers[0].Input), row.calls)
	if n := len(w.inputs("voice")) - before; n != 1 {
		t.Errorf("the agent was given %d inputs: %q", n, w.inputs("voice")[before:])
	}
	lamps := h.lamps()
	for name, on := range row.lamps {
		if lamps[name] != on {
			t.Errorf("%s on is %v, want %v", name, lamps[name], on)
		}
	}
	a := spokenAnswer{text: text, sound: spoken.Read(t, out)}
	spoken.Plausible(t, text, a.sound)
	a.heard = freely(t, a.sound)
	understood := spoken.Share(text, a.heard)
	t.Logf("%q was understood as %q: %.0f %%", text, a.heard, 100*understood)
	if understood < spoken.EnoughOf(text) {
		// espeak-ng is the house's own voice where no other is configured, and a
		// recognizer trained on people understands it badly. Where it does, the
		// sentence itself is judged by the second voice.
		// So is a time of day in flite's voice: some minutes no recognizer gets.
		flite, second := h.configured("model: flite"), "slt"
		if flite {
			second = "rms"
		}
		if flite && spoken.EnoughOf(text) == spoken.Enough {
			t.Errorf("only %.0f %% of %q is understood: %q", 100*understood, text, a.heard)
			return a
		}
		a.sound = spoken.Flite(t, second, text, "1.0")
		a.heard = freely(t, a.sound)
		understood = spoken.Share(text, a.heard)
		t.Logf("by the second voice %q was understood as %q: %.0f %%", text, a.heard, 100*understood)
		if understood < spoken.EnoughOf(text) {
			t.Errorf("only %.0f %% of %q is understood: %q", 100*understood, text, a.heard)
		}
	}
	return a
}

// configured reports whether config.yaml has a text in it.
func (h *house) configured(text string) bool {
	b, err := os.ReadFile(filepath.Join(h.dir, "config.yaml"))
	return err == nil && regexp.MustCompile(regexp.QuoteMeta(text)).Match(b)
}

// nothing plays a recording after which the house must be as it was: no tool
// ran, no device changed, nothing was said. allowed are the lines that may come.
func (h *house) nothing(t *testing.T, w *watcher, file string, allowed []string, args ...string) hearing {
	t.Helper()
	h = h.in(t)
	w.fence()
	lamps, calls, inputs := h.lamps(), len(w.calls("")), len(w.inputs("voice"))
	got := h.talk(t, file, allowed, args...)
	w.fence()
	if after := w.calls(""); len(after) != calls {
		t.Errorf("tools ran: %q", after[calls:])
	}
	if after := w.inputs("voice"); len(after) != inputs {
		t.Errorf("the agent was given %q", after[inputs:])
	}
	if after := h.lamps(); fmt.Sprint(after) != fmt.Sprint(lamps) {
		t.Errorf("devices changed from %v to %v", lamps, after)
	}
	return got
}

// wrongSound holds each answer's text against the sound of another answer: the
// measure that passed above must fail here, or it would pass anything.
func wrongSound(t *testing.T, answers []spokenAnswer) {
	tried := 0
	for _, a := range answers {
		for _, b := range answers {
			// Answers that share most of their words are no test.
			if spoken.Share(a.text, b.text) >= spoken.Enough/2 {
				continue
			}
			tried++
			if got := spoken.Share(a.text, b.heard); got >= spoken.Enough {
				t.Errorf("the sound of %q (%q) passes for %q: %.0f %%", b.text, b.heard, a.text, 100*got)
			}
		}
	}
	if tried == 0 {
		t.Fatalf("no two different answers to compare among %d", len(answers))
	}
}

// TestTalk lets the house hear people who talk of something else: cards, a
// novel, orders in a café. Nothing may come of it, neither while it waits for
// its name nor when it was asked to listen.
func TestTalk(t *testing.T) {
	t.Parallel()
	spoken.NeedEngines(t)
	spoken.NeedWake(t)
	var tk spoken.Takes
	if _, err := os.Stat(filepath.Join(root, "..", "shared", "audio", "wakeword")); err == nil {
		tk = spoken.People(t)
	} else {
		tk = spoken.Robot(t)
	}
	var clips []string
	for _, kind := range []string{"other", "barista"} {
		found, _ := filepath.Glob(filepath.Join(root, "..", "shared", "audio", kind, "*.wav"))
		if len(found) == 0 {
			t.Logf("the recordings in ../shared/audio/%s are absent: not tried", kind)
		}
		clips = append(clips, found...)
	}
	if len(clips) == 0 {
		for _, name := range []string{"cards/001.wav", "cards/003.wav", "cards/005.wav", "librivox/sense_and_sensibility_01_austen_64kb-0870.wav", "librivox/sense_and_sensibility_01_austen_64kb-0920.wav"} {
			clips = append(clips, spoken.Debian(t, name))
		}
	}
	t.Run("while it waits for its name", func(t *testing.T) {
		t.Parallel()
		h := open(t, quiet)
		h.teach(tk)
		all := spoken.Silence(time.Second)
		for _, c := range clips {
			all = spoken.Join(all, spoken.Trim(spoken.Read(t, c)), spoken.Silence(700*time.Millisecond))
		}
		h.untouched(t, func(t *testing.T) { h.talk(t, spoken.Save(t, all), nil) })
	})
	t.Run("asked to listen", func(t *testing.T) {
		t.Parallel()
		h := open(t, quiet)
		two := make(chan struct{}, 2) // the endpoint takes two recordings at once
		h.untouched(t, func(t *testing.T) {
			for _, c := range clips {
				t.Run(filepath.Base(c), func(t *testing.T) {
					t.Parallel()
					two <- struct{}{}
					defer func() { <-two }()
					sound := spoken.Save(t, spoken.Join(spoken.Silence(300*time.Millisecond), spoken.Trim(spoken.Read(t, c)), spoken.Silence(300*time.Millisecond)))
					got := h.talk(t, sound, []string{"ignored", "nothing", "notice"}, "--no-wake")
					if len(got.all("ignored"))+len(got.all("nothing")) == 0 {
						t.Errorf("it was not even heard: %s", got)
					}
				})
			}
		})
	})
}

// untouched runs f, subtests included, and then looks at what the house did:
// nothing.
func (h *house) untouched(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	h.say("turn on the kitchen lamp") // something that could be changed
	w := h.watch()
	lamps := h.lamps()
	t.Run("clips", f)
	w.fence()
	same(t, "tool calls", w.calls(""), nil)
	same(t, "inputs", w.inputs("voice"), nil)
	if after := h.lamps(); fmt.Sprint(after) != fmt.Sprint(lamps) {
		t.Errorf("devices changed from %v to %v", lamps, after)
	}
}

// talk plays a recording of which only the allowed lines may come.
func (h *house) talk(t *testing.T, file string, allowed []string, args ...string) hearing {
	t.Helper()
	got := h.in(t).hear(file, args...)
	if got.code != 0 {
		t.Errorf("homectl hear: %s", got)
	}
	for _, l := range got.lines {
		if l.Event != "state" && l.Event != "end" && l.Event != "alive" && !slices.Contains(allowed, l.Event) {
			t.Errorf("line %s %q (%s)", l.Event, l.Text, l.Engine)
		}
	}
	return got
}
