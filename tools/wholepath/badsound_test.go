package wholepath

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/wav"
	"homeagent/tools/spoken"
)

// lampCommand is "turn on the living room lamp", by a person where there is the
// recording, else by flite.
func lampCommand(t testing.TB) []int16 {
	t.Helper()
	path := filepath.Join(root, "..", "shared", "audio", "household", "turn_on_the_living_room_lamp.wav")
	if _, err := os.Stat(path); err != nil {
		return spoken.Trim(spoken.Flite(t, "rms", "turn on the living room lamp", "1.0"))
	}
	return spoken.Trim(spoken.Read(t, path))
}

// TestSoundFormats plays one command in every form that recorders write.
func TestSoundFormats(t *testing.T) {
	t.Parallel()
	spoken.Need(t, "sox", "flite", "espeak-ng")
	spoken.NeedEngines(t)
	h := open(t, quiet)
	w := h.watch()
	before := h.pids()
	plain := spoken.Save(t, spoken.Join(spoken.Silence(500*time.Millisecond), lampCommand(t), spoken.Silence(500*time.Millisecond)))
	two := make(chan struct{}, 2) // the endpoint takes two recordings at once
	t.Run("formats", func(t *testing.T) {
		for _, row := range []struct{ name, args string }{
			{"8 kHz", "-r 8000"},
			{"44.1 kHz", "-r 44100"},
			{"48 kHz", "-r 48000"},
			{"stereo", "-c 2"},
			{"24 bit", "-b 24"},
			{"float", "-e floating-point -b 32"},
			{"8 bit", "-e unsigned-integer -b 8"},
			{"48 kHz stereo 24 bit", "-r 48000 -c 2 -b 24"},
			{"44.1 kHz six channels float of 64 bit", "-r 44100 -c 6 -e floating-point -b 64"},
		} {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				two <- struct{}{}
				defer func() { <-two }()
				file := filepath.Join(t.TempDir(), "converted.wav")
				args := append([]string{"-D", plain}, strings.Fields(row.args)...)
				if out, err := exec.CommandContext(t.Context(), "sox", append(args, file)...).CombinedOutput(); err != nil {
					t.Fatalf("sox: %v\n%s", err, out)
				}
				h := h.in(t)
				got := h.hear(file, "--no-wake")
				heard, answers := got.all("heard"), got.all("answer")
				if got.code != 0 || len(heard) != 1 || len(answers) != 1 || len(got.all("notice")) > 0 {
					t.Fatalf("%s", got)
				}
				if heard[0].Text != "turn on the living room lamp" {
					t.Errorf("understood as %q", heard[0].Text)
				}
				w.fence()
				same(t, "tool calls", w.calls(answers[0].Input), []string{set("living_room_lamp", "on")})
			})
		}
	})
	h.unhurt(before)
}

// unhurt checks that nothing crashed and that the next text is answered.
func (h *house) unhurt(before map[string]int) {
	h.t.Helper()
	if got := h.say("what time is it"); !strings.HasPrefix(got, "It is ") {
		h.t.Errorf("afterwards the house answers %q", got)
	}
	after := h.pids()
	for _, name := range []string{"homed", "door", "agent"} {
		if after[name] != before[name] || after[name] == 0 {
			h.t.Errorf("%s was process %d and is %d", name, before[name], after[name])
		}
	}
	if pid := before["engines"]; pid != 0 && after["engines"] != pid {
		h.t.Errorf("the engines were process %d and are %d", pid, after["engines"])
	}
}

// TestBrokenSound plays what is no recording, or not a whole one.
func TestBrokenSound(t *testing.T) {
	t.Parallel()
	spoken.Need(t, "flite", "espeak-ng")
	spoken.NeedEngines(t)
	h := open(t, quiet)
	w := h.watch()
	before := h.pids()
	whole, err := os.ReadFile(spoken.Save(t, spoken.Join(spoken.Silence(500*time.Millisecond), lampCommand(t), spoken.Silence(2*time.Second))))
	if err != nil {
		t.Fatal(err)
	}
	patched := func(at int, v any) []byte {
		b := bytes.Clone(whole)
		var p bytes.Buffer
		binary.Write(&p, binary.LittleEndian, v) // into memory
		copy(b[at:], p.Bytes())
		return b
	}
	for _, row := range []struct {
		name  string
		bytes []byte
		// says is what homectl prints: the notice where the command was understood
		// all the same, else the error.
		understood bool
		says       string
	}{
		{"truncated behind the command", whole[:len(whole)-40001], true, `ends early .*missing`},
		{"truncated in the header", whole[:30], false, `header .*damaged.* Export it again`},
		{"empty", nil, false, `empty\. Record it again`},
		{"text", []byte(strings.Repeat("this is no recording\n", 50)), false, `not a WAV file\. Convert`},
		{"another container", append([]byte("OggS"), make([]byte, 4000)...), false, `not a WAV file\. Convert`},
		{"RIFF of another kind", patched(8, [4]byte{'A', 'V', 'I', ' '}), false, `not a WAV file\. Convert`},
		{"compressed", patched(20, uint16(0x55)), false, `not supported .*MP3.* Convert`},
		{"no channel", patched(22, uint16(0)), false, `not supported .*0 channels.* Convert`},
		{"rate zero", patched(24, uint32(0)), false, `not supported .*0 Hz.* Convert`},
		{"no samples", patched(40, uint32(0))[:44], false, `no sound\. Record it again`},
		{"lengths of a stream", patched(40, uint32(0xffffffff)), true, ``},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := h.in(t)
			file := filepath.Join(t.TempDir(), "broken.wav")
			if err := os.WriteFile(file, row.bytes, 0o644); err != nil {
				t.Fatal(err)
			}
			if !row.understood {
				h.refused(t, file, row.says)
				return
			}
			got := h.hear(file, "--no-wake")
			notices := ""
			for _, l := range got.all("notice") {
				notices += l.Text
			}
			if got.code != 0 || len(got.all("answer")) != 1 || got.all("heard")[0].Text != "turn on the living room lamp" {
				t.Errorf("%s", got)
			}
			if row.says == "" && notices != "" || !regexp.MustCompile(row.says).MatchString(notices) {
				t.Errorf("notices %q, want %q", notices, row.says)
			}
		})
	}
	t.Run("a file that is not there", func(t *testing.T) {
		_, bad, code := h.in(t).homectl(turnWait, "hear", filepath.Join(t.TempDir(), "nothing.wav"))
		if code != 1 || !strings.Contains(bad, "no such file") {
			t.Errorf("exit %d: %s", code, bad)
		}
	})
	w.fence()
	if got := w.inputs("voice"); len(got) != 2 {
		t.Errorf("the agent was given %q", got)
	}
	h.unhurt(before)
}

