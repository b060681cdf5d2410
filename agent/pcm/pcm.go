package pcm

import (
	"context"
	"fmt"
	"time"
)

// Format describes a stream of interleaved signed 16-bit samples.
type Format struct {
	// Rate is the number of frames a second, 8000 to 192000.
	Rate int
	// Channels is the number of samples a frame, 1 to 32.
	Channels int
}

// Voice is the format of the whole voice path: 16 kHz, one channel.
var Voice = Format{Rate: 16000, Channels: 1}

// String names the format as "16000 Hz x1".
func (f Format) String() string { return fmt.Sprintf("%d Hz x%d", f.Rate, f.Channels) }

// Valid reports whether rate and channel count lie inside the documented ranges.
func (f Format) Valid() bool {
	return f.Rate >= 8000 && f.Rate <= 192000 && f.Channels >= 1 && f.Channels <= 32
}

// Duration is the playing time of n interleaved samples, 0 for an invalid format.
func (f Format) Duration(n int) time.Duration {
	if !f.Valid() {
		return 0
	}
	return time.Duration(n/f.Channels) * time.Second / time.Duration(f.Rate)
}

// Samples is the number of interleaved samples that last d, rounded down to whole frames.
func (f Format) Samples(d time.Duration) int {
	return int(int64(d)*int64(f.Rate)/int64(time.Second)) * f.Channels
}

// Source is an open capture stream. One goroutine reads it; Close may be
// called from another and ends a waiting Read.
type Source interface {
	Format() Format
	// Read fills buf and returns len(buf), waiting as long as the sound takes.
	// Fewer samples come only with an error; io.EOF marks the end of a source
	// that ends (a file), a *DeviceError a device that was lost.
	Read(ctx context.Context, buf []int16) (int, error)
	Close() error
}

// Sink is an open playback stream. One goroutine writes it; Flush and Close
// may be called from another.
type Sink interface {
	Format() Format
	// Write queues all of buf, waiting while the device's buffer is full.
	Write(ctx context.Context, buf []int16) (int, error)
	// Drain waits until the last queued sample has left the device.
	Drain(ctx context.Context) error
	// Flush drops what is queued and falls silent within 50 ms.
	Flush() error
	Close() error
}

// Info describes one device that can be opened.
type Info struct {
	// Name is what Opener takes, stable across boots: "opener:id".
	Name string `json:"name"`
	// Label is the device's own name for people.
	Label string `json:"label"`
	// Capture and Playback tell the directions it offers.
	Capture  bool `json:"capture"`
	Playback bool `json:"playback"`
	// Native is the device's preferred format.
	Native Format `json:"native"`
}

// Opener opens the devices of one kind (PortAudio, WAV files). It resamples
// and mixes so that the returned stream has exactly the wanted format.
type Opener interface {
	Devices(ctx context.Context) ([]Info, error)
	OpenSource(ctx context.Context, id string, want Format) (Source, error)
	OpenSink(ctx context.Context, id string, want Format) (Sink, error)
}

// Devices is the Audio service of the plugin API: every registered Opener
// behind one name space. The empty name is the configured default device.
type Devices interface {
	List(ctx context.Context) ([]Info, error)
	Capture(ctx context.Context, name string, want Format) (Source, error)
	Playback(ctx context.Context, name string, want Format) (Sink, error)
}

// DeviceError is a device that is absent, busy or was lost while open.
type DeviceError struct {
	Device string // the name that was asked for
	Op     string // "open", "read", "write"
	Err    error
}

func (e *DeviceError) Error() string { return "audio " + e.Op + " " + e.Device + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *DeviceError) Unwrap() error { return e.Err }

// Chooser is an Opener that knows which device the empty name of Devices
// stands for. The host asks the registered openers in order of registration;
// the first full name ("opener:id") that is not empty counts. drivers/audio
// answers from config.yaml's section `audio`.
type Chooser interface {
	DefaultCapture() string
	DefaultPlayback() string
}
