package audio

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/memory/disk"
)

// volumeKey is where the Store keeps the volume.
const volumeKey = "volume"

// volumeStep is what "louder" and "softer" change, in percent.
const volumeStep = 10

// Plugin is the audio driver. Its methods may be called from any goroutine.
type Plugin struct {
	cfg   Config
	gain  *Gain
	cards *portAudio
	files *wavFiles

	mu   sync.Mutex // guards what follows and keeps writes of the volume apart
	api  plugin.API // nil unless started
	undo func()
	end  chan struct{}

	kick  chan struct{} // the volume has changed and is to be kept
	owned sync.WaitGroup
}

var _ plugin.Plugin = (*Plugin)(nil)

// New returns the plugin on this machine's sound system; it does nothing before Start.
func New(cfg Config) *Plugin {
	return newPlugin(cfg, &realLibrary{asound: "/proc/asound"})
}

// newPlugin is New on another library.
func newPlugin(cfg Config, lib library) *Plugin {
	gain := NewGain(cfg.volume())
	return &Plugin{cfg: cfg, gain: gain, cards: newPortAudio(lib, gain, cfg), files: &wavFiles{fs: disk.OS{}, gain: gain},
		kick: make(chan struct{}, 1)}
}

// Name implements plugin.Plugin.
func (p *Plugin) Name() string { return "audio" }

// Version implements plugin.Plugin.
func (p *Plugin) Version() string { return "1.0.0" }

// Gain is the volume that all sinks share; the voice path ducks through it.
func (p *Plugin) Gain() *Gain { return p.gain }

// stored is the form in which the Store keeps the volume.
type stored struct {
	Percent int  `json:"percent"`
	Muted   bool `json:"muted"`
}

// Start offers the devices and the volume tools. It opens no device.
func (p *Plugin) Start(ctx context.Context, api plugin.API) error {
	if err := p.cfg.Validate(); err != nil {
		return err
	}
	b, err := api.Store().Get(volumeKey)
	if err != nil {
		return fmt.Errorf("read the volume: %w", err)
	}
	if b != nil {
		var s stored
		if err := json.Unmarshal(b, &s); err != nil || s.Percent < 0 || s.Percent > 100 {
			api.Log().Warn("the stored volume is not readable; the configured one counts", "value", string(b))
		} else {
			p.gain.Set(s.Percent)
			p.gain.SetMuted(s.Muted)
		}
	}
	if err := api.AudioDevice(paName, p.cards); err != nil {
		return err
	}
	if err := api.AudioDevice(wavName, p.files); err != nil {
		return err
	}
	for _, t := range p.tools() {
		if err := api.RegisterTool(t.def.Name, t.def, t.handler); err != nil {
			return err
		}
	}
	if err := api.Endpoint("audio", p.serve); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.api, p.end = api, make(chan struct{})
	p.undo = api.Subscribe(event.Control, p.control)
	end := p.end
	p.owned.Go(func() { p.keeper(end) })
	return nil
}

// Stop closes every device; streams that are still open end with a *pcm.DeviceError.
func (p *Plugin) Stop(ctx context.Context) error {
	p.mu.Lock()
	if p.end == nil {
		p.mu.Unlock()
		return nil
	}
	p.undo()
	close(p.end)
	p.end = nil
	p.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		p.owned.Wait()
		err := p.cards.shut()
		p.mu.Lock()
		p.api = nil
		p.mu.Unlock()
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("audio: a device has not let go: %w", ctx.Err())
	}
}

// control hears control intents. It must return at once, so the disk is left to
// the keeper.
func (p *Plugin) control(e event.Event) {
	switch e.State {
	case "louder":
		p.gain.Change(volumeStep)
	case "softer":
		p.gain.Change(-volumeStep)
	case "mute":
		p.gain.SetMuted(true)
	default:
		return
	}
	signal(p.kick)
}

// keeper writes the volume after a control intent has changed it.
func (p *Plugin) keeper(end <-chan struct{}) {
	keep := func() {
		if err := p.keep(); err != nil {
			p.api.Log().Error("the volume could not be kept", "err", err)
		}
	}
	for {
		select {
		case <-p.kick:
			keep()
		case <-end:
			select {
			case <-p.kick:
				keep()
			default:
			}
			return
		}
	}
}

// keep writes the volume as it is now and tells it.
func (p *Plugin) keep() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.api == nil {
		return errStopped
	}
	s := stored{p.gain.Percent(), p.gain.Muted()}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := p.api.Store().Put(volumeKey, b); err != nil {
		return fmt.Errorf("keep the volume: %w", err)
	}
	state := fmt.Sprintf("volume:%d", s.Percent)
	if s.Muted {
		state = "volume:muted"
	}
	p.api.Publish(event.Event{Type: event.System, State: state})
	return nil
}
