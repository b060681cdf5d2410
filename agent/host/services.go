package host

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/memory/embed"
)

// Provider returns a registered provider.
func (h *Host) Provider(name string) (provider.Provider, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	e, ok := h.reg.providers[name]
	return e.value, ok
}

// Providers are the names of the registered providers, sorted.
func (h *Host) Providers() []string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.reg.providers.names()
}

// Embedder returns a registered embedder.
func (h *Host) Embedder(name string) (embed.Embedder, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	e, ok := h.reg.embedders[name]
	return e.value, ok
}

// Embedders are the names of the registered embedders, sorted.
func (h *Host) Embedders() []string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.reg.embedders.names()
}

// Endpoint returns the handler of /api/v1/<name>. It catches panics, and its
// context ends with the plugin that answers.
func (h *Host) Endpoint(name string) (plugin.EndpointHandler, bool) {
	h.mu.RLock()
	e, ok := h.reg.endpoints[name]
	h.mu.RUnlock()
	if !ok {
		return nil, false
	}
	return func(ctx context.Context, req *plugin.Request, out plugin.Reply) (err error) {
		defer func() {
			if p := h.caught(e.inst, "endpoint "+name, recover()); p != nil {
				err = p
			}
		}()
		ctx, done := within(ctx, e.inst)
		defer done()
		return e.value(ctx, req, out)
	}, true
}

// Endpoints are the names of the registered endpoints, sorted.
func (h *Host) Endpoints() []string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.reg.endpoints.names()
}

// Stream returns the handler of a protocol's connections. It catches panics,
// closes the connection when it returns, and its context ends with the plugin.
func (h *Host) Stream(name string) (plugin.StreamHandler, bool) {
	h.mu.RLock()
	e, ok := h.reg.streams[name]
	h.mu.RUnlock()
	if !ok {
		return nil, false
	}
	return func(ctx context.Context, conn io.ReadWriteCloser, peer string) {
		defer conn.Close()
		defer func() { h.caught(e.inst, "stream "+name, recover()) }()
		ctx, done := within(ctx, e.inst)
		defer done()
		e.value(ctx, conn, peer)
	}, true
}

// Streams are the names of the registered streams, sorted.
func (h *Host) Streams() []string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.reg.streams.names()
}

// caught reports a recovered panic; nil is none.
func (h *Host) caught(inst *instance, who string, p any) error {
	if p == nil {
		return nil
	}
	err := &PanicError{Who: who, Value: p, Stack: string(debug.Stack())}
	h.o.Log.Error("a call panicked", "who", who, "plugin", inst.name, "panic", p, "stack", err.Stack)
	h.report(inst.name, "panic", fmt.Sprintf("%s of plugin %s panicked: %v", who, inst.name, p))
	return err
}
