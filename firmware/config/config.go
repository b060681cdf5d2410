package config

import (
	"time"

	"go.yaml.in/yaml/v3"

	"homeagent/firmware/words"
)

// Duration is a time.Duration written as "15s", "10m" or "72h".
type Duration time.Duration

// UnmarshalYAML accepts what time.ParseDuration accepts, and not less than zero.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v < 0 {
		return &durationError{line: n.Line, Text: words.Format("%q 不是时长，请写成例如 15s、10m 或 72h", "%q is no duration, write for example 15s, 10m or 72h", n.Value)}
	}
	*d = Duration(v)
	return nil
}

// durationError is a value that is no duration.
type durationError struct {
	words.Text
	line int
}

func (e *durationError) Error() string { return e.EN }

// MarshalYAML writes the short form.
func (d Duration) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }

// Std is the value as a time.Duration.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// Daemon is the section about the processes themselves.
type Daemon struct {
	// ListenAddr is where the page is served, host:port or :port.
	ListenAddr string `yaml:"listen_addr"`
	// DataDir is the data folder; the flag -data goes before it.
	DataDir string `yaml:"data_dir"`
	// HeartbeatInterval is the pace of liveness checks.
	HeartbeatInterval Duration `yaml:"heartbeat_interval"`
	// CheckInterval is the pace of health and network evaluation.
	CheckInterval Duration `yaml:"check_interval"`
	// LogLevel is debug, info, warn or error.
	LogLevel string `yaml:"log_level"`
	// Hosts are further names under which the page may be opened.
	Hosts []string `yaml:"hosts"`
}

// Agent is the section about the mind.
type Agent struct {
	// MaxToolRounds bounds the rounds of tool calls in one turn, 1 to 50.
	MaxToolRounds int `yaml:"max_tool_rounds"`
}

// Provider is one entry of the provider chain.
type Provider struct {
	// Kind is deepseek, openai, ollama or lua.
	Kind    string `yaml:"kind"`
	BaseURL string `yaml:"base_url,omitempty"`
	Model   string `yaml:"model,omitempty"`
	// Thinking asks the model to reason before it answers; off by default.
	Thinking bool `yaml:"thinking,omitempty"`
	// Key is the name of the secret that holds the API key.
	Key string `yaml:"key,omitempty"`
}

// Memory is the section about remembering.
type Memory struct {
	Keep            int      `yaml:"keep"`
	TidyInterval    Duration `yaml:"tidy_interval"`
	DistillInterval Duration `yaml:"distill_interval"`
	Batch           int      `yaml:"batch"`
	RetentionDays   int      `yaml:"retention_days"`
	ColdAfter       Duration `yaml:"cold_after"`
	ColdAccess      int      `yaml:"cold_access"`
}

// SnapshotPolicy says when a snapshot is taken and how many are kept.
type SnapshotPolicy struct {
	Interval     Duration `yaml:"interval"`
	MaxSnapshots int      `yaml:"max_snapshots"`
	PreAction    bool     `yaml:"pre_action"`
	PostAction   bool     `yaml:"post_action"`
}

// RollbackPolicy says when the box goes back by itself.
type RollbackPolicy struct {
	MaxRetries      int      `yaml:"max_retries"`
	HealthThreshold int      `yaml:"health_threshold"`
	CooldownPeriod  Duration `yaml:"cooldown_period"`
	AutoRollback    bool     `yaml:"auto_rollback"`
}

// Defaults apply to every agent.
type Defaults struct {
	LLMEndpoints    []string       `yaml:"llm_endpoints"`
	SnapshotPolicy  SnapshotPolicy `yaml:"snapshot_policy"`
	RollbackPolicy  RollbackPolicy `yaml:"rollback_policy"`
	OpenclawEnabled bool           `yaml:"openclaw_enabled"`
	// Image is accepted from old files and has no effect.
	Image string `yaml:"image,omitempty"`
}

// ExtraAgent is an agent beside main.
type ExtraAgent struct {
	ID            string     `yaml:"id"`
	Providers     []Provider `yaml:"providers"`
	MaxToolRounds int        `yaml:"max_tool_rounds"`
}

// Config is config.yaml with its defaults filled in.
type Config struct {
	Daemon    Daemon       `yaml:"daemon"`
	Agent     Agent        `yaml:"agent"`
	Providers []Provider   `yaml:"providers"`
	Memory    Memory       `yaml:"memory"`
	Defaults  Defaults     `yaml:"defaults"`
	Agents    []ExtraAgent `yaml:"agents"`
	// ModelsDir holds the weights of the speech engines; "" searches the usual places.
	ModelsDir string `yaml:"models_dir"`
	// Home is the section `home`; nil where there is none.
	Home *yaml.Node `yaml:"-"`
	// Plugins are the sections of plugins by name.
	Plugins map[string]*yaml.Node `yaml:"-"`
}

// Default is the configuration of a box nobody has configured.
func Default() *Config {
	return &Config{
		Daemon: Daemon{
			ListenAddr:        ":8080",
			HeartbeatInterval: Duration(15 * time.Second),
			CheckInterval:     Duration(30 * time.Second),
			LogLevel:          "info",
		},
		Agent: Agent{MaxToolRounds: 10},
		Memory: Memory{
			Keep: 30, TidyInterval: Duration(30 * time.Minute), DistillInterval: Duration(10 * time.Minute),
			Batch: 50, RetentionDays: 7, ColdAfter: Duration(72 * time.Hour), ColdAccess: 2,
		},
		Defaults: Defaults{
			SnapshotPolicy:  SnapshotPolicy{Interval: Duration(10 * time.Minute), MaxSnapshots: 20, PreAction: true},
			RollbackPolicy:  RollbackPolicy{MaxRetries: 3, HealthThreshold: 3, CooldownPeriod: Duration(30 * time.Second), AutoRollback: true},
			OpenclawEnabled: true,
		},
		Plugins: map[string]*yaml.Node{},
	}
}
