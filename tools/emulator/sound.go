package emulator

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// SoundRate and SoundChannels are the format of a Sound: signed 16-bit samples.
const (
	SoundRate     = 48000
	SoundChannels = 2
)

// Sound is the guest's sound card, as a person in the room: what is played comes
// out of the guest's microphone, and what the guest's speaker says is heard.
// QEMU believes it talks to ALSA devices; they are files. The guest's own reading
// sets the pace, and where nothing is played it hears the noise of a quiet room.
//
// One Sound serves one machine at a time. Close it after the machine.
type Sound struct {
	dir  string
	mic  *os.File
	done chan struct{}

	mu    sync.Mutex
	queue []byte
	taken chan struct{} // closed and replaced when the queue has become empty
	noise uint32
}

// NewSound makes a sound card; its files lie in a folder of their own.
func NewSound() (*Sound, error) {
	dir, err := os.MkdirTemp("", "sound-")
	if err != nil {
		return nil, err
	}
	s := &Sound{dir: dir, done: make(chan struct{}), taken: make(chan struct{}), noise: 1}
	if err := s.open(); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("make a sound card: %w", err)
	}
	go s.feed()
	return s, nil
}

func (s *Sound) open() error {
	if err := unix.Mkfifo(s.path("microphone"), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(s.path("speaker"), nil, 0o600); err != nil {
		return err
	}
	conf := fmt.Sprintf(`pcm.homeagent_microphone { type file slave.pcm { type null } file "/dev/null" infile %q format raw }
pcm.homeagent_speaker { type file slave.pcm { type null } file %q format raw }
`, s.path("microphone"), s.path("speaker"))
	if err := os.WriteFile(s.path("asound.conf"), []byte(conf), 0o600); err != nil {
		return err
	}
	// Opened for both directions, so that neither side waits for the other.
	fd, err := unix.Open(s.path("microphone"), unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	s.mic = os.NewFile(uintptr(fd), s.path("microphone"))
	// A small pipe: what is played is heard soon.
	_, err = unix.FcntlInt(s.mic.Fd(), unix.F_SETPIPE_SZ, 1<<14)
	return err
}

func (s *Sound) path(name string) string { return filepath.Join(s.dir, name) }

// environment tells ALSA in QEMU's process about the devices.
func (s *Sound) environment() string {
	return "ALSA_CONFIG_PATH=/usr/share/alsa/alsa.conf:" + s.path("asound.conf")
}

func (s *Sound) arguments() []string {
	side := func(dir, dev string) string {
		return strings.ReplaceAll(fmt.Sprintf("@.dev=%s,@.frequency=%d,@.channels=%d,@.format=s16,@.fixed-settings=on,@.try-poll=off",
			dev, SoundRate, SoundChannels), "@", dir)
	}
	return []string{"-audiodev", "alsa,id=sound0," + side("in", "homeagent_microphone") + "," + side("out", "homeagent_speaker"),
		"-device", "intel-hda", "-device", "hda-duplex,audiodev=sound0"}
}

// Play lets the guest hear samples behind what is still being played. The
// channel is closed when QEMU has taken the last of them.
func (s *Sound) Play(samples []int16) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range samples {
		s.queue = binary.LittleEndian.AppendUint16(s.queue, uint16(v))
	}
	return s.taken
}

// Heard is everything that the speaker has said since the sound card was made.
func (s *Sound) Heard() ([]int16, error) {
	b, err := os.ReadFile(s.path("speaker"))
	if err != nil {
		return nil, err
	}
	out := make([]int16, len(b)/2)
	for i := range out {
		out[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return out, nil
}

// Close ends the sound card and removes its files.
func (s *Sound) Close() error {
	err := s.mic.Close()
	<-s.done
	return errors.Join(err, os.RemoveAll(s.dir))
}

// feed writes to the microphone as fast as it is read, which is the guest's pace.
func (s *Sound) feed() {
	defer close(s.done)
	// Ten milliseconds at a time: what is played begins soon after Play.
	buf := make([]byte, 2*SoundChannels*SoundRate/100)
	for {
		s.fill(buf)
		if _, err := s.mic.Write(buf); err != nil {
			return
		}
	}
}

func (s *Sound) fill(buf []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := copy(buf, s.queue)
	if s.queue = s.queue[n:]; len(s.queue) == 0 {
		close(s.taken)
		s.taken = make(chan struct{})
		s.queue = nil
	}
	for ; n+1 < len(buf); n += 2 {
		s.noise = s.noise*1664525 + 1013904223
		binary.LittleEndian.PutUint16(buf[n:], uint16(int16(s.noise>>30)-2))
	}
}