// refused plays a recording that must be refused, with words in both languages.
func (h *house) refused(t *testing.T, file, says string) {
	t.Helper()
	out, bad, code := h.homectl(hearWait, "hear", file)
	if code != 1 || !regexp.MustCompile(says).MatchString(bad) {
		t.Errorf("exit %d, printed %q and %q, want %q", code, out, bad, says)
	}
	t.Logf("%s", strings.TrimSpace(bad))
	_, bad, code = h.homectl(hearWait, "--lang", "zh", "hear", file)
	if code != 1 || !strings.ContainsFunc(bad, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		t.Errorf("in Chinese: exit %d, %q", code, bad)
	}
	t.Logf("%s", strings.TrimSpace(bad))
}

// TestLongSound plays recordings above the limits, and with WHOLEPATH_LONG=1
// ten minutes in real time.
func TestLongSound(t *testing.T) {
	t.Parallel()
	h := open(t, quiet)
	before := h.pids()
	t.Run("longer than 15 minutes", func(t *testing.T) {
		// 8 kHz of 8 bit: 7 MB for a quarter of an hour.
		n := 8000 * (15*60 + 1)
		b := header(t, 8000, 1, 8, n)
		h.in(t).refused(t, write(t, append(b, bytes.Repeat([]byte{128}, n)...)), `15 minutes`)
	})
	t.Run("larger than 64 MB", func(t *testing.T) {
		n := 65 << 20
		path := write(t, header(t, 48000, 2, 16, n))
		if err := os.Truncate(path, int64(n)); err != nil { // a hole: silence that takes no disk
			t.Fatal(err)
		}
		h.in(t).refused(t, path, `64 MB`)
	})
	t.Run("ten minutes", func(t *testing.T) {
		if os.Getenv("WHOLEPATH_LONG") == "" {
			t.Skip("skipped: it takes ten minutes; WHOLEPATH_LONG=1 runs it")
		}
		spoken.Need(t, "flite", "espeak-ng")
		spoken.NeedEngines(t)
		h := h.in(t)
		// A command in every minute, on and off in turn.
		var sound []int16
		for minute := range 10 {
			word := []string{"on", "off"}[minute%2]
			sound = spoken.Join(sound, spoken.Silence(time.Duration(minute)*time.Minute+time.Second-pcm.Voice.Duration(len(sound))), spoken.Trim(spoken.Flite(t, "rms", "turn "+word+" the kitchen lamp", "1.0")))
		}
		sound = spoken.Join(sound, spoken.Silence(10*time.Minute-pcm.Voice.Duration(len(sound))))
		b, err := wav.Encode(pcm.Voice, sound)
		if err != nil {
			t.Fatal(err)
		}
		out, bad, code := h.homectl(15*time.Minute, "hear", "--no-wake", write(t, b))
		if code != 0 || strings.Count(out, "answer: The kitchen lamp is ") != 10 {
			t.Errorf("exit %d\n%s%s", code, out, bad)
		}
	})
	h.unhurt(before)
}

// write makes a file of the test's own.
func write(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sound.wav")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// header is that of a plain WAV file with n bytes of samples.
func header(t testing.TB, rate, channels, bits, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	frame := channels * bits / 8
	for _, v := range []any{[4]byte{'R', 'I', 'F', 'F'}, uint32(36 + n), [8]byte{'W', 'A', 'V', 'E', 'f', 'm', 't', ' '}, uint32(16), uint16(1), uint16(channels),
		uint32(rate), uint32(rate * frame), uint16(frame), uint16(bits), [4]byte{'d', 'a', 't', 'a'}, uint32(n)} {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}
