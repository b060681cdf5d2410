package llm

import (
	"testing"

	"homeagent/agent/plugin"
	"homeagent/agent/plugin/plugintest"
)

func client(t *testing.T, c Config) *Client {
	t.Helper()
	made, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestConformance(t *testing.T) {
	plugintest.Conformance(t, func(t *testing.T) plugin.Plugin {
		return NewPlugin(client(t, Config{Kind: "deepseek"}))
	})
}

// Names are made of what makers call their models, and the real host takes them.
func TestOfferedNames(t *testing.T) {
	for _, row := range []struct {
		name    string
		configs []Config
		want    []string
	}{
		{"the default", []Config{{Kind: "deepseek"}}, []string{"deepseek/deepseek-flash"}},
		{"dots, colons, capitals, slashes", []Config{{Kind: "ollama", Model: "Qwen2.5:7b"}, {Kind: "openai", Model: "org/Model-v1.5@fp8"}},
			[]string{"ollama/Qwen2.5:7b", "openai/org/Model-v1.5@fp8"}},
		{"one model at two addresses", []Config{{Kind: "openai", BaseURL: "http://a/v1", Model: "m"}, {Kind: "openai", BaseURL: "http://b/v1", Model: "m"}},
			[]string{"openai/m", "openai/m#2"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var clients []*Client
			for _, c := range row.configs {
				clients = append(clients, client(t, c))
			}
			b := plugintest.New(t)
			b.MustStart(NewPlugin(clients...))
			for i, name := range row.want {
				got, ok := b.Host.Provider(name)
				if !ok || got != clients[i] {
					t.Errorf("%s is not offered", name)
				}
			}
		})
	}
}
