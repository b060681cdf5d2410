package voice

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"homeagent/agent/plugin"
)

// Config is the section `voice` of config.yaml. The zero value is the default.
type Config struct {
	// Microphone and Speaker name devices as the page lists them; "" is the
	// default device, "off" none.
	Microphone string `yaml:"microphone"`
	Speaker    string `yaml:"speaker"`
	// Language is what is spoken to the box: zh, en or auto (the default).
	Language string `yaml:"language"`
	// FreeSpeech hands English that is no known command to the agent. Unset, it
	// is on while an LLM is configured.
	FreeSpeech *bool `yaml:"free_speech"`
	// EarCon plays a short tone when the box was called and nothing was said
	// yet; unset is on.
	EarCon *bool `yaml:"ear_con"`
	// NoSpeech ends listening when nobody speaks (5s, 1s to 30s), Longest cuts
	// an utterance (15s, 2s to 60s), Trailing is the silence that ends it
	// (500ms, 200ms to 2s), Answer ends the wait for an answer (2m, 5s to 30m).
	NoSpeech time.Duration `yaml:"no_speech"`
	Longest  time.Duration `yaml:"longest"`
	Trailing time.Duration `yaml:"trailing"`
	Answer   time.Duration `yaml:"answer"`
	// Transcription and Speech are OpenAI-compatible services; nil is none.
	Transcription *Service `yaml:"transcription"`
	Speech        *Service `yaml:"speech"`
}

// Service is an OpenAI-compatible speech service.
type Service struct {
	// BaseURL is what stands before /audio/transcriptions, "https://host/v1".
	BaseURL string `yaml:"base_url"`
	Model   string `yaml:"model"`
	// Key is the name of the secret that holds the key, "" for none.
	Key string `yaml:"key"`
	// Languages limits the service to some languages ("zh", "en"); empty is any.
	Languages []string `yaml:"languages"`
	// Voice is for speech only, default "alloy".
	Voice string `yaml:"voice"`
}

// ParseConfig reads the section from its YAML node. A nil node is the zero
// Config; unknown keys and wrong values are errors that name them.
func ParseConfig(node *yaml.Node) (Config, error) {
	var c Config
	if err := plugin.DecodeSection("voice", node, &c); err != nil {
		return Config{}, err
	}
	return c, c.Validate()
}

// off is the device name that switches a direction off.
const off = "off"

// withDefaults fills in what is not set.
func (c Config) withDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	if c.Language == "" {
		c.Language = "auto"
	}
	def(&c.NoSpeech, 5*time.Second)
	def(&c.Longest, 15*time.Second)
	def(&c.Trailing, 500*time.Millisecond)
	def(&c.Answer, 2*time.Minute)
	return c
}

// Validate reports every value outside its range, in words that name the key.
func (c Config) Validate() error {
	d := c.withDefaults()
	var errs []error
	if !slices.Contains([]string{"zh", "en", "auto"}, d.Language) {
		errs = append(errs, fmt.Errorf("voice.language: %q is none of zh, en, auto", d.Language))
	}
	for _, r := range []struct {
		key      string
		v        time.Duration
		min, max time.Duration
	}{
		{"no_speech", d.NoSpeech, time.Second, 30 * time.Second},
		{"longest", d.Longest, 2 * time.Second, time.Minute},
		{"trailing", d.Trailing, 200 * time.Millisecond, 2 * time.Second},
		{"answer", d.Answer, 5 * time.Second, 30 * time.Minute},
	} {
		if r.v < r.min || r.v > r.max {
			errs = append(errs, fmt.Errorf("voice.%s: %s is not between %s and %s", r.key, r.v, r.min, r.max))
		}
	}
	errs = append(errs, c.Transcription.validate("voice.transcription"), c.Speech.validate("voice.speech"))
	return errors.Join(errs...)
}

func (s *Service) validate(key string) error {
	if s == nil {
		return nil
	}
	u, err := url.Parse(s.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%s.base_url: want an address such as https://host/v1", key)
	}
	if u.User != nil {
		return fmt.Errorf("%s.base_url: a password does not belong there; name a secret in %s.key", key, key)
	}
	if strings.TrimSpace(s.Model) == "" {
		return fmt.Errorf("%s.model: name the model that the service offers", key)
	}
	return nil
}

// earCon reports whether the tone is played.
func (c Config) earCon() bool { return c.EarCon == nil || *c.EarCon }
