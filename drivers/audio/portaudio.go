package audio

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/resample"
)

// paName is the opener's name, the part of a full device name before the colon.
const paName = "portaudio"

// closeLimit bounds how long the end of a stream may take. A card that is gone
// can hold its thread back for good.
const closeLimit = 3 * time.Second

// errNoDevices is a machine without sound.
var errNoDevices = errors.New("this machine has no such sound device; plug one in")

// device is one device as the library lists it.
type device struct {
	index    int
	id       string // stable, without the opener's name
	label    string
	in, out  int // channels, 0 where the direction is missing
	rate     int // preferred
	defIn    bool
	defOut   bool
	playback time.Duration // smallest sensible latency of playback
}

// library is what is needed of PortAudio; a test puts a fake in its place. It
// is called by one goroutine at a time.
type library interface {
	start() error
	end() error
	// cards changes whenever a card comes or goes.
	cards() string
	devices() ([]device, error)
	supports(d device, capture bool, f pcm.Format) error
	// open returns a stream that is not yet running and calls cb from a thread
	// of its own once it does.
	open(d device, capture bool, f pcm.Format, cb func([]int16)) (stream, error)
}

// stream is an open stream of the library.
type stream interface {
	run() error
	// latency is how long a sample takes from the callback to the ear.
	latency() time.Duration
	// end stops at once and frees the device; no callback comes afterwards.
	end() error
}

// portAudio is the opener of real devices.
type portAudio struct {
	lib  library
	gain *Gain
	// microphone and speaker are the full default names of the configuration.
	microphone, speaker string

	mu      sync.Mutex // also keeps calls of lib apart
	started bool
	seen    string // lib.cards when it was started
	open    map[*gone]stream
	// sources are kept to tell overruns; a closed one adds to lost.
	sources map[*capture]struct{}
	lost    int64
}

func newPortAudio(lib library, gain *Gain, cfg Config) *portAudio {
	return &portAudio{lib: lib, gain: gain, microphone: cfg.Microphone, speaker: cfg.Speaker,
		open: map[*gone]stream{}, sources: map[*capture]struct{}{}}
}

var (
	_ pcm.Opener  = (*portAudio)(nil)
	_ pcm.Chooser = (*portAudio)(nil)
)

// DefaultCapture implements pcm.Chooser.
func (p *portAudio) DefaultCapture() string { return chosen(p.microphone) }

// DefaultPlayback implements pcm.Chooser.
func (p *portAudio) DefaultPlayback() string { return chosen(p.speaker) }

// chosen is the configured name or ALSA's default.
func chosen(name string) string {
	if name == "" {
		return paName + ":default"
	}
	return name
}

// Devices implements pcm.Opener. A machine without sound has none.
func (p *portAudio) Devices(context.Context) ([]pcm.Info, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	devices, err := p.list(len(p.open) == 0)
	if err != nil {
		return nil, err
	}
	var out []pcm.Info
	for _, d := range devices {
		out = append(out, pcm.Info{Name: paName + ":" + d.id, Label: d.label, Capture: d.in > 0, Playback: d.out > 0,
			Native: pcm.Format{Rate: d.rate, Channels: min(max(d.in, d.out), 2)}})
	}
	return out, nil
}

