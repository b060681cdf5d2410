package timer

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"homeagent/agent/plugin"
)

// Bounds of Config.RingFor.
const (
	minRing     = 5 * time.Second
	maxRing     = 10 * time.Minute
	defaultRing = time.Minute
)

// Config is the section `timer` of config.yaml. The zero value is the default.
type Config struct {
	// RingFor is how long a timer rings that nobody stops, 5s to 10m; 0 is 1m.
	RingFor time.Duration `yaml:"ring_for"`
}

// ParseConfig reads the section from its YAML node. A nil node is the zero
// Config; unknown keys and wrong values are errors that name them.
func ParseConfig(node *yaml.Node) (Config, error) {
	var c Config
	if err := plugin.DecodeSection("timer", node, &c); err != nil {
		return Config{}, err
	}
	return c, c.Validate()
}

// Validate reports a value outside its range by its key.
func (c Config) Validate() error {
	if c.RingFor != 0 && (c.RingFor < minRing || c.RingFor > maxRing) {
		return fmt.Errorf("timer.ring_for: %s is not between %s and %s", c.RingFor, minRing, maxRing)
	}
	return nil
}

// ringFor is the configured or the default time.
func (c Config) ringFor() time.Duration {
	if c.RingFor == 0 {
		return defaultRing
	}
	return c.RingFor
}
