package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"time"

	"homeagent/agent/bus"
	"homeagent/agent/event"
	"homeagent/agent/home"
	"homeagent/agent/plugin"
	"homeagent/agent/tool"
)

// Stores gives each plugin its bucket.
type Stores interface {
	// Store returns the bucket of the plugin of that name, always the same one.
	Store(plugin string) plugin.Store
}

// Mind is what the host passes on to.
type Mind interface {
	InjectInput(ctx context.Context, in plugin.Input) (string, error)
	Tool(ctx context.Context, call tool.Call, in plugin.Input) (tool.Result, error)
}

// Options are what the host stands on; all of them may be nil or zero. Without
// Log nothing is logged, without Bus nobody outside hears its events.
type Options struct {
	Log    *slog.Logger
	Bus    *bus.Bus
	Home   *home.Home
	Memory plugin.Memory
	Stores Stores
	// Secret looks up a secret, "" if it is not set.
	Secret func(name string) string
	// Capture and Playback name the default sound devices ("opener:id"); ""
	// asks the openers themselves.
	Capture, Playback string

	// Deadlines; 0 is the default given in the package's documentation.
	StageTimeout, ToolTimeout, SendTimeout, StartTimeout, StopTimeout time.Duration
	Now                                                               func() time.Time
}

var (
	// ErrStopped is returned to a plugin that registers outside Start and Stop.
	ErrStopped = errors.New("the plugin is not running")
	// ErrNoMind is returned before Bind.
	ErrNoMind = errors.New("the agent is not ready yet")
)

// Host holds the plugins and what they registered.
type Host struct {
	o     Options
	guard *Guard

	ops   sync.Mutex // one start or stop at a time
	mu    sync.RWMutex
	mind  Mind
	slots []*slot
	reg   registry
	audio *audio
}

// New makes a host without plugins.
func New(o Options) *Host {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&o.StageTimeout, 5*time.Second)
	def(&o.ToolTimeout, 60*time.Second)
	def(&o.SendTimeout, 10*time.Second)
	def(&o.StartTimeout, 30*time.Second)
	def(&o.StopTimeout, 30*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Bus == nil {
		o.Bus = bus.New(o.Log, o.Now)
	}
	if o.Home == nil {
		o.Home = &home.Home{}
	}
	if o.Memory == nil {
		o.Memory = noMemory{}
	}
	h := &Host{o: o, guard: NewGuard(o.Log), reg: newRegistry()}
	h.audio = &audio{h}
	return h
}

// Guard is what every call into code of others goes through.
func (h *Host) Guard() *Guard { return h.guard }

// Bind tells the host where inputs and calls of tools go. Until then both fail.
func (h *Host) Bind(m Mind) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mind = m
}

func (h *Host) bound() (Mind, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.mind == nil {
		return nil, ErrNoMind
	}
	return h.mind, nil
}

// State is what became of a plugin's start.
type State string

const (
	Idle    State = "idle"     // not started yet
	Running State = "running"  // started
	NotHere State = "not_here" // its hardware is not on this board
	Failed  State = "failed"   // its start failed
	Stopped State = "stopped"  // was running and was stopped
)

// slot is a plugin's place, kept across its restarts.
type slot struct {
	plugin plugin.Plugin
	index  int
	state  State
	reason string
	since  time.Time
	inst   *instance // nil unless running
}

// instance is one run of a plugin; what it registers belongs to it.
type instance struct {
	name  string
	index int // position among the plugins; the core's come first
	// ctx ends when the instance stops.
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	closed bool
	undo   []func()
}

// open reports whether the instance may register.
func (i *instance) open() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return !i.closed
}

// onClose notes what ends with the instance; it is done at once if that is over.
func (i *instance) onClose(f func()) {
	i.mu.Lock()
	if !i.closed {
		i.undo = append(i.undo, f)
		i.mu.Unlock()
		return
	}
	i.mu.Unlock()
	f()
}

func (i *instance) close() {
	i.mu.Lock()
	undo := i.undo
	i.closed, i.undo = true, nil
	i.mu.Unlock()
	i.cancel()
	for k := len(undo) - 1; k >= 0; k-- {
		undo[k]()
	}
}

