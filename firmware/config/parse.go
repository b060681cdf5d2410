package config

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// MaxSize bounds config.yaml, in bytes.
const MaxSize = 1 << 20

// PluginSections are the section names that belong to plugins.
var pluginSections = []string{
	"llm", "embed", "web", "voice", "audio", "camera", "gpio", "arm", "sensor", "virtual", "timer",
	"schedule", "onebot", "cmd", "agentcli", "files", "skill", "mcp", "lua", "homeassistant",
}

// Parse reads config.yaml. It always returns a usable configuration: a section
// that does not parse keeps its defaults. Each notice is one sentence that names
// the line, the key and what to do. An error is returned only with text that is
// no YAML mapping at all; the configuration is then Default.
func Parse(text []byte) (*Config, []string, error) {
	c := Default()
	if len(text) > MaxSize {
		return c, nil, fmt.Errorf("config: %d bytes, more than %d; is this the right file?", len(text), MaxSize)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return c, nil, fmt.Errorf("config: %s; mend that line, or move the file away to start with defaults", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if doc.Kind == 0 || (doc.Kind == yaml.DocumentNode && doc.Content[0].Tag == "!!null") {
		return c, nil, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return c, nil, errors.New("config: the file must hold sections such as `daemon:`; see the user guide for an example")
	}
	var notes []string
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, val := root.Content[i].Value, root.Content[i+1]
		if seen[key] {
			notes = append(notes, fmt.Sprintf("config line %d: section %s stands twice; the first counts", root.Content[i].Line, key))
			continue
		}
		seen[key] = true
		notes = append(notes, c.section(key, val, root.Content[i].Line)...)
	}
	notes = append(notes, c.limits()...)
	return c, notes, nil
}

func (c *Config) section(key string, val *yaml.Node, line int) []string {
	switch key {
	case "daemon":
		return decode(key, val, &c.Daemon)
	case "agent":
		return decode(key, val, &c.Agent)
	case "providers":
		return decode(key, val, &c.Providers)
	case "memory":
		return decode(key, val, &c.Memory)
	case "defaults":
		notes := decode(key, val, &c.Defaults)
		if c.Defaults.Image != "" {
			notes = append(notes, "config: defaults.image has no effect any more and can be removed")
		}
		return notes
	case "agents":
		return decode(key, val, &c.Agents)
	case "models_dir":
		return decode(key, val, &c.ModelsDir)
	case "home":
		c.Home = val
		return nil
	}
	if slices.Contains(pluginSections, key) {
		c.Plugins[key] = val
		return nil
	}
	known := append([]string{"daemon", "agent", "providers", "memory", "defaults", "agents", "models_dir", "home"}, pluginSections...)
	return []string{fmt.Sprintf("config line %d: unknown section %q is ignored%s", line, key, suggest(key, known))}
}

var fieldError = regexp.MustCompile(`^line (\d+): field (\S+) not found in type .*$`)

// decode fills dst from val. Unknown keys are named and ignored; a section with
// a value of the wrong form keeps what it had before.
func decode(name string, val *yaml.Node, dst any) []string {
	if val.Tag == "!!null" {
		return nil
	}
	text, err := yaml.Marshal(val)
	if err != nil {
		return []string{fmt.Sprintf("config line %d: section %s: %v; its defaults are used", val.Line, name, err)}
	}
	before := reflect.ValueOf(dst).Elem()
	keep := reflect.New(before.Type()).Elem()
	keep.Set(before)
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	err = dec.Decode(dst)
	if err == nil {
		return nil
	}
	var te *yaml.TypeError
	if !errors.As(err, &te) {
		before.Set(keep)
		return []string{fmt.Sprintf("config section %s (from line %d): %v; its defaults are used", name, val.Line, err)}
	}
	var notes []string
	broken := false
	for _, e := range te.Errors {
		if m := fieldError.FindStringSubmatch(e); m != nil {
			notes = append(notes, fmt.Sprintf("config section %s (from line %d): unknown key %q is ignored%s", name, val.Line, m[2], suggest(m[2], keysOf(before.Type()))))
			continue
		}
		broken = true
		notes = append(notes, fmt.Sprintf("config section %s (from line %d): %s; the section's defaults are used", name, val.Line, e))
	}
	if broken {
		before.Set(keep)
	}
	return notes
}

func keysOf(t reflect.Type) []string {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var keys []string
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			k, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
			keys = append(keys, k)
		}
	}
	return keys
}

// suggest names the known key nearest to a mistyped one, if any is near.
func suggest(got string, known []string) string {
	best, dist := "", 3
	for _, k := range known {
		if d := distance(got, k); d < dist {
			best, dist = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost = 1 + min(prev, row[j], row[j+1])
			}
			prev, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// limits puts values outside their range back to the default and says so.
func (c *Config) limits() []string {
	d := Default()
	var notes []string
	note := func(key string, got, def any) {
		notes = append(notes, fmt.Sprintf("config: %s is %v, outside its range; %v is used", key, got, def))
	}
	if c.Agent.MaxToolRounds < 1 || c.Agent.MaxToolRounds > 50 {
		note("agent.max_tool_rounds (1 to 50)", c.Agent.MaxToolRounds, d.Agent.MaxToolRounds)
		c.Agent.MaxToolRounds = d.Agent.MaxToolRounds
	}
	if c.Memory.Keep < 4 || c.Memory.Keep > 500 {
		note("memory.keep (4 to 500)", c.Memory.Keep, d.Memory.Keep)
		c.Memory.Keep = d.Memory.Keep
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Daemon.LogLevel) {
		note("daemon.log_level (debug, info, warn, error)", c.Daemon.LogLevel, d.Daemon.LogLevel)
		c.Daemon.LogLevel = d.Daemon.LogLevel
	}
	if _, port, err := net.SplitHostPort(c.Daemon.ListenAddr); err != nil || !validPort(port) {
		note("daemon.listen_addr (host:port or :port)", strconv.Quote(c.Daemon.ListenAddr), d.Daemon.ListenAddr)
		c.Daemon.ListenAddr = d.Daemon.ListenAddr
	}
	if c.Daemon.HeartbeatInterval == 0 {
		c.Daemon.HeartbeatInterval = d.Daemon.HeartbeatInterval
	}
	if c.Daemon.CheckInterval == 0 {
		c.Daemon.CheckInterval = d.Daemon.CheckInterval
	}
	kept := c.Providers[:0:0]
	for i, p := range c.Providers {
		if !slices.Contains([]string{"deepseek", "openai", "ollama"}, p.Kind) {
			notes = append(notes, fmt.Sprintf("config: providers entry %d has kind %q; it must be deepseek, openai or ollama, and is left out", i+1, p.Kind))
			continue
		}
		kept = append(kept, p)
	}
	c.Providers = kept
	return notes
}

func validPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && n <= 65535
}
