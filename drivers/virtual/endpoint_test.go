package virtual

import (
	"errors"
	"strings"
	"testing"

	"homeagent/agent/home"
	"homeagent/agent/host"
	"homeagent/agent/plugin"
	"homeagent/agent/plugin/plugintest"
)

func TestEndpoint(t *testing.T) {
	b := plugintest.New(t, func(o *host.Options) { o.Home = home.Default() })
	b.MustStart(New(Config{}))
	tests := []struct {
		name, method, path string
		status             int
		want               string
	}{
		{"list", "GET", "", 0, `"name":"kitchen_lamp","kind":"lamp","on":false,"present":true`},
		{"unplug", "POST", "kitchen_lamp/unplug", 0, `"name":"kitchen_lamp","kind":"lamp","on":false,"present":false`},
		{"plug", "POST", "kitchen_lamp/plug", 0, `"name":"kitchen_lamp","kind":"lamp","on":false,"present":true`},
		{"unknown device", "POST", "moon/unplug", 404, "moon"},
		{"unknown verb", "POST", "kitchen_lamp/burn", 405, "unplug"},
		{"wrong method", "DELETE", "kitchen_lamp", 405, "unplug"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := b.Request("virtual", tt.method, tt.path, nil)
			var f *plugin.Fault
			switch {
			case tt.status == 0 && (got.Err != nil || !strings.Contains(string(got.Body), tt.want)):
				t.Errorf("got %s, %v; want %s", got.Body, got.Err, tt.want)
			case tt.status != 0 && (!errors.As(got.Err, &f) || f.Status != tt.status || !strings.Contains(f.Title, tt.want)):
				t.Errorf("got %v, want %d with %q", got.Err, tt.status, tt.want)
			}
		})
	}
}
