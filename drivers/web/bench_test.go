package web_test

import (
	"context"
	"testing"

	"homeagent/agent/plugin"
	"homeagent/drivers/web/client"
)

// BenchmarkChat is what door, link and plugin add to a turn: from sending a
// text over the unix socket to the answer read whole, the mind taking no time.
func BenchmarkChat(b *testing.B) {
	h := open(b)
	h.api.inject = func(in plugin.Input) { h.api.send(in, "yes", true) }
	c := client.Unix(h.socket, "en")
	defer c.Close()
	for b.Loop() {
		if err := c.Do(context.Background(), "POST", "chat", map[string]string{"text": "hi"}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
