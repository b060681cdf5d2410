package llm

import (
	"net/http/httptest"
	"testing"

	"homeagent/agent/provider"
	"homeagent/agent/provider/providertest"
	"homeagent/tools/fakellm"
)

func TestProviderConformance(t *testing.T) {
	providertest.Conformance(t, func(t *testing.T) provider.Provider {
		srv := httptest.NewServer(fakellm.New(fakellm.Say("It is nine o'clock. 现在九点。")))
		t.Cleanup(srv.Close)
		c, err := New(Config{Kind: "openai", BaseURL: srv.URL, Model: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	})
}
