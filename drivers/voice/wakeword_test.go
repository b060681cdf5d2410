package voice

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"homeagent/agent/plugin"
	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/speech/speechtest"
)

// call asks an endpoint.
func (r *rig) call(endpoint, method, path, kind string, body io.Reader) (*reply, error) {
	if body == nil {
		body = strings.NewReader("")
	}
	out := &reply{}
	return out, r.api.endpoints[endpoint](r.t.Context(), &plugin.Request{Method: method, Path: path, ContentType: kind, Body: body, Lang: "en"}, out)
}

// form is a body with files.
func form(t *testing.T, files ...[]byte) (kind string, body io.Reader) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i, f := range files {
		part, err := w.CreateFormFile("take", string(rune('1'+i))+".wav")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), &b
}

func TestWakeWords(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { clear(r.api.store) }, func(r *rig) {
		r.pass(time.Second)
		if !strings.Contains(r.log(), "还没有登记唤醒词") {
			t.Error("nobody is told that there is no wake word")
		}
		take, err := io.ReadAll(recording(t, quiet(300*time.Millisecond), command()))
		if err != nil {
			t.Fatal(err)
		}
		kind, body := form(t, take, take, take)
		out, err := r.call("wake", "POST", "Hey%20Jarvis", kind, body)
		if err != nil {
			t.Fatal(err)
		}
		same(t, of(out.lines(t), "learnt"), "hey jarvis")
		if out, err = r.call("wake", "GET", "", "", nil); err != nil || out.buf.String() != "{\"words\":[\"hey jarvis\"]}\n" {
			t.Errorf("list %q, %v", out.buf.String(), err)
		}
		// It works at once.
		r.say("turn on the lamp")
		r.until("the input", func() bool { return len(r.inputs()) == 1 })
		r.reach("idle", Idle)
		if _, err := r.call("wake", "DELETE", "hey jarvis", "", nil); err != nil {
			t.Fatal(err)
		}
		r.say("turn on the lamp")
		r.pass(5 * time.Second)
		same(t, r.inputs(), "turn on the lamp")
		var f *plugin.Fault
		if _, err := r.call("wake", "DELETE", "hey jarvis", "", nil); !errors.As(err, &f) || f.Status != 404 {
			t.Errorf("deleted twice: %v", err)
		}
	})
}

// Without files the microphone records; what was nothing is asked for again.
func TestRecordWakeWord(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { clear(r.api.store) }, func(r *rig) {
		r.reach("idle", Idle)
		r.pass(time.Second)
		r.mic.hear(quiet(500*time.Millisecond), command(), quiet(8*time.Second), command(), quiet(2*time.Second), command())
		out, err := r.call("wake", "POST", "computer", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		lines := out.lines(t)
		if got := of(lines, "record"); len(got) != 4 || got[0] != `Say "computer", time 1.` {
			t.Errorf("asked %q", got)
		}
		same(t, of(lines, "notice"), sayNoTake.in("en"), "fine")
		same(t, of(lines, "learnt"), "computer")
		same(t, r.inputs()) // none of it was a command
		if r.api.store[wordKey+"computer"][0] != takesAsked {
			t.Errorf("learnt from %d takes", r.api.store[wordKey+"computer"][0])
		}
		r.say("turn on the lamp")
		r.until("the input", func() bool { return len(r.inputs()) == 1 })
	})
}

