//go:build e2e

package e2e

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/resample"
	"homeagent/tools/spoken"
)

// speakerFormat is how the far end of the speaker's cable is opened. The near
// end, the house's, must then take the same, as it must with a USB device that
// knows no other rate.
var speakerFormat = pcm.Format{Rate: 48000, Channels: 1}

// loopback is a person in the guest's room: snd-aloop is the sound card, the
// house has device 0 of it, the person device 1. Both ends run by the guest's
// own clock, so a slow computer stretches nothing between them.
type loopback struct {
	b          *box
	ear        *ssh.Client
	done       chan struct{} // closed when the ear has ended
	complaints bytes.Buffer  // of the ear; after done

	mu    sync.Mutex
	conv  *resample.Converter // from speakerFormat to pcm.Voice
	odd   []byte              // a byte whose sample is not yet whole
	sound []int16             // what came from the speaker so far
}

// plugLoopback plugs the sound card in, as one is plugged into a running box.
func (b *box) plugLoopback() {
	b.t.Helper()
	b.run("modprobe snd-aloop pcm_substreams=1")
}

// listen lets a person come in, who listens to the speaker until leave.
//
// While the person is there the guest is busy, with the smallest weight there is. An idle
// guest would wait by this computer's clock, which jumps when the computer is
// late, and 40 ms of such a jump are lost sound; a busy one's time is its own
// work alone.
func (b *box) listen() *loopback {
	b.t.Helper()
	conv, err := resample.New(speakerFormat, pcm.Voice)
	if err != nil {
		b.t.Fatal(err)
	}
	l := &loopback{b: b, done: make(chan struct{}), conv: conv}
	c, err := b.m.SSH(b.t.Context(), b.key)
	if err != nil {
		b.t.Fatal(err)
	}
	s, err := c.NewSession()
	if err != nil {
		c.Close()
		b.t.Fatal(err)
	}
	l.ear = c
	s.Stdout, s.Stderr = l, &l.complaints
	go func() {
		defer close(l.done)
		// arecord ends when nobody takes its sound any more, and its end that of the work.
		s.Run(fmt.Sprintf("cd /sys/fs/cgroup && mkdir -p e2e && echo 1 >e2e/cpu.weight && "+
			"{ sh -c 'echo $$ >e2e/cgroup.procs; while :; do :; done' & } && "+
			"arecord -q -D hw:Loopback,1,0 -t raw -f S16_LE -r %d -c %d --buffer-time=1000000; kill $!",
			speakerFormat.Rate, speakerFormat.Channels))
	}()
	return l
}

// leave ends what the person did in the guest; the sound card stays.
func (l *loopback) leave() {
	l.ear.Close()
	<-l.done
	l.conv.Close()
	if text := l.complaints.String(); text != "" {
		l.b.t.Logf("arecord in the guest: %s", text)
	}
	l.b.eventually(turnWait, "nobody works in the guest any more", func() bool {
		out, err := l.b.ssh("cat /sys/fs/cgroup/e2e/cgroup.procs")
		return err == nil && out == ""
	})
}

// Write takes what the speaker says.
func (l *loopback) Write(p []byte) (n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := append(l.odd, p...)
	whole := len(b) &^ 1
	l.odd = bytes.Clone(b[whole:])
	l.sound, err = l.conv.Convert(l.sound, spoken.Little(b[:whole]))
	return len(p), err
}

// heard is everything from the speaker so far.
func (l *loopback) heard() []int16 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.sound)
}

var hwParams = regexp.MustCompile(`(?s)format: S16_LE\n.*channels: (\d+)\n.*rate: (\d+) `)

// play speaks into the microphone and returns when the guest has heard the last
// of it. The house must be listening: its format is the one that is played.
func (l *loopback) play(samples []int16) {
	b := l.b
	b.t.Helper()
	var f pcm.Format
	b.eventually(spokenWait, "the house listens to the microphone", func() bool {
		text, _ := b.ssh("cat /proc/asound/Loopback/pcm0c/sub0/hw_params")
		m := hwParams.FindStringSubmatch(text)
		if m == nil {
			return false
		}
		f.Channels, _ = strconv.Atoi(m[1])
		f.Rate, _ = strconv.Atoi(m[2])
		return f.Valid()
	})
	b.t.Logf("the house listens at %s", f)
	const path = "/run/e2e-speech.raw"
	b.put(path, little(converted(b.t, samples, pcm.Voice, f)))
	if out, err := b.ssh(fmt.Sprintf("exec aplay -q -D hw:Loopback,1,0 -t raw -f S16_LE -r %d -c %d --buffer-time=1000000 %s 2>&1",
		f.Rate, f.Channels, path)); err != nil || out != "" {
		b.t.Fatalf("aplay in the guest: %v %s", err, out)
	}
}

// little is the opposite of spoken.Little.
func little(samples []int16) []byte {
	out := make([]byte, 0, 2*len(samples))
	for _, v := range samples {
		out = binary.LittleEndian.AppendUint16(out, uint16(v))
	}
	return out
}

// put writes a file of the guest.
func (b *box) put(path string, content []byte) {
	b.t.Helper()
	c, err := b.m.SSH(b.t.Context(), b.key)
	if err != nil {
		b.t.Fatal(err)
	}
	defer c.Close()
	s, err := c.NewSession()
	if err != nil {
		b.t.Fatal(err)
	}
	defer s.Close()
	s.Stdin = bytes.NewReader(content)
	if err := s.Run("cat >" + path); err != nil {
		b.t.Fatalf("write %s in the guest: %v", path, err)
	}
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
