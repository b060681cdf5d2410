package audiotest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/resample"
)

// Faults that the opener wraps in *pcm.DeviceError.
var (
	ErrAbsent    = errors.New("no such device")
	ErrBusy      = errors.New("device is busy")
	ErrUnplugged = errors.New("device was unplugged")
	ErrClosed    = errors.New("stream is closed")
)

// Opener is the sound card. Its methods may be called from any goroutine.
type Opener struct {
	name string

	mu      sync.Mutex
	devices map[string]*device
	open    map[any]string // open streams and their devices
}

var _ pcm.Opener = (*Opener)(nil)

// device is a microphone, a speaker or both.
type device struct {
	native    pcm.Format
	in, out   bool
	unplugged bool
	pulled    chan struct{} // closed when it is unplugged
	busy      int           // opens that still fail
	script    []Step
	rest      bool
	heard     []int16
}

// New returns a card without devices that is registered as name. The test
// complains at its end of what is left over.
func New(t testing.TB, name string) *Opener {
	o := &Opener{name: name, devices: map[string]*device{}, open: map[any]string{}}
	t.Cleanup(func() {
		for _, left := range o.Leftovers() {
			t.Error("audiotest: " + left)
		}
	})
	return o
}

// Leftovers lists what the test has not used up, for tests of tests.
func (o *Opener) Leftovers() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for _, id := range slices.Sorted(maps.Values(o.open)) {
		out = append(out, "a stream of "+id+" was not closed")
	}
	for _, id := range slices.Sorted(maps.Keys(o.devices)) {
		d := o.devices[id]
		if n := len(d.script); n > 0 && !d.rest {
			out = append(out, fmt.Sprintf("%d steps of the script of %s were not read", n, id))
		}
		if d.busy > 0 {
			out = append(out, fmt.Sprintf("%s would be busy %d times more", id, d.busy))
		}
	}
	return out
}

// Microphone adds a device that captures by the script. A source that is opened
// goes on where the last one stopped; after the last step there is silence.
func (o *Opener) Microphone(id string, native pcm.Format, script ...Step) {
	o.mu.Lock()
	defer o.mu.Unlock()
	d := o.device(id, native)
	d.in, d.script = true, append(d.script, script...)
}

// Speaker adds a device that plays.
func (o *Opener) Speaker(id string, native pcm.Format) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.device(id, native).out = true
}

// device returns the device, made if need be. The caller holds mu.
func (o *Opener) device(id string, native pcm.Format) *device {
	d := o.devices[id]
	if d == nil {
		d = &device{pulled: make(chan struct{})}
		o.devices[id] = d
	}
	d.native = native
	return d
}

// Heard is what the speaker has played so far, in its native format and without
// the silence in which nothing was queued.
func (o *Opener) Heard(id string) []int16 {
	o.mu.Lock()
	sinks := []*sink{}
	for s, of := range o.open {
		if s, ok := s.(*sink); ok && of == id {
			sinks = append(sinks, s)
		}
	}
	o.mu.Unlock()
	for _, s := range sinks {
		s.mu.Lock()
		s.advance()
		s.mu.Unlock()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if d := o.devices[id]; d != nil {
		return slices.Clone(d.heard)
	}
	return nil
}

// Unplug pulls a device out: its open streams and every open until Plug fail.
func (o *Opener) Unplug(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d := o.devices[id]; d != nil && !d.unplugged {
		d.unplugged = true
		close(d.pulled)
	}
}

// Plug puts a device back.
func (o *Opener) Plug(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d := o.devices[id]; d != nil && d.unplugged {
		d.unplugged, d.pulled = false, make(chan struct{})
	}
}

// Busy lets the next n opens of a device fail.
func (o *Opener) Busy(id string, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.devices[id].busy = n
}

// Rest allows a microphone's script not to be read to its end.
func (o *Opener) Rest(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.devices[id].rest = true
}

// Devices implements pcm.Opener: what is plugged in, by name.
func (o *Opener) Devices(context.Context) ([]pcm.Info, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []pcm.Info
	for _, id := range slices.Sorted(maps.Keys(o.devices)) {
		if d := o.devices[id]; !d.unplugged {
			out = append(out, pcm.Info{Name: o.name + ":" + id, Label: "test device " + id, Capture: d.in, Playback: d.out, Native: d.native})
		}
	}
	return out, nil
}

// take finds a device for opening and counts down its faults. The caller holds mu.
func (o *Opener) take(id string, fits func(*device) bool) (*device, error) {
	d := o.devices[id]
	err := ErrAbsent
	switch {
	case d == nil || d.unplugged || !fits(d):
	case d.busy > 0:
		d.busy--
		err = ErrBusy
	default:
		return d, nil
	}
	return nil, &pcm.DeviceError{Device: o.name + ":" + id, Op: "open", Err: err}
}

// OpenSource implements pcm.Opener.
func (o *Opener) OpenSource(_ context.Context, id string, want pcm.Format) (pcm.Source, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	d, err := o.take(id, func(d *device) bool { return d.in })
	if err != nil {
		return nil, err
	}
	s := &source{o: o, id: id, d: d, pulled: d.pulled, closed: make(chan struct{})}
	out, err := resample.NewSource(s, want)
	if err != nil {
		return nil, err
	}
	o.open[s] = id
	return out, nil
}

// OpenSink implements pcm.Opener.
func (o *Opener) OpenSink(_ context.Context, id string, want pcm.Format) (pcm.Sink, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	d, err := o.take(id, func(d *device) bool { return d.out })
	if err != nil {
		return nil, err
	}
	s := &sink{o: o, id: id, d: d, pulled: d.pulled, closed: make(chan struct{})}
	out, err := resample.NewSink(s, want)
	if err != nil {
		return nil, err
	}
	o.open[s] = id
	return out, nil
}

// ended forgets an open stream.
func (o *Opener) ended(s any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, s)
}

// lost is the error of a stream whose device was pulled out or that was closed.
func (o *Opener) lost(id, op string, err error) error {
	return &pcm.DeviceError{Device: o.name + ":" + id, Op: op, Err: err}
}
