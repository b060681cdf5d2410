package voice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/pace"
	"homeagent/agent/pcm/resample"
	"homeagent/agent/pcm/wav"
	"homeagent/agent/plugin"
	"homeagent/drivers/voice/speech/speechtest"
)

// reply collects what an endpoint answers.
type reply struct {
	mu    sync.Mutex
	code  int
	kind  string
	buf   bytes.Buffer
	fails bool // the client has left
}

func (r *reply) Status(code int, kind string) { r.code, r.kind = code, kind }

func (r *reply) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails {
		return 0, io.ErrClosedPipe
	}
	return r.buf.Write(b)
}

// lines decodes what has been answered.
func (r *reply) lines(t *testing.T) (out []Line) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for text := range bytes.Lines(r.buf.Bytes()) {
		var l Line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatalf("line %q: %v", text, err)
		}
		out = append(out, l)
	}
	return out
}

// wavOpener plays files in real time, as drivers/audio does.
func wavOpener(path string) (pcm.Source, error) {
	f, err := wav.Open(path)
	if err != nil {
		return nil, &pcm.DeviceError{Device: "wav:" + path, Op: "open", Err: err}
	}
	src, err := resample.NewSource(f, pcm.Voice)
	if err != nil {
		return nil, err
	}
	return pace.NewSource(src, 0), nil
}

// hear calls the endpoint and waits for its end.
func (r *rig) hear(body io.Reader, query string) ([]Line, error) {
	r.t.Helper()
	return r.hearOn(body, query)
}

// hearOn is hear with the wav: device that is there.
func (r *rig) hearOn(body io.Reader, query string) ([]Line, error) {
	r.t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		r.t.Fatal(err)
	}
	out := &reply{}
	err = r.api.endpoints["hear"](r.t.Context(), &plugin.Request{Method: http.MethodPost, Query: q, Body: body, ContentType: "audio/wav", Lang: "en"}, out)
	return out.lines(r.t), err
}

// recording is a WAV file at pcm.Voice.
func recording(t *testing.T, parts ...[]int16) *bytes.Reader {
	t.Helper()
	b, err := wav.Encode(pcm.Voice, speechtest.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b)
}

// of lists the texts of the lines of one kind.
func of(lines []Line, event string) (out []string) {
	for _, l := range lines {
		if l.Event == event {
			out = append(out, l.Text)
		}
	}
	return out
}

func TestHear(t *testing.T) {
	for _, c := range []struct {
		name  string
		words bool // a wake word is enrolled
		query string
		sound [][]int16
		heard int
	}{
		{"wake word and command", true, "", [][]int16{quiet(time.Second), wakeWord(), command(), quiet(time.Second)}, 1},
		{"a command at the very end", true, "", [][]int16{wakeWord(), command()}, 1},
		{"a wake word at the very end", true, "", [][]int16{quiet(time.Second), wakeWord()}, 0},
		{"no wake word said", true, "", [][]int16{command(), quiet(time.Second)}, 0},
		{"no wake word enrolled", false, "", [][]int16{quiet(time.Second), command()}, 1},
		{"skipped", true, "wake=skip", [][]int16{command()}, 1},
		{"two commands in one recording", true, "wake=required", [][]int16{wakeWord(), command(), quiet(4 * time.Second), wakeWord(), command()}, 2},
		{"two commands without a wake word", true, "wake=skip", [][]int16{command(), quiet(2 * time.Second), command(), quiet(3 * time.Second)}, 2},
		{"three in a row, faster than answers", true, "wake=skip", [][]int16{command(), quiet(700 * time.Millisecond), command(), quiet(700 * time.Millisecond), command()}, 3},
		{"silence", false, "", [][]int16{quiet(3 * time.Second)}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inRig(t, func(r *rig, o *Options) {
				o.Config.Microphone = off
				if !c.words {
					clear(r.api.store)
				}
			}, func(r *rig) {
				began := time.Now()
				body := recording(t, c.sound...)
				length := pcm.Voice.Duration((body.Len() - 44) / 2)
				lines, err := r.hear(body, c.query)
				if err != nil {
					t.Fatal(err)
				}
				if d := time.Since(began); d < length || d > length+10*time.Second {
					t.Errorf("%s of sound took %s", length, d)
				}
				if got := of(lines, "heard"); len(got) != c.heard {
					t.Errorf("heard %q: %+v", got, lines)
				}
				if got := of(lines, "answer"); len(got) != c.heard {
					t.Errorf("answers %q", got)
				}
				if last := lines[len(lines)-1]; last.Event != "end" {
					t.Errorf("the last line is %+v", last)
				}
				for _, l := range lines {
					if l.Event != "answer" {
						continue
					}
					rd, err := wav.NewReader(bytes.NewReader(l.WAV))
					if err != nil || l.Text != "ok" || rd.Format() != tapeFormat || l.Stopped {
						t.Fatalf("answer %+v, %v", l.Text, err)
					}
					if d := rd.Format().Duration(int(rd.Info().Frames)); d < 150*time.Millisecond || d > 300*time.Millisecond {
						t.Errorf("the answer lasts %s", d)
					}
				}
				if left, _ := filepath.Glob(filepath.Join(r.p.opt.TempDir, "*")); len(left) > 0 {
					t.Errorf("left behind: %q", left)
				}
			})
		})
	}
}

