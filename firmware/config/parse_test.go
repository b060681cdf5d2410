package config

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name  string
		text  string
		err   string   // part of the error, "" for none
		notes []string // a part of each notice, in order
		check func(*Config) bool
	}{
		{name: "empty is defaults", check: func(c *Config) bool { return c.Daemon.ListenAddr == ":8080" && c.Agent.MaxToolRounds == 10 }},
		{name: "comments only", text: "# nothing\n"},
		{name: "values", text: "daemon:\n  listen_addr: \"127.0.0.1:1\"\n  check_interval: 5s\nmemory: {keep: 12}\n",
			check: func(c *Config) bool {
				return c.Daemon.ListenAddr == "127.0.0.1:1" && c.Daemon.CheckInterval.Std() == 5*time.Second && c.Memory.Keep == 12 && c.Memory.Batch == 50
			}},
		{name: "unknown key is named and the rest counts", text: "daemon:\n  listen_adr: x\n  log_level: debug\n",
			notes: []string{`unknown key "listen_adr" is ignored; did you mean "listen_addr"?`},
			check: func(c *Config) bool { return c.Daemon.LogLevel == "debug" }},
		{name: "unknown section", text: "deamon: {}\n", notes: []string{`line 1: unknown section "deamon" is ignored; did you mean "daemon"?`}},
		{name: "section twice is told by the parser", text: "agent: {max_tool_rounds: 3}\nagent: {max_tool_rounds: 4}\n", notes: []string{"stands twice"},
			check: func(c *Config) bool { return c.Agent.MaxToolRounds == 3 }},
		{name: "bad duration keeps the section's defaults", text: "daemon:\n  log_level: debug\n  check_interval: soon\n",
			notes: []string{"no duration"}, check: func(c *Config) bool { return c.Daemon.CheckInterval.Std() == 30*time.Second }},
		{name: "wrong type keeps the section's defaults", text: "agent:\n  max_tool_rounds: many\n",
			notes: []string{"defaults are used"}, check: func(c *Config) bool { return c.Agent.MaxToolRounds == 10 }},
		{name: "out of range", text: "agent: {max_tool_rounds: 0}\n", notes: []string{"outside its range; 10 is used"}},
		{name: "bad address", text: "daemon: {listen_addr: nowhere}\n", notes: []string{"listen_addr"}, check: func(c *Config) bool { return c.Daemon.ListenAddr == ":8080" }},
		{name: "old image key", text: "defaults: {image: x}\n", notes: []string{"no effect"}},
		{name: "unknown provider", text: "providers: [{kind: oracle}, {kind: ollama}]\n", notes: []string{`kind "oracle"`},
			check: func(c *Config) bool { return len(c.Providers) == 1 && c.Providers[0].Kind == "ollama" }},
		{name: "plugin sections are kept", text: "voice: {language: zh}\nhome: {rooms: []}\n",
			check: func(c *Config) bool { return c.Plugins["voice"] != nil && c.Home != nil }},
		{name: "a list is no configuration", text: "- a\n", err: "must hold sections"},
		{name: "broken yaml names its line", text: "daemon:\n  a: [\n", err: "line"},
		{name: "binary", text: "\x00\x01\x02", err: "config:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, notes, err := Parse([]byte(tt.text))
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if len(notes) != len(tt.notes) {
				t.Fatalf("notices %v, want %q", notes, tt.notes)
			}
			for i, n := range tt.notes {
				if !strings.Contains(notes[i].EN, n) {
					t.Errorf("notice %q lacks %q", notes[i].EN, n)
				}
			}
			if tt.check != nil && !tt.check(c) {
				t.Errorf("unexpected configuration %+v", c)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "daemon: {listen_addr: ':1'}", "agent:\n  max_tool_rounds: 3\nvoice: {a: &x [*x]}", "a: b: c", "\xff", "providers: [{kind: deepseek, key: deepseek}]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, _, _ := Parse(text)
		if c == nil || c.Agent.MaxToolRounds < 1 || c.Memory.Keep < 4 || c.Daemon.ListenAddr == "" {
			t.Fatalf("not usable: %+v", c)
		}
	})
}
