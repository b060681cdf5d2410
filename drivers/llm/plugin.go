package llm

import (
	"context"
	"fmt"

	"homeagent/agent/plugin"
)

// Plugin offers the configured models to the agent.
type Plugin struct {
	clients []*Client
}

var _ plugin.Plugin = (*Plugin)(nil)

// NewPlugin makes the plugin of clients that New has made.
func NewPlugin(clients ...*Client) *Plugin { return &Plugin{clients: clients} }

// Name implements plugin.Plugin.
func (p *Plugin) Name() string { return "llm" }

// Version implements plugin.Plugin.
func (p *Plugin) Version() string { return "1" }

// Start registers each model under its name; the network is not touched.
func (p *Plugin) Start(_ context.Context, api plugin.API) error {
	for _, c := range p.clients {
		if err := api.Provider(c.Name(), c); err != nil {
			return fmt.Errorf("offer %s: %w", c.Name(), err)
		}
	}
	return nil
}

// Stop drops idle connections.
func (p *Plugin) Stop(context.Context) error {
	for _, c := range p.clients {
		c.Close()
	}
	return nil
}