func TestWakeWordRefused(t *testing.T) {
	good, err := io.ReadAll(recording(t, command()))
	if err != nil {
		t.Fatal(err)
	}
	silent, err := io.ReadAll(recording(t, quiet(time.Second)))
	if err != nil {
		t.Fatal(err)
	}
	long := append(header(1, 1, 8000, 8, 8000*40), make([]byte, 8000*40)...)
	many := make([][]byte, takesMost+1)
	for i := range many {
		many[i] = good
	}
	for _, c := range []struct {
		name, path string
		files      [][]byte
		change     func(r *rig)
		status     int
		words      string
	}{
		{"no name", "", [][]byte{good}, nil, 400, "name"},
		{"name with a slash", "a%2Fb", [][]byte{good}, nil, 400, "name"},
		{"long name", strings.Repeat("x", 33), [][]byte{good}, nil, 400, "name"},
		{"bad escape", "%zz", [][]byte{good}, nil, 400, "name"},
		{"not WAV", "x", [][]byte{good, []byte("hello hello hello hello")}, nil, 400, "Take 2: This is not a WAV"},
		{"empty file", "x", [][]byte{good, nil}, nil, 400, "Take 2: The file is empty"},
		{"too long", "x", [][]byte{long}, nil, 400, "Take 1: it is too long"},
		{"too many", "x", many, nil, 400, "1 to 20"},
		{"silent", "x", [][]byte{silent}, nil, 422, "a take is silent"},
		{"nothing to learn with", "x", [][]byte{good}, func(r *rig) { r.wake.missing = speech.ErrMissing }, 503, "tools/setup"},
		{"too many words", "x", [][]byte{good}, func(r *rig) {
			for i := range wordsKept {
				r.api.store[wordKey+string(rune('a'+i))] = []byte{1}
			}
		}, 409, "Delete one"},
		{"no microphone", "x", nil, func(r *rig) { r.mic.set(func(m *fakeMic) { m.lost = errors.New("gone") }); r.reach("deaf", Deaf) }, 0, "Plug one in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inRig(t, func(r *rig, o *Options) { clear(r.api.store) }, func(r *rig) {
				if c.change != nil {
					c.change(r)
				}
				before := len(r.api.store)
				kind, body := "", io.Reader(nil)
				if c.files != nil {
					kind, body = form(t, c.files...)
				}
				out, err := r.call("wake", "POST", c.path, kind, body)
				var f *plugin.Fault
				switch {
				case c.status == 0: // told in lines, for they have begun
					if got := of(out.lines(t), "error"); err != nil || len(got) != 1 || !strings.Contains(got[0], c.words) {
						t.Errorf("%v, %q", err, got)
					}
				case !errors.As(err, &f) || f.Status != c.status || !strings.Contains(f.Title, c.words):
					t.Errorf("error %v", err)
				}
				if len(r.api.store) != before {
					t.Error("something was stored")
				}
			})
		})
	}
}

func TestLocalWakeWithoutModels(t *testing.T) {
	w := LocalWake(filepath.Join(t.TempDir(), "none"))
	if _, err := w.Open([]Word{{Name: "x"}}); !errors.Is(err, speech.ErrMissing) || !strings.Contains(err.Error(), "tools/setup") {
		t.Errorf("Open: %v", err)
	}
	if _, _, err := w.Learn(t.Context(), "x", [][]int16{speechtest.Buzz(time.Second)}); !errors.Is(err, speech.ErrMissing) {
		t.Errorf("Learn: %v", err)
	}
}

func TestStatus(t *testing.T) {
	remote := func(langs ...string) *fakeRecognizer { return &fakeRecognizer{name: "remote", langs: langs} }
	for _, c := range []struct {
		name   string
		change func(r *rig, o *Options)
		want   []string // in the answer
	}{
		{"english only", nil, []string{`"understands":["en"]`, "voice.transcription", `"wake_words":["computer"]`, `"state":"idle"`}},
		{"both", func(r *rig, o *Options) { o.Transcription = remote() }, []string{`"understands":["en","zh"]`, `"notes":[]`}},
		{"nothing", func(r *rig, o *Options) { o.English, o.Wake, o.Synthesizers = nil, nil, nil }, []string{`"understands":[]`, "tools/setup", "no wake word", "espeak-ng"}},
		{"chinese", func(r *rig, o *Options) { o.Config.Language, o.Transcription = "zh", remote("zh") }, []string{`"understands":["zh"]`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inRig(t, c.change, func(r *rig) {
				r.reach("idle", Idle)
				r.pass(time.Second)
				out, err := r.call("voice", "GET", "", "", nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range c.want {
					if !strings.Contains(out.buf.String(), w) {
						t.Errorf("%s is not in %s", w, out.buf.String())
					}
				}
			})
		})
	}
}

func TestButtons(t *testing.T) {
	inRig(t, nil, func(r *rig) {
		r.reach("idle", Idle)
		r.pass(time.Second)
		for _, c := range []struct {
			endpoint, method, path string
			status                 int
			state                  State
		}{
			{"voice", "POST", "mute", 0, Muted},
			{"listen", "POST", "", 503, Muted},
			{"voice", "POST", "unmute", 0, Idle},
			{"listen", "GET", "", 405, Idle},
			{"listen", "POST", "", 0, Listening},
			{"voice", "POST", "speaker/mute", 0, Idle},
			{"voice", "POST", "speaker/unmute", 0, Idle},
			{"voice", "PUT", "", 405, Idle},
			{"hear", "GET", "", 405, Idle},
			{"wake", "PUT", "x", 405, Idle},
		} {
			_, err := r.call(c.endpoint, c.method, c.path, "", nil)
			var f *plugin.Fault
			if errors.As(err, &f) != (c.status != 0) || c.status != 0 && f.Status != c.status {
				t.Errorf("%s %s/%s: %v", c.method, c.endpoint, c.path, err)
			}
			r.reach(string(c.state), c.state)
		}
	})
}
