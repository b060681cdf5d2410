package config

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPatch(t *testing.T) {
	tests := []struct{ name, text, patch, want, err string }{
		{name: "new section", patch: `{"daemon":{"log_level":"debug"}}`, want: "daemon:\n  log_level: debug\n"},
		{name: "comments stay", text: "# mine\ndaemon:\n  log_level: info # loud\n", patch: `{"agent":{"max_tool_rounds":3}}`,
			want: "# mine\ndaemon:\n  log_level: info # loud\nagent:\n  max_tool_rounds: 3\n"},
		{name: "null removes", text: "agent:\n  max_tool_rounds: 3\nvoice:\n  language: zh\n", patch: `{"agent":null}`, want: "voice:\n  language: zh\n"},
		{name: "a string that looks like a number stays one", patch: `{"voice":{"x":"12"}}`, want: "voice:\n  x: \"12\"\n"},
		{name: "a list replaces", text: "providers:\n  - kind: ollama\n", patch: `{"providers":[]}`, want: "providers: []\n"},
		{name: "no object", patch: `[1]`, err: "JSON object"},
		{name: "no JSON", patch: `daemon: {}`, err: "JSON object"},
		{name: "broken file", text: "a: [", patch: `{}`, err: "config"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Patch([]byte(tt.text), json.RawMessage(tt.patch))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestSetProvider(t *testing.T) {
	text := []byte("# the house\nproviders:\n  - {kind: openai, base_url: http://a/v1}\n  - {kind: deepseek, key: old}\n")
	text, err := SetProvider(text, Provider{Kind: "deepseek", Key: "deepseek"})
	if err != nil {
		t.Fatal(err)
	}
	c, notes, err := Parse(text)
	if err != nil || len(notes) > 0 || len(c.Providers) != 2 || c.Providers[0].Key != "deepseek" || c.Providers[1].Kind != "openai" || !strings.HasPrefix(string(text), "# the house") {
		t.Errorf("%s\n%+v %v %v", text, c.Providers, notes, err)
	}
}

func TestViewHidesKeys(t *testing.T) {
	v, err := View([]byte("providers:\n  - {kind: deepseek, key: deepseek}\n  - {kind: openai, key: sk-123}\nonebot: {access_token: abc}\n"), []string{"deepseek"})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"sk-123", "abc"} {
		if strings.Contains(string(v), secret) {
			t.Errorf("%s shows %s", v, secret)
		}
	}
	if !strings.Contains(string(v), `"key":"deepseek"`) {
		t.Errorf("the name of a secret is hidden: %s", v)
	}
	if v, err := View(nil, nil); err != nil || string(v) != "{}" {
		t.Errorf("empty: %s %v", v, err)
	}
}