var pluginName = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// Add takes a plugin into the order of starting. A malformed name or one that
// is taken is an error, and the plugin is left out.
func (h *Host) Add(p plugin.Plugin) error {
	name := p.Name()
	if !pluginName.MatchString(name) {
		return fmt.Errorf("plugin name %q is malformed: a small letter, then small letters and digits", name)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.slots {
		if s.plugin.Name() == name {
			return fmt.Errorf("two plugins are called %s: versions %s and %s", name, s.plugin.Version(), p.Version())
		}
	}
	h.slots = append(h.slots, &slot{plugin: p, index: len(h.slots), state: Idle, since: h.o.Now()})
	return nil
}

// Core returns an API for a part of the agent itself, which registers under
// name and keeps what it registers.
func (h *Host) Core(name string) plugin.API {
	return h.newAPI(name, -1)
}

func (h *Host) newAPI(name string, index int) *api {
	ctx, cancel := context.WithCancel(context.Background())
	inst := &instance{name: name, index: index, ctx: ctx, cancel: cancel}
	return &api{host: h, inst: inst, log: h.o.Log.With("plugin", name)}
}

// Start starts all plugins in order. What fails is reported and left out.
func (h *Host) Start(ctx context.Context) {
	h.ops.Lock()
	defer h.ops.Unlock()
	for _, s := range h.list() {
		if h.state(s) != Running {
			h.start(ctx, s)
		}
	}
}

// Stop stops all running plugins in reverse order, each within its deadline.
func (h *Host) Stop(ctx context.Context) {
	h.ops.Lock()
	defer h.ops.Unlock()
	slots := h.list()
	for i := len(slots) - 1; i >= 0; i-- {
		if h.state(slots[i]) == Running {
			h.stop(ctx, slots[i])
		}
	}
}

// Restart stops the plugin if it runs and starts it anew. The error is that of
// the start, or says that no plugin has the name.
func (h *Host) Restart(ctx context.Context, name string) error {
	h.ops.Lock()
	defer h.ops.Unlock()
	for _, s := range h.list() {
		if s.plugin.Name() == name {
			if h.state(s) == Running {
				h.stop(ctx, s)
			}
			return h.start(ctx, s)
		}
	}
	return fmt.Errorf("no plugin is called %q", name)
}

func (h *Host) list() []*slot {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return append([]*slot(nil), h.slots...)
}

func (h *Host) state(s *slot) State {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return s.state
}

// start runs Start under guard. The caller holds ops.
func (h *Host) start(ctx context.Context, s *slot) error {
	name := s.plugin.Name()
	a := h.newAPI(name, s.index)
	late := make(chan bool, 1) // says whether a start that was given up has still succeeded
	err := Run(ctx, h.guard, "start of plugin "+name, h.o.StartTimeout, 1, func(ctx context.Context) error {
		started := false
		defer func() { late <- started }()
		err := s.plugin.Start(ctx, a)
		started = err == nil
		return err
	})
	var hung *HungError
	if errors.As(err, &hung) && !hung.Busy {
		go func() { // ends with the start that hangs; undoes it if it succeeds after all
			if <-late {
				stopCtx, cancel := context.WithTimeout(context.Background(), h.o.StopTimeout)
				defer cancel()
				Run(stopCtx, h.guard, "stop of plugin "+name, 0, 1, s.plugin.Stop)
			}
		}()
	}
	h.mu.Lock()
	s.since = h.o.Now()
	switch {
	case err == nil:
		s.state, s.reason, s.inst = Running, "", a.inst
	case errors.Is(err, plugin.ErrNotHere):
		s.state, s.reason = NotHere, err.Error()
	default:
		s.state, s.reason = Failed, err.Error()
	}
	state := s.state
	h.mu.Unlock()
	if err != nil {
		h.revoke(a.inst)
	}
	switch state {
	case Running:
		a.log.Info("plugin runs", "version", s.plugin.Version())
	case NotHere:
		a.log.Info("plugin is not for this board", "reason", err)
	default:
		a.log.Error("plugin failed to start; the agent goes on without it", "err", err)
	}
	text := name + ": " + string(state)
	if err != nil {
		text += ": " + err.Error()
	}
	h.o.Bus.Publish(event.Event{Type: event.System, Plugin: name, State: "plugin_" + string(state), Text: text})
	return err
}

// stop takes everything back and runs Stop under guard. The caller holds ops.
func (h *Host) stop(ctx context.Context, s *slot) {
	name := s.plugin.Name()
	h.mu.Lock()
	inst := s.inst
	s.inst = nil
	h.mu.Unlock()
	h.revoke(inst)
	err := Run(ctx, h.guard, "stop of plugin "+name, h.o.StopTimeout, 1, s.plugin.Stop)
	h.mu.Lock()
	s.state, s.reason, s.since = Stopped, "", h.o.Now()
	if err != nil {
		s.reason = err.Error()
	}
	h.mu.Unlock()
	if err != nil {
		h.o.Log.Error("plugin did not stop cleanly", "plugin", name, "err", err)
	}
	h.o.Bus.Publish(event.Event{Type: event.System, Plugin: name, State: "plugin_" + string(Stopped), Text: name + ": stopped"})
}

// revoke takes back what an instance registered.
func (h *Host) revoke(inst *instance) {
	inst.close()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reg.remove(inst)
}

// report tells what a plugin did wrong.
func (h *Host) report(plugin, state, text string) {
	h.o.Log.Warn(text, "plugin", plugin, "state", state)
	h.o.Bus.Publish(event.Event{Type: event.System, Plugin: plugin, State: state, Text: text})
}

// Status is one plugin's line of the status.
type Status struct {
	Name    string    `json:"name"`
	Version string    `json:"version"`
	State   State     `json:"state"`
	Reason  string    `json:"reason,omitempty"`
	Since   time.Time `json:"since"`
	Tools   []string  `json:"tools,omitempty"`
}

// Plugins tells how each plugin does, in the order of starting.
func (h *Host) Plugins() []Status {
	h.mu.RLock()
	defer h.mu.RUnlock()
	out := make([]Status, 0, len(h.slots))
	for _, s := range h.slots {
		st := Status{Name: s.plugin.Name(), Version: s.plugin.Version(), State: s.state, Reason: s.reason, Since: s.since}
		for _, d := range h.reg.defs {
			if d.Plugin == st.Name {
				st.Tools = append(st.Tools, d.Name)
			}
		}
		out = append(out, st)
	}
	return out
}
