package virtual

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"homeagent/agent/plugin"
	"homeagent/agent/tool"
)

// offer is a tool with its handler.
type offer struct {
	def     tool.Def
	handler tool.Handler
}

// tools builds the definitions; they change only with the list of devices, so
// that the prompt stays the same from turn to turn.
func (p *Plugin) tools(names []string) []offer {
	known := "There are none."
	if len(names) > 0 {
		known = "Devices: " + brief(names) + "."
	}
	return []offer{
		{tool.Def{
			Name:        setTool,
			Description: "Switches a virtual (simulated) lamp or switch on or off. " + known,
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"name":{"type":"string","description":"the device's name"},` +
				`"state":{"type":"string","enum":["on","off"]}},` +
				`"required":["name","state"],"additionalProperties":false}`),
			Risk:    tool.Act,
			Touches: tool.None,
		}, p.set},
		{tool.Def{
			Name:        listTool,
			Description: "Lists the virtual (simulated) lamps and switches and whether each is on or off.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
			Risk:        tool.Read,
			Touches:     tool.None,
		}, p.list},
	}
}

// mostNamed bounds the names in a description, which costs every request.
const mostNamed = 400

// brief joins names up to that length.
func brief(names []string) string {
	out := names[0]
	for i, n := range names[1:] {
		if len(out)+len(n) > mostNamed {
			return fmt.Sprintf("%s and %d more (see %s)", out, len(names)-1-i, listTool)
		}
		out += ", " + n
	}
	return out
}

// errStopped is a call that came after Stop.
var errStopped = errors.New("the virtual devices are not running; try again in a moment")

// set is virtual_set. The state is stored before it counts, so that a power cut
// finds the lamp as it was last said to be.
func (p *Plugin) set(ctx context.Context, call tool.Call) (tool.Result, error) {
	var args struct{ Name, State string }
	if err := plugin.DecodeArgs(call.Args, &args); err != nil {
		return tool.Result{}, err
	}
	zh := plugin.AskerLang(ctx) == "zh"
	if args.State != "on" && args.State != "off" {
		if zh {
			return tool.Result{}, fmt.Errorf("状态 %q 无效，请用 on 或 off", args.State)
		}
		return tool.Result{}, fmt.Errorf("state %q is neither on nor off", args.State)
	}
	p.mu.Lock()
	api, d := p.api, p.find(args.Name)
	if api == nil {
		p.mu.Unlock()
		return tool.Result{}, errStopped
	}
	if d == nil {
		err := p.unknown(args.Name, zh)
		p.mu.Unlock()
		return tool.Result{}, err
	}
	name, called := d.Name, d.called(plugin.AskerLang(ctx))
	if d.absent {
		p.mu.Unlock()
		if zh {
			return tool.Result{}, fmt.Errorf("%s（虚拟设备）已拔出，插回后再试", called)
		}
		return tool.Result{}, fmt.Errorf("the %s (virtual) is unplugged; plug it in and try again", called)
	}
	on := args.State == "on"
	changed := d.on != on
	if changed {
		if err := api.Store().Put(storePrefix+name, []byte(args.State)); err != nil {
			p.mu.Unlock()
			return tool.Result{}, fmt.Errorf("keep the state of %s: %w", name, err)
		}
		d.on = on
	}
	p.mu.Unlock()
	if changed {
		publish(api, name, args.State)
	}
	return tool.Result{Text: said(called, on, zh)}, nil
}

// list is virtual_list.
func (p *Plugin) list(ctx context.Context, call tool.Call) (tool.Result, error) {
	if err := plugin.DecodeArgs(call.Args, &struct{}{}); err != nil {
		return tool.Result{}, err
	}
	zh := plugin.AskerLang(ctx) == "zh"
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.api == nil {
		return tool.Result{}, errStopped
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(p.devices)) {
		d := p.devices[name]
		state := word(d.on, zh)
		switch {
		case d.absent && zh:
			state = "已拔出"
		case d.absent:
			state = "unplugged"
		}
		line := name + ": " + state
		if d.Kind != "" {
			line = name + " (" + d.Kind + "): " + state
		}
		lines = append(lines, line)
	}
	switch {
	case len(lines) > 0 && zh:
		return tool.Result{Text: "虚拟设备：\n" + strings.Join(lines, "\n")}, nil
	case len(lines) > 0:
		return tool.Result{Text: "Virtual devices:\n" + strings.Join(lines, "\n")}, nil
	case zh:
		return tool.Result{Text: "没有虚拟设备。可以在 config.yaml 的 virtual.devices 里添加。"}, nil
	}
	return tool.Result{Text: "There are no virtual devices. Add some to virtual.devices in config.yaml."}, nil
}

// unknown says which devices exist. The caller holds mu.
func (p *Plugin) unknown(name string, zh bool) error {
	names := strings.Join(p.names(), ", ")
	switch {
	case names == "" && zh:
		return fmt.Errorf("没有虚拟设备 %q；请先在 config.yaml 的 virtual.devices 里添加", name)
	case names == "":
		return fmt.Errorf("there is no virtual device %q, nor any other; add it to virtual.devices in config.yaml", name)
	case zh:
		return fmt.Errorf("没有虚拟设备 %q；现有：%s", name, names)
	}
	return fmt.Errorf("there is no virtual device %q; there are: %s", name, names)
}

// said is what a switch answers.
func said(called string, on, zh bool) string {
	if zh {
		return fmt.Sprintf("%s（虚拟）现在是%s的。", called, word(on, true))
	}
	return fmt.Sprintf("The %s (virtual) is now %s.", called, word(on, false))
}

// word is a state for people.
func word(on, zh bool) string {
	switch {
	case zh && on:
		return "开"
	case zh:
		return "关"
	case on:
		return "on"
	}
	return "off"
}
