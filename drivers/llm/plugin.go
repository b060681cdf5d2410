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

// Start registers each model under its name; the network is not touched. The
// same model at a second address is "name#2".
func (p *Plugin) Start(_ context.Context, api plugin.API) error {
	seen := map[string]int{}
	for _, c := range p.clients {
		name := c.Name()
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, seen[name])
		}
		if err := api.Provider(name, c); err != nil {
			return fmt.Errorf("offer %s: %w", name, err)
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
