package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"homeagent/agent/event"
	"homeagent/agent/home"
	"homeagent/agent/pcm"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory/embed"
)

// api is the host as one instance of a plugin sees it.
type api struct {
	host *Host
	inst *instance
	log  *slog.Logger
}

var _ plugin.API = (*api)(nil)

// register runs add under the registry's lock while the instance is open.
func (a *api) register(what string, add func(r *registry) error) error {
	a.host.mu.Lock()
	defer a.host.mu.Unlock()
	if !a.inst.open() {
		return fmt.Errorf("register %s of plugin %s: %w", what, a.inst.name, ErrStopped)
	}
	return add(&a.host.reg)
}

func (a *api) Log() *slog.Logger { return a.log }

func (a *api) RegisterTool(name string, def tool.Def, h tool.Handler) error {
	t, err := newTool(name, def, a.inst, h)
	if err != nil {
		return err
	}
	return a.register("tool "+name, func(r *registry) error {
		if err := r.tools.add("tool", name, a.inst, t); err != nil {
			return err
		}
		r.sortDefs()
		return nil
	})
}

func (a *api) RegisterStage(stage plugin.Stage, h plugin.StageHandler) error {
	if !slices.Contains(plugin.Stages, stage) || h == nil {
		return fmt.Errorf("stage %q of plugin %s is none of %v, or its handler is nil", stage, a.inst.name, plugin.Stages)
	}
	return a.register("stage "+string(stage), func(r *registry) error {
		r.addStage(stage, a.inst, h)
		return nil
	})
}

func (a *api) Subscribe(t event.Type, h func(event.Event)) func() {
	if !a.inst.open() {
		return func() {}
	}
	undo := a.host.o.Bus.Subscribe(a.inst.name, t, h)
	a.inst.onClose(undo)
	return undo
}

func (a *api) Publish(e event.Event) {
	e.Plugin = a.inst.name
	a.host.o.Bus.Publish(e)
}

func (a *api) InjectInput(ctx context.Context, in plugin.Input) (string, error) {
	m, err := a.host.bound()
	if err != nil {
		return "", err
	}
	return m.InjectInput(ctx, in)
}

func (a *api) Tool(ctx context.Context, call tool.Call, in plugin.Input) (tool.Result, error) {
	m, err := a.host.bound()
	if err != nil {
		return tool.Result{}, err
	}
	return m.Tool(ctx, call, in)
}

func (a *api) Channel(name string, s plugin.Sender) error {
	return addNamed(a, "channel", name, s == nil, func(r *registry) error { return r.channels.add("channel", name, a.inst, s) })
}

func (a *api) Provider(name string, p provider.Provider) error {
	return addNamed(a, "provider", name, p == nil, func(r *registry) error { return r.providers.add("provider", name, a.inst, p) })
}

func (a *api) Embedder(name string, e embed.Embedder) error {
	return addNamed(a, "embedder", name, e == nil, func(r *registry) error { return r.embedders.add("embedder", name, a.inst, e) })
}

func (a *api) Streams(name string, h plugin.StreamHandler) error {
	return addNamed(a, "stream", name, h == nil, func(r *registry) error { return r.streams.add("stream", name, a.inst, h) })
}

func (a *api) Endpoint(name string, h plugin.EndpointHandler) error {
	return addNamed(a, "endpoint", name, h == nil, func(r *registry) error { return r.endpoints.add("endpoint", name, a.inst, h) })
}

func (a *api) AudioDevice(name string, o pcm.Opener) error {
	return addNamed(a, "audio device", name, o == nil, func(r *registry) error {
		for _, old := range r.openers {
			if old.name == name {
				return fmt.Errorf("audio device %q of plugin %s is already offered by plugin %s", name, a.inst.name, old.inst.name)
			}
		}
		r.openers = append(slices.Clone(r.openers), opener{a.inst, name, o})
		return nil
	})
}

func addNamed(a *api, kind, name string, isNil bool, add func(*registry) error) error {
	if err := checkName(kind, name); err != nil {
		return err
	}
	if isNil {
		return fmt.Errorf("%s %q of plugin %s is nil", kind, name, a.inst.name)
	}
	return a.register(kind+" "+name, add)
}

func (a *api) Audio() pcm.Devices    { return a.host.audio }
func (a *api) Memory() plugin.Memory { return a.host.o.Memory }
func (a *api) Home() *home.Home      { return a.host.o.Home }

func (a *api) Store() plugin.Store {
	if a.host.o.Stores == nil {
		return noStore{}
	}
	return a.host.o.Stores.Store(a.inst.name)
}

func (a *api) Secret(name string) string {
	if a.host.o.Secret == nil {
		return ""
	}
	return a.host.o.Secret(name)
}

// ErrNoMemory and ErrNoStore are returned where the agent runs without them.
var (
	ErrNoMemory = errors.New("this agent has no memory")
	ErrNoStore  = errors.New("this agent has no store")
)

type noMemory struct{}

func (noMemory) Recall(context.Context, string, int) ([]plugin.Item, error) { return nil, ErrNoMemory }
func (noMemory) Commit(context.Context, []plugin.Triple, string) error      { return ErrNoMemory }

type noStore struct{}

func (noStore) Get(string) ([]byte, error)                   { return nil, ErrNoStore }
func (noStore) Put(string, []byte) error                     { return ErrNoStore }
func (noStore) Delete(string) error                          { return ErrNoStore }
func (noStore) List(string, func(string, []byte) bool) error { return ErrNoStore }
