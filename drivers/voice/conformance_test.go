package voice

import (
	"testing"

	"homeagent/agent/home"
	"homeagent/agent/host"
	"homeagent/agent/plugin"
	"homeagent/agent/plugin/plugintest"
	"homeagent/drivers/voice/speech"
)

// In the real host, without any device: the plugin runs, deaf, and stops.
func TestPluginConformance(t *testing.T) {
	plugintest.Suite{
		New: func(*testing.T) plugin.Plugin {
			return New(Options{
				Wake: &fakeWake{}, Endpointing: &fakeEndpointing{}, English: &fakeRecognizer{name: "local", langs: []string{"en"}},
				Synthesizers: []speech.Synthesizer{&fakeSynthesizer{name: "hum"}},
			})
		},
		Options: func(o *host.Options) { o.Home = home.Default() },
	}.Run(t)
}