// Ten minutes with three commands are heard to the end.
func TestHearTenMinutes(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { o.Config.Microphone = off }, func(r *rig) {
		part := [][]int16{quiet(3 * time.Minute), wakeWord(), command(), quiet(10 * time.Second)}
		began := time.Now()
		lines, err := r.hear(recording(t, slices.Concat(part, part, part, [][]int16{quiet(time.Minute)})...), "")
		if err != nil || len(of(lines, "answer")) != 3 {
			t.Errorf("%d answers, %v", len(of(lines, "answer")), err)
		}
		if d := time.Since(began); d < 10*time.Minute || d > 11*time.Minute {
			t.Errorf("it took %s", d)
		}
		if len(of(lines, "alive")) < 30 {
			t.Error("no sign of life for minutes")
		}
	})
}

// "stop" inside the recording ends the answer that is being spoken.
func TestHearStop(t *testing.T) {
	inRig(t, func(r *rig, o *Options) {
		o.Config.Microphone = off
		r.english.next = says("!tell me", "!stop")
		r.answer(strings.Repeat("a long story. ", 20), 0)
	}, func(r *rig) {
		lines, err := r.hear(recording(t, wakeWord(), command(), quiet(5*time.Second), wakeWord(), command(), quiet(time.Second)), "")
		if err != nil {
			t.Fatal(err)
		}
		var stopped, whole int
		for _, l := range lines {
			if l.Event == "answer" && l.Stopped {
				stopped++
				if d := tapeFormat.Duration((len(l.WAV) - 44) / 2); d < 2*time.Second || d > 7*time.Second {
					t.Errorf("%s of the answer were heard", d)
				}
			} else if l.Event == "answer" {
				whole++
			}
		}
		if stopped != 1 || whole != 1 {
			t.Errorf("%d answers were stopped, %d were not", stopped, whole)
		}
	})
}

// header makes a WAV header by hand, for what the writer refuses to write.
func header(tag, channels uint16, rate uint32, bits uint16, data uint32) []byte {
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00")
	le := func(v uint32, n int) {
		for range n {
			b = append(b, byte(v))
			v >>= 8
		}
	}
	align := channels * bits / 8
	le(uint32(tag), 2)
	le(uint32(channels), 2)
	le(rate, 4)
	le(rate*uint32(align), 4)
	le(uint32(align), 2)
	le(uint32(bits), 2)
	b = append(b, "data"...)
	le(data, 4)
	return b
}

// endless gives silence for ever.
type endless struct{}

