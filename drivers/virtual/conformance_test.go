package virtual_test

import (
	"strings"
	"testing"

	"homeagent/agent/home"
	"homeagent/agent/host"
	"homeagent/agent/plugin"
	"homeagent/agent/plugin/plugintest"
	"homeagent/agent/tool"
	"homeagent/drivers/virtual"
)

func TestConformance(t *testing.T) {
	plugintest.Suite{
		New:     func(*testing.T) plugin.Plugin { return virtual.New(virtual.Config{}) },
		Options: func(o *host.Options) { o.Home = home.Default() },
		Unplug: func(t *testing.T, p plugin.Plugin) {
			if err := p.(*virtual.Plugin).Unplug("kitchen_lamp"); err != nil {
				t.Fatal(err)
			}
		},
		Plug: func(t *testing.T, p plugin.Plugin) {
			if err := p.(*virtual.Plugin).Plug("kitchen_lamp"); err != nil {
				t.Fatal(err)
			}
		},
	}.Run(t)
}

// In the real host: the default household's lamp is switched by its own arguments.
func TestInHost(t *testing.T) {
	b := plugintest.New(t, func(o *host.Options) { o.Home = home.Default() })
	b.MustStart(virtual.New(virtual.Config{}))
	d, _ := home.Default().Device("living_room_lamp")
	args := map[string]any{"state": "on"}
	for k, v := range d.Args {
		args[k] = v
	}
	if r := b.Call(d.Tool, args); r.Status != tool.Done || r.Text != "The living room lamp (virtual) is now on." {
		t.Errorf("got %+v", r)
	}
	in := plugin.Input{Payload: "关掉客厅灯"}
	if r := b.CallFor(in, "virtual_set", map[string]string{"name": "客厅的灯", "state": "off"}); r.Status != tool.Done || !strings.Contains(r.Text, "客厅灯（虚拟）") {
		t.Errorf("got %+v", r)
	}
	if r := b.Call("virtual_set", map[string]string{"name": "moon", "state": "on"}); r.Status != tool.Failed || !strings.Contains(r.Text, "living_room_lamp") {
		t.Errorf("got %+v", r)
	}
}
