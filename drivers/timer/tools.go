package timer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
			Name: "timer_set",
			Description: "Sets a one-shot timer or reminder that rings after a number of seconds. " +
				"The label is what it is for and is said when it rings.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"seconds":{"type":"number","minimum":1,"maximum":604800,"description":"from now"},` +
				`"label":{"type":"string","description":"what for, in the user's words; may be empty"}},` +
				`"required":["seconds"],"additionalProperties":false}`),
			Risk:    tool.Act,
			Touches: tool.None,
		}, p.set},
		{tool.Def{
			Name:        "timer_list",
			Description: "Lists the timers and reminders that are set, with their ids and the time left.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
			Risk:        tool.Read,
			Touches:     tool.None,
		}, p.list},
		{tool.Def{
			Name:        "timer_cancel",
			Description: "Cancels one timer by its id or label, or all timers when neither is given. Also ends its ringing.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"id":{"type":"string","description":"id or label; empty for all"},` +
				`"label":{"type":"string"}},"additionalProperties":false}`),
			Risk:    tool.Act,
			Touches: tool.None,
		}, p.cancel},
	}
}

// errStopped is a call that came after Stop.
var errStopped = errors.New("timers are not running; try again in a moment")

// set is timer_set. A timer counts once it is stored.
func (p *Plugin) set(ctx context.Context, call tool.Call) (tool.Result, error) {
	var args struct {
		Seconds *float64
		Label   string
	}
	if err := plugin.DecodeArgs(call.Args, &args); err != nil {
		return tool.Result{}, err
	}
	in, l := asker(ctx, args.Label)
	zh := l == "zh"
	if args.Seconds == nil || *args.Seconds < minSeconds || *args.Seconds > maxSeconds {
		if zh {
			return tool.Result{}, errors.New("时间要在 1 秒到 7 天之间（1 至 604800 秒）")
		}
		return tool.Result{}, errors.New("the time must be between 1 second and 7 days (1 to 604800 seconds)")
	}
	label, err := cleanLabel(args.Label)
	if err != nil {
		return tool.Result{}, err
	}
	e := &entry{Label: label, Seconds: *args.Seconds, Channel: in.Channel, User: in.UserID, Lang: l}

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.api == nil {
		return tool.Result{}, errStopped
	}
	if len(p.timers) >= maxTimers {
		if zh {
			return tool.Result{}, fmt.Errorf("已经有 %d 个定时器了，请先取消一些", maxTimers)
		}
		return tool.Result{}, fmt.Errorf("there are already %d timers; cancel some first", maxTimers)
	}
	p.compare()
	e.ID = strconv.Itoa(p.lastID + 1)
	e.Set, e.Due, e.at = p.wall, p.wall.Add(e.length()), p.now.Add(e.length())
	if err := e.save(p.api.Store()); err != nil {
		return tool.Result{}, fmt.Errorf("keep the timer: %w", err)
	}
	p.lastID++
	p.timers = append(p.timers, e)
	p.wake()
	return tool.Result{Text: setText(e, zh)}, nil
}

// list is timer_list.
func (p *Plugin) list(ctx context.Context, call tool.Call) (tool.Result, error) {
	if err := plugin.DecodeArgs(call.Args, &struct{}{}); err != nil {
		return tool.Result{}, err
	}
	_, l := asker(ctx, "")
	zh := l == "zh"
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.api == nil {
		return tool.Result{}, errStopped
	}
	if len(p.timers) == 0 {
		return tool.Result{Text: none(zh)}, nil
	}
	now := p.clock.Now()
	var lines []string
	for _, e := range slices.SortedFunc(slices.Values(p.timers), byDue) {
		lines = append(lines, listLine(e, now, zh))
	}
	return tool.Result{Text: strings.Join(lines, "\n")}, nil
}

// cancel is timer_cancel.
func (p *Plugin) cancel(ctx context.Context, call tool.Call) (tool.Result, error) {
	var args struct{ ID, Label string }
	if err := plugin.DecodeArgs(call.Args, &args); err != nil {
		return tool.Result{}, err
	}
	_, l := asker(ctx, args.Label+args.ID)
	zh := l == "zh"
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.api == nil {
		return tool.Result{}, errStopped
	}
	all := args.ID == "" && args.Label == ""
	gone := slices.Clone(p.timers)
	if !all {
		gone = slices.DeleteFunc(gone, func(e *entry) bool { return !e.matches(args.ID, args.Label) })
	}
	switch {
	case len(gone) == 0 && (all || len(p.timers) == 0):
		return tool.Result{Text: none(zh)}, nil
	case len(gone) == 0:
		return tool.Result{}, p.unknown(args.ID+args.Label, zh)
	}
	var names []string
	for _, e := range gone {
		if err := p.api.Store().Delete(storePrefix + e.ID); err != nil {
			return tool.Result{}, fmt.Errorf("cancel timer %s: %w", e.ID, err)
		}
		names = append(names, named(e, zh))
		if e.ringing {
			p.silence(e) // its ring drops it from the list
		} else {
			p.drop(e)
		}
	}
	if zh {
		return tool.Result{Text: "已取消：" + strings.Join(names, "、") + "。"}, nil
	}
	return tool.Result{Text: "Cancelled: " + strings.Join(names, ", ") + "."}, nil
}

// matches reports whether a call means this timer. An id that is a label counts
// as one, since people and models mix them up.
func (e *entry) matches(id, label string) bool {
	fold := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }
	if id != "" && e.ID != id && (e.Label == "" || fold(e.Label) != fold(id)) {
		return false
	}
	return label == "" || fold(e.Label) == fold(label)
}

// unknown says which timers exist. The caller holds mu.
func (p *Plugin) unknown(what string, zh bool) error {
	var names []string
	for _, e := range slices.SortedFunc(slices.Values(p.timers), byDue) {
		names = append(names, named(e, zh))
	}
	if zh {
		return fmt.Errorf("没有定时器 %q；现有：%s", what, strings.Join(names, "、"))
	}
	return fmt.Errorf("there is no timer %q; there are: %s", what, strings.Join(names, ", "))
}

// none says that there are no timers.
func none(zh bool) string {
	if zh {
		return "现在没有定时器。"
	}
	return "No timer is set."
}

// asker is the input that a call belongs to, and the language to answer in:
// the input's, or by its words, or by the arguments' words, else Chinese.
func asker(ctx context.Context, words string) (plugin.Input, string) {
	in, _ := plugin.InputFrom(ctx)
	for _, l := range []string{in.Lang, plugin.LangOf(in.Payload), plugin.LangOf(words)} {
		if l != "" {
			return in, l
		}
	}
	return in, "zh"
}
