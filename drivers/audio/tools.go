package audio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"homeagent/agent/plugin"
	"homeagent/agent/tool"
)

// offer is a tool with its handler.
type offer struct {
	def     tool.Def
	handler tool.Handler
}

// tools are the definitions; they never change.
func (p *Plugin) tools() []offer {
	return []offer{
		{tool.Def{
			Name:        "volume_set",
			Description: "Sets the speaker's volume in percent; 0 is silent.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"percent":{"type":"number","minimum":0,"maximum":100}},"required":["percent"],"additionalProperties":false}`),
			Risk:    tool.Act,
			Touches: tool.None,
		}, p.volumeSet},
		{tool.Def{
			Name:        "volume_change",
			Description: "Makes the speaker louder (positive) or softer (negative) by a number of percent; 10 is one step.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"delta":{"type":"number","minimum":-100,"maximum":100}},"required":["delta"],"additionalProperties":false}`),
			Risk:    tool.Act,
			Touches: tool.None,
		}, p.volumeChange},
	}
}

// errStopped is a call that came after Stop.
var errStopped = errors.New("sound is not running; try again in a moment")

// volumeSet is volume_set.
func (p *Plugin) volumeSet(ctx context.Context, call tool.Call) (tool.Result, error) {
	var args struct{ Percent *float64 }
	if err := plugin.DecodeArgs(call.Args, &args); err != nil {
		return tool.Result{}, err
	}
	if args.Percent == nil || *args.Percent < 0 || *args.Percent > 100 {
		if plugin.AskerLang(ctx) == "zh" {
			return tool.Result{}, errors.New("音量要在 0 到 100 之间")
		}
		return tool.Result{}, errors.New("the volume must be between 0 and 100")
	}
	return p.said(ctx, p.gain.Set(int(math.Round(*args.Percent))))
}

// volumeChange is volume_change.
func (p *Plugin) volumeChange(ctx context.Context, call tool.Call) (tool.Result, error) {
	var args struct{ Delta *float64 }
	if err := plugin.DecodeArgs(call.Args, &args); err != nil {
		return tool.Result{}, err
	}
	if args.Delta == nil || *args.Delta < -100 || *args.Delta > 100 {
		if plugin.AskerLang(ctx) == "zh" {
			return tool.Result{}, errors.New("音量的变化要在 -100 到 100 之间")
		}
		return tool.Result{}, errors.New("the change must be between -100 and 100")
	}
	return p.said(ctx, p.gain.Change(int(math.Round(*args.Delta))))
}

// said keeps the volume and tells it.
func (p *Plugin) said(ctx context.Context, percent int) (tool.Result, error) {
	if err := p.keep(); err != nil {
		return tool.Result{}, err
	}
	if plugin.AskerLang(ctx) == "zh" {
		return tool.Result{Text: fmt.Sprintf("音量现在是百分之%d。", percent)}, nil
	}
	return tool.Result{Text: fmt.Sprintf("The volume is now %d percent.", percent)}, nil
}
