package audio

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"homeagent/agent/plugin"
)

// defaultVolume is the volume of a box whose volume nobody has set, in percent.
const defaultVolume = 80

// Config is the section `audio` of config.yaml. The zero value is the default.
type Config struct {
	// Microphone and Speaker are full names of devices as the page lists them,
	// "portaudio:Device,0" or "wav:/path/in.wav"; "" is the system's default.
	Microphone string `yaml:"microphone"`
	Speaker    string `yaml:"speaker"`
	// Gain is the volume of the first start in percent, 0 to 100; nil is 80.
	// Afterwards the last volume that was set counts.
	Gain *int `yaml:"gain"`
}

// ParseConfig reads the section from its YAML node. A nil node is the zero
// Config; unknown keys and wrong values are errors that name them.
func ParseConfig(node *yaml.Node) (Config, error) {
	var c Config
	if err := plugin.DecodeSection("audio", node, &c); err != nil {
		return Config{}, err
	}
	return c, c.Validate()
}

// Validate reports every wrong value by its key.
func (c Config) Validate() error {
	var errs []error
	for key, name := range map[string]string{"microphone": c.Microphone, "speaker": c.Speaker} {
		opener, id, ok := strings.Cut(name, ":")
		if name != "" && (!ok || opener == "" || id == "") {
			errs = append(errs, fmt.Errorf("audio.%s: %q is no device; write it as portaudio:NAME or wav:PATH", key, name))
		}
	}
	if c.Gain != nil && (*c.Gain < 0 || *c.Gain > 100) {
		errs = append(errs, fmt.Errorf("audio.gain: %d is not between 0 and 100", *c.Gain))
	}
	return errors.Join(errs...)
}

// volume is the volume of the first start.
func (c Config) volume() int {
	if c.Gain == nil {
		return defaultVolume
	}
	return *c.Gain
}
