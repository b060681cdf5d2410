package config

import (
	"errors"
	"maps"
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"homeagent/firmware/words"
)

// MaxSize bounds config.yaml, in bytes.
const MaxSize = 1 << 20

// pluginSections are the section names that belong to plugins.
var pluginSections = []string{
	"llm", "embed", "web", "voice", "audio", "camera", "gpio", "arm", "sensor", "virtual", "timer",
	"schedule", "onebot", "cmd", "agentcli", "files", "skill", "mcp", "lua", "homeassistant",
}

// Parse reads config.yaml. It always returns a usable configuration: a section
// that does not parse keeps its defaults. Each notice is one sentence that names
// the line, the key and what to do. An error, a *words.Error, is returned only
// with text that is no YAML mapping at all; the configuration is then Default.
func Parse(text []byte) (*Config, []Notice, error) {
	c := Default()
	if len(text) > MaxSize {
		return c, nil, words.Errorf("config.yaml 有 %d 字节，超过上限 %d；请检查是不是拿错了文件",
			"config: %d bytes, more than %d; is this the right file?", len(text), MaxSize)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return c, nil, syntaxError(err)
	}
	if doc.Kind == 0 || (doc.Kind == yaml.DocumentNode && doc.Content[0].Tag == "!!null") {
		return c, nil, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return c, nil, noSections()
	}
	var notes []Notice
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, val := root.Content[i], root.Content[i+1]
		if seen[key.Value] {
			notes = append(notes, notice(key.Line, "段 %[2]s 出现了两次，只有第一个有效；请把第二个删掉或并入第一个",
				"section %[2]s stands twice; the first counts, move what you need into it and remove the second", key.Value))
			continue
		}
		seen[key.Value] = true
		notes = append(notes, c.section(key, val)...)
	}
	notes = append(notes, c.limits(root)...)
	return c, bounded(notes), nil
}

func syntaxError(err error) *words.Error {
	why := strings.TrimPrefix(err.Error(), "yaml: ")
	e := words.Errorf("config.yaml 读不懂（%s）；请改正那一行，或把文件移走，用默认值启动",
		"config: %s; mend that line, or move the file away to start with defaults", why)
	e.Err = err
	return e
}

func noSections() *words.Error {
	return words.Errorf("config.yaml 里应当是一个个段，例如 `daemon:`；示例见用户手册",
		"config: the file must hold sections such as `daemon:`; see the user guide for an example")
}

func (c *Config) section(name, val *yaml.Node) []Notice {
	key := name.Value
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
			notes = append(notes, notice(lineOf(val, "image"), "defaults.image 已经不起作用，可以删掉",
				"defaults.image has no effect any more and can be removed"))
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
	return []Notice{notice(name.Line, "不认识段 %[2]q，已忽略；%[3]s", "unknown section %[2]q is ignored; %[3]s", key, suggest(key, known))}
}

// decode fills dst from val. Unknown keys are named and ignored; a section with
// a value of the wrong form keeps what it had before.
func decode(name string, val *yaml.Node, dst any) []Notice {
	if val.Tag == "!!null" {
		return nil
	}
	section := reflect.ValueOf(dst).Elem()
	keep := reflect.New(section.Type()).Elem()
	keep.Set(section)
	notes := unknown(name, val, section.Type(), map[*yaml.Node]bool{})
	err := val.Decode(dst)
	if err == nil {
		return notes
	}
	section.Set(keep)
	reasons := []words.Text{}
	lines := []int{}
	var te *yaml.TypeError
	var bad *durationError
	switch {
	case errors.As(err, &te):
		for _, e := range te.Errors[:min(len(te.Errors), maxNotices)] {
			line, why := typeFault(val, e)
			lines, reasons = append(lines, line), append(reasons, why)
		}
	case errors.As(err, &bad):
		lines, reasons = append(lines, bad.line), append(reasons, bad.Text)
	default:
		why := strings.TrimPrefix(err.Error(), "yaml: ")
		lines, reasons = append(lines, val.Line), append(reasons, words.Text{ZH: why, EN: why})
	}
	for i, why := range reasons {
		notes = append(notes, notice(lines[i], "段 %[2]s：%[3]s；改正之前，这一段用默认值",
			"section %[2]s: %[3]s; until it is mended the section's defaults are used", name, why))
	}
	return notes
}

