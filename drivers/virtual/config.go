package virtual

import (
	"errors"
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"

	"homeagent/agent/plugin"
)

// maxDevices bounds what one configuration may list.
const maxDevices = 500

// nameForm is the form of a device's name, that of home.Device.
var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Config is the section `virtual` of config.yaml. The zero value offers just
// the devices of `home` whose tool is virtual_set.
type Config struct {
	Devices []Device `yaml:"devices"`
}

// Device is one lamp or switch.
type Device struct {
	// Name is the device's id, [a-z][a-z0-9_]*, unique.
	Name string `yaml:"name"`
	// Kind is lamp, switch or another word; "" is switch.
	Kind string `yaml:"kind"`
}

// ParseConfig reads the section from its YAML node. A nil node is the zero
// Config; unknown keys and wrong values are errors that name them.
func ParseConfig(node *yaml.Node) (Config, error) {
	var c Config
	if err := plugin.DecodeSection("virtual", node, &c); err != nil {
		return Config{}, err
	}
	return c, c.Validate()
}

// Validate reports every wrong value by its key.
func (c Config) Validate() error {
	var errs []error
	if len(c.Devices) > maxDevices {
		errs = append(errs, fmt.Errorf("virtual.devices: %d devices, at most %d are allowed", len(c.Devices), maxDevices))
	}
	seen := map[string]bool{}
	for i, d := range c.Devices {
		switch {
		case !nameForm.MatchString(d.Name):
			errs = append(errs, fmt.Errorf("virtual.devices[%d].name: %q is no name; use a-z, 0-9 and _, a letter first", i, d.Name))
		case seen[d.Name]:
			errs = append(errs, fmt.Errorf("virtual.devices[%d].name: %q stands there twice", i, d.Name))
		}
		seen[d.Name] = true
	}
	return errors.Join(errs...)
}