func (endless) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestHearRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		body   io.Reader
		status int
		words  string
	}{
		{"empty", strings.NewReader(""), 400, "empty"},
		{"text", strings.NewReader("this is no sound at all, sorry"), 400, "not a WAV"},
		{"only a header", bytes.NewReader(header(1, 1, 16000, 16, 0)), 400, "no sound"},
		{"cut header", bytes.NewReader(header(1, 1, 16000, 16, 100)[:30]), 400, "WAV"},
		{"MP3 in WAV", bytes.NewReader(append(header(0x55, 1, 16000, 16, 100), make([]byte, 100)...)), 400, "MP3"},
		{"no rate", bytes.NewReader(append(header(1, 1, 0, 16, 100), make([]byte, 100)...)), 400, "not supported"},
		{"40 channels", bytes.NewReader(append(header(1, 40, 16000, 16, 800), make([]byte, 800)...)), 400, "not supported"},
		{"too long", io.MultiReader(bytes.NewReader(header(1, 1, 16000, 16, 29<<20)), io.LimitReader(endless{}, 29<<20)), 413, "15 minutes"},
		{"too long, streamed", io.MultiReader(bytes.NewReader(header(1, 1, 16000, 16, math.MaxUint32)), io.LimitReader(endless{}, 29<<20)), 413, "15 minutes"},
		{"too large", io.MultiReader(bytes.NewReader(header(1, 2, 48000, 16, math.MaxUint32)), endless{}), 413, "64 MB"},
		{"broken off", io.MultiReader(bytes.NewReader(header(1, 1, 16000, 16, 100000)), failing{}), 400, "did not arrive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inRig(t, func(r *rig, o *Options) { o.Config.Microphone = off }, func(r *rig) {
				lines, err := r.hear(c.body, "")
				var f *plugin.Fault
				if !errors.As(err, &f) || f.Status != c.status || !strings.Contains(f.Title, c.words) || len(lines) != 0 {
					t.Errorf("error %v, %d lines", err, len(lines))
				}
				if left, _ := filepath.Glob(filepath.Join(r.p.opt.TempDir, "*")); len(left) > 0 {
					t.Errorf("left behind: %q", left)
				}
				if r.p.atOnce != 0 {
					t.Error("it still counts as being heard")
				}
			})
		})
	}
}

// failing is a connection that breaks.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

// Formats that people have are heard like any other.
func TestHearFormats(t *testing.T) {
	sound := speechtest.Join(wakeWord(), command(), quiet(time.Second))
	encode := func(rate, channels, bits int, float bool) []byte {
		conv, err := resample.New(pcm.Voice, pcm.Format{Rate: rate, Channels: channels})
		if err != nil {
			t.Fatal(err)
		}
		defer conv.Close()
		s, err := conv.Convert(nil, sound)
		if err != nil {
			t.Fatal(err)
		}
		tag := uint16(1)
		if float {
			tag = 3
		}
		b := header(tag, uint16(channels), uint32(rate), uint16(bits), uint32(len(s)*bits/8))
		for _, v := range s {
			switch {
			case float:
				u := math.Float32bits(float32(v) / 32768)
				b = append(b, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
			case bits == 8:
				b = append(b, byte(int(v)>>8+128))
			case bits == 24:
				b = append(b, 0, byte(v), byte(v>>8))
			default:
				b = append(b, byte(v), byte(v>>8))
			}
		}
		return b
	}
	for _, c := range []struct {
		name string
		file []byte
		note string
	}{
		{"8 kHz", encode(8000, 1, 16, false), ""},
		{"44.1 kHz stereo", encode(44100, 2, 16, false), ""},
		{"48 kHz, 24 bit", encode(48000, 1, 24, false), ""},
		{"float", encode(16000, 1, 32, true), ""},
		{"8 bit", encode(16000, 1, 8, false), ""},
		{"truncated", encode(48000, 2, 16, false)[:300000], "ends early"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inRig(t, func(r *rig, o *Options) { o.Config.Microphone = off }, func(r *rig) {
				// The fake wake word does not survive resampling.
				lines, err := r.hear(bytes.NewReader(c.file), "wake=skip")
				if err != nil || len(of(lines, "heard")) != 1 || len(of(lines, "answer")) != 1 {
					t.Errorf("%v: %+v", err, lines)
				}
				if notes := strings.Join(of(lines, "notice"), " "); !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
					t.Errorf("notices %q", notes)
				}
			})
		})
	}
}