// unknown names the keys of val that t does not have, and where they stand.
// A node is looked at once, however many aliases lead to it.
func unknown(name string, val *yaml.Node, t reflect.Type, seen map[*yaml.Node]bool) []Notice {
	if val.Kind == yaml.AliasNode {
		val = val.Alias
	}
	if val == nil || seen[val] {
		return nil
	}
	seen[val] = true
	var notes []Notice
	switch {
	case val.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, item := range val.Content {
			notes = append(notes, unknown(name, item, t.Elem(), seen)...)
		}
	case val.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		fields := fieldsOf(t)
		for i := 0; i+1 < len(val.Content); i += 2 {
			key := val.Content[i]
			if field, ok := fields[key.Value]; ok {
				notes = append(notes, unknown(name, val.Content[i+1], field, seen)...)
			} else if key.Value != "<<" { // a merge names no key
				notes = append(notes, notice(key.Line, "段 %[2]s：不认识键 %[3]q，已忽略；%[4]s",
					"section %[2]s: unknown key %[3]q is ignored; %[4]s", name, key.Value, suggest(key.Value, slices.Sorted(maps.Keys(fields)))))
			}
		}
	}
	return notes
}

// fieldsOf are a struct's keys in YAML with the types of their values.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		k, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		fields[k] = t.Field(i).Type
	}
	return fields
}

// suggest says what to do about a mistyped key: it names the known one that is
// near, if any is.
func suggest(got string, known []string) words.Text {
	best := words.Nearest(got, known)
	if best == "" {
		return words.Text{ZH: "请检查拼写，或把它删掉", EN: "check its spelling or remove it"}
	}
	return words.Format("是不是想写 %q？", "did you mean %q?", best)
}

// limits puts values outside their range back to the default and says so.
func (c *Config) limits(root *yaml.Node) []Notice {
	d := Default()
	var notes []Notice
	note := func(section, key string, limit words.Text, got, def any) {
		_, val := get(root, section)
		notes = append(notes, notice(lineOf(val, key), "%[2]s.%[3]s 的值 %[4]v 不行，改用 %[6]v；可以写%[5]s",
			"%[2]s.%[3]s is %[4]v, outside its range; %[6]v is used. Write %[5]s", section, key, got, limit, def))
	}
	between := func(low, high int) words.Text {
		return words.Format(" %d 到 %d", "%d to %d", low, high)
	}
	if c.Agent.MaxToolRounds < 1 || c.Agent.MaxToolRounds > 50 {
		note("agent", "max_tool_rounds", between(1, 50), c.Agent.MaxToolRounds, d.Agent.MaxToolRounds)
		c.Agent.MaxToolRounds = d.Agent.MaxToolRounds
	}
	if c.Memory.Keep < 4 || c.Memory.Keep > 500 {
		note("memory", "keep", between(4, 500), c.Memory.Keep, d.Memory.Keep)
		c.Memory.Keep = d.Memory.Keep
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Daemon.LogLevel) {
		note("daemon", "log_level", words.Text{ZH: " debug、info、warn 或 error", EN: "debug, info, warn or error"},
			strconv.Quote(c.Daemon.LogLevel), d.Daemon.LogLevel)
		c.Daemon.LogLevel = d.Daemon.LogLevel
	}
	if _, port, err := net.SplitHostPort(c.Daemon.ListenAddr); err != nil || !validPort(port) {
		note("daemon", "listen_addr", words.Text{ZH: "“主机:端口”或“:端口”", EN: "host:port or :port"},
			strconv.Quote(c.Daemon.ListenAddr), d.Daemon.ListenAddr)
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
			_, val := get(root, "providers")
			notes = append(notes, notice(itemLine(val, i), "providers 第 %[2]d 项的 kind 是 %[3]q，已略过；请改成 deepseek、openai 或 ollama",
				"providers entry %[2]d has kind %[3]q and is left out; make it deepseek, openai or ollama", i+1, p.Kind))
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
