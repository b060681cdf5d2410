package audio

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/gordonklaus/portaudio"

	"homeagent/agent/pcm"
)

const (
	// captureLatency and playbackLatency are asked of the device. A flushed
	// speaker is still heard for the latter, so it stays below 50 ms.
	captureLatency  = 40 * time.Millisecond
	playbackLatency = 40 * time.Millisecond
	// period is the length of one callback.
	period = 10 * time.Millisecond
)

// realLibrary is PortAudio itself.
type realLibrary struct {
	asound string // /proc/asound
	burnt  bool
}

var _ library = (*realLibrary)(nil)

// start implements library.
func (l *realLibrary) start() error {
	silence()
	if err := portaudio.Initialize(); err != nil {
		return fmt.Errorf("start PortAudio: %w", err)
	}
	if !l.burnt {
		l.burnt = true
		burnIDs()
	}
	return nil
}

// burnIDs uses up the stream numbers that the binding would hand to C dressed
// as pointers. Go's runtime takes a pointer below 4096 for a broken one and ends
// the program when it meets it on a stack that grows, or at once under the race
// detector; numbers above are left alone. A call without a callback uses up a
// number and fails.
func burnIDs() {
	for range 4096 {
		if _, err := portaudio.OpenStream(portaudio.StreamParameters{}); err == nil {
			panic("portaudio opened a stream without a device")
		}
	}
}

// end implements library.
func (l *realLibrary) end() error { return portaudio.Terminate() }

// cards implements library.
func (l *realLibrary) cards() string {
	b, _ := os.ReadFile(l.asound + "/cards") // absent without a sound system
	return string(b)
}

// devices implements library.
func (l *realLibrary) devices() ([]device, error) {
	host, err := portaudio.HostApi(portaudio.ALSA)
	if errors.Is(err, portaudio.HostApiNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sound devices: %w", err)
	}
	var out []device
	for _, d := range host.Devices {
		out = append(out, device{
			index: d.Index, id: stableID(d.Name, l.cardID), label: d.Name,
			in: min(d.MaxInputChannels, 32), out: min(d.MaxOutputChannels, 32), rate: int(d.DefaultSampleRate),
			defIn: d == host.DefaultInputDevice, defOut: d == host.DefaultOutputDevice,
			playback: d.DefaultLowOutputLatency,
		})
	}
	return out, nil
}

// hwForm is how PortAudio writes a device of a card: "Name: Part (hw:1,0)".
var hwForm = regexp.MustCompile(`\(hw:(\d+),(\d+)\)$`)

// stableID turns PortAudio's name for a device into one that does not depend on
// the order in which cards were found: "Device,0", or the name of an ALSA pcm.
func stableID(name string, cardID func(number string) string) string {
	m := hwForm.FindStringSubmatch(name)
	if m == nil {
		return name
	}
	if id := cardID(m[1]); id != "" {
		return id + "," + m[2]
	}
	return "hw:" + m[1] + "," + m[2]
}

// cardID is ALSA's id of the card with the number, "" if there is none.
func (l *realLibrary) cardID(number string) string {
	b, err := os.ReadFile(l.asound + "/card" + number + "/id")
	if err != nil {
		return ""
	}
	for len(b) > 0 && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
	}
	return string(b)
}

// parameters describes a stream to PortAudio.
func parameters(d device, capture bool, f pcm.Format) (portaudio.StreamParameters, error) {
	devices, err := portaudio.Devices()
	if err != nil {
		return portaudio.StreamParameters{}, err
	}
	if d.index >= len(devices) {
		return portaudio.StreamParameters{}, portaudio.InvalidDevice
	}
	p := portaudio.StreamParameters{SampleRate: float64(f.Rate), FramesPerBuffer: f.Samples(period) / f.Channels}
	side := portaudio.StreamDeviceParameters{Device: devices[d.index], Channels: f.Channels}
	if capture {
		side.Latency = captureLatency
		p.Input = side
	} else {
		side.Latency = max(playbackLatency, d.playback)
		p.Output = side
	}
	return p, nil
}

// supports implements library.
func (l *realLibrary) supports(d device, capture bool, f pcm.Format) error {
	p, err := parameters(d, capture, f)
	if err != nil {
		return err
	}
	return portaudio.IsFormatSupported(p, func([]int16) {})
}

// open implements library.
func (l *realLibrary) open(d device, capture bool, f pcm.Format, cb func([]int16)) (stream, error) {
	p, err := parameters(d, capture, f)
	if err != nil {
		return nil, err
	}
	s, err := portaudio.OpenStream(p, cb)
	if err != nil {
		return nil, err
	}
	return &realStream{s}, nil
}

// realStream is a stream of PortAudio.
type realStream struct{ s *portaudio.Stream }

func (r *realStream) run() error { return r.s.Start() }

func (r *realStream) latency() time.Duration {
	if info := r.s.Info(); info != nil && info.OutputLatency > 0 {
		return min(info.OutputLatency, time.Second)
	}
	return playbackLatency
}

// end drops what the device has still queued. A stream whose card is gone
// cannot be aborted; closing it is what counts.
func (r *realStream) end() error {
	r.s.Abort()
	return r.s.Close()
}