// The wav: device plays silence behind a file. A recording is over when it has
// been heard and answered, not when the device says so.
func TestHearEndsWithTheRecording(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { o.Config.Microphone = off }, func(r *rig) {
		var tail *pace.Source
		r.api.dev.wav = func(path string) (pcm.Source, error) {
			src, err := wavOpener(path)
			if err == nil {
				tail = pace.NewSource(src, time.Hour)
			}
			return tail, err
		}
		done := make(chan []Line, 1)
		sound := recording(t, quiet(time.Second), command())
		go func() {
			lines, err := r.hearOn(sound, "wake=skip")
			if err != nil {
				t.Error(err)
			}
			done <- lines
		}()
		r.pass(30 * time.Second)
		select {
		case lines := <-done:
			same(t, of(lines, "answer"), "ok")
			same(t, of(lines, "end"), "")
		default:
			t.Error("the device's silence is waited for")
			tail.Close()
			<-done
		}
	})
}

func TestHearLimits(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { o.Config.Microphone = off }, func(r *rig) {
		var wg sync.WaitGroup
		for range hearAtOnce {
			wg.Go(func() {
				if _, err := r.hear(recording(t, quiet(30*time.Second)), ""); err != nil {
					t.Error(err)
				}
			})
		}
		r.pass(5 * time.Second)
		var f *plugin.Fault
		if _, err := r.hear(recording(t, quiet(time.Second)), ""); !errors.As(err, &f) || f.Status != 503 {
			t.Errorf("a third recording: %v", err)
		}
		for _, q := range []string{"wake=maybe", "lang=fr"} {
			if _, err := r.hear(recording(t, quiet(time.Second)), q); !errors.As(err, &f) || f.Status != 400 && f.Status != 503 {
				t.Errorf("%s: %v", q, err)
			}
		}
		wg.Wait()
		if _, err := r.hear(recording(t, quiet(time.Second)), ""); err != nil {
			t.Errorf("afterwards: %v", err)
		}
		r.wake.missing = errors.New("weights are gone")
		if _, err := r.hear(recording(t, quiet(time.Second)), "wake=required"); !errors.As(err, &f) || f.Status != 409 {
			t.Errorf("without a detector: %v", err)
		}
	})
}

// A client that leaves takes its recording with it.
func TestHearClientLeaves(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { o.Config.Microphone = off }, func(r *rig) {
		ctx, cancel := context.WithCancel(r.t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() {
			done <- r.api.endpoints["hear"](ctx, &plugin.Request{Method: "POST", Body: recording(t, quiet(5*time.Minute)), Lang: "zh"}, &reply{})
		}()
		r.pass(3 * time.Second)
		began := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if d := time.Since(began); d > time.Second {
			t.Errorf("it went on for %s", d)
		}
		synctest.Wait()
		if len(r.p.sessions) != 1 {
			t.Errorf("%d sessions run", len(r.p.sessions))
		}
	})
}

// An agent that never answers does not keep the client for ever.
func TestHearWithoutAnswer(t *testing.T) {
	inRig(t, func(r *rig, o *Options) {
		o.Config.Microphone, o.Config.Answer = off, 10*time.Second
		r.answer("never", time.Hour)
	}, func(r *rig) {
		lines, err := r.hear(recording(t, wakeWord(), command()), "")
		if err != nil || !slices.Contains(of(lines, "notice"), sayLate.in("en")) || lines[len(lines)-1].Event != "end" {
			t.Errorf("%v: %+v", err, lines)
		}
	})
}

// The disk is full: an error in words, and nothing stays behind.
func TestHearNoRoom(t *testing.T) {
	inRig(t, func(r *rig, o *Options) { o.TempDir = filepath.Join(o.TempDir, "gone") }, func(r *rig) {
		var f *plugin.Fault
		if _, err := r.hear(recording(t, quiet(time.Second)), ""); !errors.As(err, &f) || f.Status != 507 {
			t.Errorf("error %v", err)
		}
		if _, err := os.Stat(r.p.opt.TempDir); err == nil {
			t.Error("the folder was made")
		}
	})
}
