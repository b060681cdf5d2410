package embed

import (
	"context"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"homeagent/agent/plugin"
	"homeagent/drivers/embed/ollama"
	"homeagent/drivers/embed/openai"
	"homeagent/drivers/embed/rest"
	"homeagent/memory/embed"
)

// Config is the section `embed`.
type Config struct {
	// Kind is "ollama", "openai" or "hash"; "" embeds nothing.
	Kind    string `yaml:"kind"`
	BaseURL string `yaml:"base_url"`
	Model   string `yaml:"model"`
	// Key is the name of a secret.
	Key string `yaml:"key"`
}

// ParseConfig reads the section; nil is none.
func ParseConfig(node *yaml.Node) (Config, error) {
	var c Config
	if err := plugin.DecodeSection("embed", node, &c); err != nil {
		return Config{}, err
	}
	switch {
	case c.Kind == "" && c != (Config{}):
		return Config{}, errors.New("embed: kind is missing; use ollama, openai or hash")
	case c.Kind == "hash" && c != (Config{Kind: "hash"}):
		return Config{}, errors.New("embed: hash takes no other keys")
	case c.Kind == "ollama" && c.Model == "":
		return Config{}, errors.New("embed: ollama needs model, as bge-m3")
	}
	if c.Key != "" || c.Kind == "" {
		return c, nil // the key comes at the start
	}
	_, _, err := c.embedder("")
	return c, err
}

// embedder makes what is configured; the second value ends it.
func (c Config) embedder(key string) (embed.Embedder, func(), error) {
	if c.Kind == "hash" {
		return embed.Hash{}, func() {}, nil
	}
	dial, ok := map[string]func(rest.Config) (*rest.Client, error){"ollama": ollama.New, "openai": openai.New}[c.Kind]
	if !ok {
		return nil, nil, fmt.Errorf("embed: kind %q is not known; use ollama, openai or hash", c.Kind)
	}
	client, err := dial(rest.Config{BaseURL: c.BaseURL, Model: c.Model, Key: key})
	if err != nil {
		return nil, nil, err
	}
	return client, client.Close, nil
}

// Plugin offers the configured embedder to memory.
type Plugin struct {
	cfg Config
	end func()
}

var _ plugin.Plugin = (*Plugin)(nil)

// New has no effect.
func New(cfg Config) *Plugin { return &Plugin{cfg: cfg} }

// Name implements plugin.Plugin.
func (p *Plugin) Name() string { return "embed" }

// Version implements plugin.Plugin.
func (p *Plugin) Version() string { return "1" }

// Start registers the embedder under its kind; without one it does nothing.
func (p *Plugin) Start(_ context.Context, api plugin.API) error {
	if p.cfg.Kind == "" {
		return nil
	}
	key := ""
	if p.cfg.Key != "" {
		if key = api.Secret(p.cfg.Key); key == "" {
			return fmt.Errorf("no secret is called %q; set it with `homectl secret set %s`", p.cfg.Key, p.cfg.Key)
		}
	}
	e, end, err := p.cfg.embedder(key)
	if err != nil {
		return err
	}
	if err := api.Embedder(p.cfg.Kind, e); err != nil {
		end()
		return err
	}
	p.end = end
	return nil
}

// Stop drops idle connections.
func (p *Plugin) Stop(context.Context) error {
	if p.end != nil {
		p.end()
		p.end = nil
	}
	return nil
}
