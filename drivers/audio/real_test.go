package audio

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"homeagent/agent/pcm"
)

// childEnv makes the test binary play one part with ALSA as it finds it. A
// process of its own is needed because ALSA reads its configuration once.
const childEnv = "HOMEAGENT_AUDIO_TEST_PART"

func TestMain(m *testing.M) {
	part := os.Getenv(childEnv)
	if part == "" {
		goleak.VerifyTestMain(m)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := parts[part](ctx, newPortAudio(&realLibrary{asound: "/proc/asound"}, NewGain(100), Config{})); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

// parts are what a child does; it prints what the test looks at.
var parts = map[string]func(ctx context.Context, p *portAudio) error{
	"list": func(ctx context.Context, p *portAudio) error {
		defer p.shut()
		list, err := p.Devices(ctx)
		for _, d := range list {
			fmt.Printf("%s capture=%v playback=%v\n", d.Name, d.Capture, d.Playback)
		}
		return err
	},
	"nothing": func(ctx context.Context, p *portAudio) error {
		defer p.shut()
		_, err := p.OpenSource(ctx, "default", pcm.Voice)
		_, err2 := p.OpenSink(ctx, "default", pcm.Voice)
		fmt.Println(err)
		fmt.Println(err2)
		return nil
	},
	"capture": func(ctx context.Context, p *portAudio) error {
		for range 3 { // the same device again and again, as after a loss
			src, err := p.OpenSource(ctx, "mic", pcm.Voice)
			if err != nil {
				return err
			}
			buf := make([]int16, 8000)
			if _, err := src.Read(ctx, buf); err != nil {
				return err
			}
			if err := src.Close(); err != nil {
				return err
			}
			fmt.Println(buf[0], buf[1], buf[4000], buf[7999], slices.IsSorted(buf))
		}
		return p.shut()
	},
	"playback": func(ctx context.Context, p *portAudio) error {
		src, err := p.OpenSource(ctx, "mic", pcm.Voice) // both directions at once
		if err != nil {
			return err
		}
		defer src.Close()
		sink, err := p.OpenSink(ctx, "spk", pcm.Voice)
		if err != nil {
			return err
		}
		if _, err := sink.Write(ctx, ramp(1, 8000)); err != nil {
			return err
		}
		if err := sink.Drain(ctx); err != nil {
			return err
		}
		if err := sink.Close(); err != nil {
			return err
		}
		return p.shut()
	},
}

// child runs a part with an ALSA configuration and returns what it printed.
func child(t *testing.T, part, conf string) (out, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+part)
	if conf != "" {
		path := filepath.Join(t.TempDir(), "asound.conf")
		if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, "ALSA_CONFIG_PATH="+path)
	}
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", part, err, o.String(), e.String())
	}
	return o.String(), e.String()
}

// noCard is a default device whose card is not there. PortAudio ends the program
// where there is no default at all, which ALSA's own configuration never lets happen.
const noCard = `pcm.!default { type hw card 7 }
`

// conf describes a microphone that plays one raw file and a speaker that writes
// another, at the speed of the machine.
func conf(in, out string) string {
	return fmt.Sprintf(`
pcm.null { type null }
pcm.mic { type file slave.pcm "null" file "/dev/null" infile %q format "raw" }
pcm.spk { type file slave.pcm "null" file %q format "raw" }
`, in, out) + noCard
}

// The real path: PortAudio on ALSA, whose devices are files here. This machine
// needs no sound card for it.
func TestRealPortAudio(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.raw"), filepath.Join(dir, "out.raw")
	var raw []byte
	for _, v := range ramp(-16000, 32000) {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(v))
	}
	if err := os.WriteFile(in, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("list", func(t *testing.T) {
		got, stderr := child(t, "list", conf(in, out))
		if got != "portaudio:mic capture=true playback=true\nportaudio:spk capture=true playback=true\n" || stderr != "" {
			t.Errorf("got %q, on standard error %q", got, stderr)
		}
	})
	t.Run("capture", func(t *testing.T) {
		got, stderr := child(t, "capture", conf(in, out))
		lines := strings.Split(strings.TrimSpace(got), "\n")
		if len(lines) != 3 || stderr != "" {
			t.Fatalf("got %q, on standard error %q", got, stderr)
		}
		for _, line := range lines {
			var a, b, c, d int
			var sorted bool
			if _, err := fmt.Sscan(line, &a, &b, &c, &d, &sorted); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			// The device may have run for a while, but what is read has no gap.
			if b != a+1 || c != a+4000 || d != a+7999 || !sorted {
				t.Errorf("read %q", line)
			}
		}
	})
	t.Run("playback", func(t *testing.T) {
		if _, stderr := child(t, "playback", conf(in, out)); stderr != "" {
			t.Errorf("on standard error %q", stderr)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for _, v := range ramp(1, 8000) {
			want = binary.LittleEndian.AppendUint16(want, uint16(v))
		}
		// The machine outruns the writer, so silence may stand in between; the
		// samples themselves are all there and in order.
		var heard []byte
		for i := 0; i+1 < len(b); i += 2 {
			if b[i] != 0 || b[i+1] != 0 {
				heard = append(heard, b[i], b[i+1])
			}
		}
		if !bytes.Equal(heard, want) {
			t.Errorf("%d samples arrived, want %d", len(heard)/2, len(want)/2)
		}
	})
	t.Run("no sound card", func(t *testing.T) {
		got, stderr := child(t, "nothing", noCard)
		if strings.Count(got, "audio open portaudio:default: this machine has no such sound device; plug one in") != 2 || stderr != "" {
			t.Errorf("got %q, on standard error %q", got, stderr)
		}
	})
}
