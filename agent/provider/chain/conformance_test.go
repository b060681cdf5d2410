package chain

import (
	"testing"

	"homeagent/agent/intent"
	"homeagent/agent/provider"
	"homeagent/agent/provider/offline"
	"homeagent/agent/provider/providertest"
)

func TestConformance(t *testing.T) {
	commands, err := intent.Default(nil)
	if err != nil {
		t.Fatal(err)
	}
	providertest.Conformance(t, func(*testing.T) provider.Provider {
		return New(Options{}, offline.New(offline.Options{Intents: commands}))
	})
}
