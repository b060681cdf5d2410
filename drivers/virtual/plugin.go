package virtual

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"homeagent/agent/event"
	"homeagent/agent/home"
	"homeagent/agent/plugin"
)

// Names of the tools; home devices refer to the first.
const (
	setTool  = "virtual_set"
	listTool = "virtual_list"
)

// storePrefix stands before a device's name in the Store; the value is "on" or "off".
const storePrefix = "state/"

// device is one lamp or switch as it is now.
type device struct {
	Device
	words  home.Names // what the household calls it
	on     bool
	absent bool
}

// called is how the device is named to people in the language.
func (d *device) called(lang string) string {
	if w := d.words[lang]; len(w) > 0 {
		return w[0]
	}
	return d.Name
}

// Plugin is the virtual driver. Its methods may be called from any goroutine.
type Plugin struct {
	cfg Config

	mu      sync.Mutex
	api     plugin.API
	devices map[string]*device
	aliases map[string]string // folded word -> device
}

var _ plugin.Plugin = (*Plugin)(nil)

// New returns the plugin; it does nothing before Start.
func New(cfg Config) *Plugin { return &Plugin{cfg: cfg} }

// Name implements plugin.Plugin.
func (p *Plugin) Name() string { return "virtual" }

// Version implements plugin.Plugin.
func (p *Plugin) Version() string { return "1.0.0" }

// Start takes over the devices with their last states and offers the tools.
func (p *Plugin) Start(ctx context.Context, api plugin.API) error {
	if err := p.cfg.Validate(); err != nil {
		return err
	}
	devices, aliases := collect(p.cfg, api.Home())
	for name, d := range devices {
		state, err := api.Store().Get(storePrefix + name)
		if err != nil {
			return fmt.Errorf("state of virtual device %s: %w", name, err)
		}
		switch string(state) {
		case "on":
			d.on = true
		case "", "off":
		default:
			api.Log().Warn("stored state is not readable, the device starts off", "device", name, "state", string(state))
		}
	}
	p.mu.Lock()
	p.api, p.devices, p.aliases = api, devices, aliases
	names := p.names()
	p.mu.Unlock()
	if err := api.Endpoint(p.Name(), p.serve); err != nil {
		p.Stop(ctx)
		return err
	}
	for _, t := range p.tools(names) {
		if err := api.RegisterTool(t.def.Name, t.def, t.handler); err != nil {
			p.Stop(ctx)
			return err
		}
	}
	return nil
}

// Stop forgets the devices; their states stay in the Store.
func (p *Plugin) Stop(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.api, p.devices, p.aliases = nil, nil, nil
	return nil
}

// collect joins the configured devices with those of the household and learns
// the household's words for them.
func collect(cfg Config, h *home.Home) (map[string]*device, map[string]string) {
	devices, aliases := map[string]*device{}, map[string]string{}
	for _, d := range cfg.Devices {
		if d.Kind == "" {
			d.Kind = "switch"
		}
		devices[d.Name] = &device{Device: d}
	}
	if h == nil {
		return devices, aliases
	}
	for _, d := range h.Devices {
		if d.Tool != setTool {
			continue
		}
		name := d.Args["name"]
		if name == "" {
			name = d.Name
		}
		if devices[name] == nil {
			devices[name] = &device{Device: Device{Name: name, Kind: d.Kind}}
		}
		if devices[name].words == nil {
			devices[name].words = d.Aliases
		}
		for _, words := range d.Aliases {
			for _, w := range words {
				aliases[fold(w)] = name
			}
		}
	}
	return devices, aliases
}

// fold makes two spellings of a name equal: case, spaces and underscores do not count.
func fold(s string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(s))
}

// names lists the devices in order, as "living_room_lamp (lamp)". The caller holds mu.
func (p *Plugin) names() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.devices)) {
		if kind := p.devices[name].Kind; kind != "" {
			name += " (" + kind + ")"
		}
		out = append(out, name)
	}
	return out
}

// find returns the device that a name or one of the household's words means,
// or nil. The caller holds mu.
func (p *Plugin) find(name string) *device {
	if d := p.devices[name]; d != nil {
		return d
	}
	want := fold(name)
	if d := p.devices[p.aliases[want]]; d != nil {
		return d
	}
	for id, d := range p.devices {
		if fold(id) == want {
			return d
		}
	}
	return nil
}

// publish tells a change. The caller does not hold mu.
func publish(api plugin.API, name, state string) {
	api.Publish(event.Event{Type: event.System, State: "device:" + name + ":" + state, Text: name + ": " + state})
}

// State reports whether a device is on; the second value is false for a name
// that does not exist or a plugin that is not started.
func (p *Plugin) State(name string) (on, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.devices[name]
	return d != nil && d.on, d != nil
}

// Unplug simulates a device that was pulled out: it keeps its tools and its
// state, and every call is an error until Plug. The error is an unknown name.
func (p *Plugin) Unplug(name string) error { return p.setAbsent(name, true) }

// Plug puts an unplugged device back.
func (p *Plugin) Plug(name string) error { return p.setAbsent(name, false) }

func (p *Plugin) setAbsent(name string, absent bool) error {
	p.mu.Lock()
	d, api := p.devices[name], p.api
	if d == nil {
		p.mu.Unlock()
		return fmt.Errorf("virtual device %q does not exist", name)
	}
	changed := d.absent != absent
	d.absent = absent
	p.mu.Unlock()
	if changed {
		publish(api, name, map[bool]string{true: "unplugged", false: "plugged"}[absent])
	}
	return nil
}