// OpenSource implements pcm.Opener.
func (p *portAudio) OpenSource(_ context.Context, id string, want pcm.Format) (pcm.Source, error) {
	name := paName + ":" + id
	fail := func(err error) (pcm.Source, error) { return nil, &pcm.DeviceError{Device: name, Op: "open", Err: err} }
	if !want.Valid() {
		return fail(fmt.Errorf("no such format: %s", want))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d, err := p.find(id, true)
	if err != nil {
		return fail(err)
	}
	f, err := p.negotiate(d, true, want)
	if err != nil {
		return fail(err)
	}
	var c *capture
	c = newCapture(name, f, func() error { return p.close(&c.gone, c) })
	s, err := p.lib.open(d, true, f, c.deliver)
	if err != nil {
		return fail(err)
	}
	if err := s.run(); err != nil {
		return fail(errors.Join(err, s.end()))
	}
	out, err := resample.NewSource(c, want)
	if err != nil {
		return fail(errors.Join(err, s.end()))
	}
	p.open[&c.gone] = s
	p.sources[c] = struct{}{}
	return out, nil
}

// OpenSink implements pcm.Opener.
func (p *portAudio) OpenSink(_ context.Context, id string, want pcm.Format) (pcm.Sink, error) {
	name := paName + ":" + id
	fail := func(err error) (pcm.Sink, error) { return nil, &pcm.DeviceError{Device: name, Op: "open", Err: err} }
	if !want.Valid() {
		return fail(fmt.Errorf("no such format: %s", want))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d, err := p.find(id, false)
	if err != nil {
		return fail(err)
	}
	f, err := p.negotiate(d, false, want)
	if err != nil {
		return fail(err)
	}
	var b *playback
	b = newPlayback(name, f, p.gain, func() error { return p.close(&b.gone, nil) })
	s, err := p.lib.open(d, false, f, func(out []int16) { b.fill(out) })
	if err != nil {
		return fail(err)
	}
	b.latency = s.latency()
	if err := s.run(); err != nil {
		return fail(errors.Join(err, s.end()))
	}
	out, err := resample.NewSink(b, want)
	if err != nil {
		return fail(errors.Join(err, s.end()))
	}
	p.open[&b.gone] = s
	return out, nil
}

// list returns the devices, starting the library first if need be; anew lets it
// be started again if cards have come or gone. The caller holds mu.
func (p *portAudio) list(anew bool) ([]device, error) {
	cards := p.lib.cards()
	if p.started && anew && cards != p.seen {
		p.started = false
		if err := p.lib.end(); err != nil {
			return nil, err
		}
	}
	if !p.started {
		if err := p.lib.start(); err != nil {
			return nil, err
		}
		p.started, p.seen = true, cards
	}
	return p.lib.devices()
}

// find looks a device up. If it is not there and cards have changed since the
// library was started, the open streams are given up for a fresh list. The
// caller holds mu.
func (p *portAudio) find(id string, capture bool) (device, error) {
	devices, err := p.list(len(p.open) == 0)
	if err != nil {
		return device{}, err
	}
	d, ok := pick(devices, id, capture)
	if !ok && p.lib.cards() != p.seen {
		p.loseAll()
		if devices, err = p.list(true); err != nil {
			return device{}, err
		}
		d, ok = pick(devices, id, capture)
	}
	if ok {
		return d, nil
	}
	var names []string
	for _, d := range devices {
		if capture && d.in > 0 || !capture && d.out > 0 {
			names = append(names, paName+":"+d.id)
		}
	}
	if len(names) == 0 {
		return device{}, errNoDevices
	}
	return device{}, fmt.Errorf("there is no such sound device; there are: %s", strings.Join(names, ", "))
}

// pick chooses by id; "" and "default" are the library's default, or else the
// first device of the direction.
func pick(devices []device, id string, capture bool) (device, bool) {
	fits := func(d device) bool { return capture && d.in > 0 || !capture && d.out > 0 }
	if i := slices.IndexFunc(devices, func(d device) bool { return d.id == id && fits(d) }); i >= 0 {
		return devices[i], true
	}
	if id != "" && id != "default" {
		return device{}, false
	}
	i := slices.IndexFunc(devices, func(d device) bool { return fits(d) && (capture && d.defIn || !capture && d.defOut) })
	if i < 0 {
		i = slices.IndexFunc(devices, fits)
	}
	if i < 0 {
		return device{}, false
	}
	return devices[i], true
}

// negotiate finds the format nearest to the wanted one that the device takes.
// The caller holds mu.
func (p *portAudio) negotiate(d device, capture bool, want pcm.Format) (pcm.Format, error) {
	most := d.out
	if capture {
		most = d.in
	}
	var first error
	tried := map[pcm.Format]bool{}
	for _, rate := range []int{want.Rate, d.rate, 48000, 44100} {
		for _, channels := range []int{min(want.Channels, most), min(2, most), 1} {
			f := pcm.Format{Rate: rate, Channels: channels}
			if !f.Valid() || tried[f] {
				continue
			}
			tried[f] = true
			err := p.lib.supports(d, capture, f)
			if err == nil {
				return f, nil
			}
			if first == nil {
				first = err
			}
		}
	}
	if first == nil {
		first = errors.New("the device offers no usable format")
	}
	return pcm.Format{}, first
}

// close ends one stream. c is the capture it belongs to, or nil.
func (p *portAudio) close(g *gone, c *capture) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.open[g]
	delete(p.open, g)
	if _, ok := p.sources[c]; ok {
		delete(p.sources, c)
		p.lost += c.overruns.Load()
	}
	if s == nil {
		return nil // it was given up before
	}
	return endStream(s)
}

// endStream bounds the end of a stream; one that never ends keeps its device.
func endStream(s stream) error {
	done := make(chan error, 1)
	go func() { done <- s.end() }()
	t := time.NewTimer(closeLimit)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
		return fmt.Errorf("the sound device did not let go within %s", closeLimit)
	}
}

// loseAll ends every open stream, whose owners then see a *pcm.DeviceError. The
// caller holds mu.
func (p *portAudio) loseAll() {
	for g, s := range p.open {
		g.lose(errReplugged)
		endStream(s) // the library is started anew in any case
		delete(p.open, g)
	}
	for c := range p.sources {
		p.lost += c.overruns.Load()
	}
	clear(p.sources)
}

// overruns is the number of captured samples that were dropped so far.
func (p *portAudio) overruns() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.lost
	for c := range p.sources {
		n += c.overruns.Load()
	}
	return n
}

// shut ends every stream and the library.
func (p *portAudio) shut() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loseAll()
	if !p.started {
		return nil
	}
	p.started = false
	return p.lib.end()
}
