package mind

import (
	"context"
	"fmt"
	"time"

	"homeagent/agent/host"
	"homeagent/agent/plugin"
	"homeagent/agent/queue"
	"homeagent/agent/tool"
)

// trackerTimeout bounds one call of the tracker.
const trackerTimeout = 30 * time.Second

// call brings one call to its result and takes that into the context. A call
// that an interrupted start has begun is not run again. unsafe is set where the
// round could not be written down: then nothing may act.
func (t *turn) call(c tool.Call, unsafe bool) (tool.Result, *ending) {
	known := t.entry.Calls[c.ID]
	switch {
	case known.Result != nil:
		eff := c
		if known.Begun != nil {
			eff = *known.Begun
		}
		r, ended := *known.Result, (*ending)(nil)
		if known.Raw {
			r, ended = t.after(eff, r)
			t.noteEnd(r, false)
			t.callEvent(eff, r)
		}
		t.result(eff, r)
		t.resent(eff, r)
		return r, ended
	case known.Begun != nil:
		r := tool.Result{CallID: c.ID, Name: known.Begun.Name, Status: tool.Unknown,
			Text: "unknown: the agent was interrupted while this ran. It may have happened. Check before doing it again"}
		t.noteEnd(r, false)
		t.callEvent(*known.Begun, r)
		t.result(*known.Begun, r)
		return r, nil
	}
	eff, r, ended := t.execute(c, unsafe)
	t.callEvent(eff, r)
	t.result(eff, r)
	return r, ended
}

// execute is before_toolcall, check, tracker, run, tracker, after_toolcall. It
// returns the call as the handlers left it.
func (t *turn) execute(c tool.Call, unsafe bool) (tool.Call, tool.Result, *ending) {
	h := t.m.o.Host
	refuse := func(status tool.Status, format string, args ...any) tool.Result {
		r := tool.Result{CallID: c.ID, Name: c.Name, Status: status, Text: fmt.Sprintf(format, args...)}
		host.Tidy(&r)
		t.noteEnd(r, false)
		return r
	}
	sc := t.context(plugin.BeforeToolcall)
	sc.Call = c
	sc, ended := t.stage(sc)
	c.Name, c.Args = plainName(sc.Call.Name), validArgs(sc.Call.Args)
	t.step(StepBeforeCall)
	if ended != nil {
		// Not noted as ended: should the process die now, the stage decides again.
		return c, tool.Result{CallID: c.ID, Name: c.Name, Status: tool.NotRun, Text: "not run: the turn ended before its time came"}, ended
	}
	if sc.Deny {
		reason := sc.DenyReason
		if reason == "" {
			reason = "no reason was given"
		}
		return c, refuse(tool.Denied, "denied: %s", reason), nil
	}
	def, bad := h.Check(c)
	if bad != nil {
		return c, refuse(bad.Status, "%s", bad.Text), nil
	}
	if t.inner() && !own(def) {
		return c, refuse(tool.Denied, "denied: %s", innerText(t.in.Source, c.Name)), nil
	}
	acts := def.Risk != tool.Read
	if acts && unsafe {
		return c, refuse(tool.Failed, "not run: it could not be written down first, the disk is full or broken; the user should free some space and ask again"), nil
	}
	token, err := host.Do(t.ctx, h.Guard(), "tracker", trackerTimeout, 1, func(ctx context.Context) (string, error) {
		return t.m.o.Tracker.Pre(ctx, c, def)
	})
	t.step(StepTracked)
	if err != nil {
		return c, refuse(tool.Failed, "not run: what it changes could not be recorded (%v)", err), nil
	}
	var r tool.Result
	if err := t.noteBegin(c, acts); err != nil {
		r = refuse(tool.Failed, "not run: it could not be written down first (%v); the user should free some space and ask again", err)
	} else {
		t.step(StepBegun)
		r = h.RunTool(t.ctx, c)
		t.step(StepRan)
		t.noteEnd(r, h.HasStage(plugin.AfterToolcall))
	}
	t.step(StepEnded)
	err = host.Run(context.WithoutCancel(t.ctx), h.Guard(), "tracker", trackerTimeout, 1, func(ctx context.Context) error {
		return t.m.o.Tracker.Post(ctx, token, r)
	})
	if err != nil {
		t.m.report(t.in, "tracker_failed", fmt.Sprintf("what %s changed is not recorded: %v", c.Name, err))
	}
	t.step(StepPosted)
	if !h.HasStage(plugin.AfterToolcall) {
		t.step(StepAfterCall)
		return c, r, nil
	}
	r, ended = t.after(c, r)
	t.noteEnd(r, false)
	return c, r, ended
}

// after shows a result to after_toolcall.
func (t *turn) after(c tool.Call, r tool.Result) (tool.Result, *ending) {
	sc := t.context(plugin.AfterToolcall)
	sc.Call, sc.Result = c, r
	sc, ended := t.stage(sc)
	t.step(StepAfterCall)
	return sc.Result, ended
}

// noteBegin makes a call that acts durable before it runs.
func (t *turn) noteBegin(c tool.Call, acts bool) error {
	if !acts || t.outside() {
		return nil
	}
	return t.m.o.Queue.Begin(t.in.ID, c)
}

// noteEnd writes a result down. If it cannot be, the call counts as unknown
// after a crash, which is true then.
func (t *turn) noteEnd(r tool.Result, raw bool) {
	if t.outside() {
		return
	}
	if err := t.m.o.Queue.End(t.in.ID, r, raw); err != nil {
		t.m.report(t.in, "queue_failed", err.Error())
	}
}

// outside reports whether this is a call without a turn of the queue.
func (t *turn) outside() bool { return t.entry.Input.ID == "" }

// Tool runs a registered tool outside a turn, as a button or a ring does. The
// call passes before_toolcall, tracker and after_toolcall like any other; a
// Response set there keeps it from running and is its text. It may run beside
// a turn. The error is that of ctx.
func (m *Mind) Tool(ctx context.Context, c tool.Call, in plugin.Input) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	if in.Time.IsZero() {
		in.Time = m.o.Now()
	}
	t := m.newTurn(ctx, in, &queue.Entry{})
	defer t.cancel(nil)
	c.Args = validArgs(c.Args)
	if c.ID == "" {
		c.ID = "outside"
	}
	eff, r, ended := t.execute(c, false)
	if ended != nil && ended.outcome == ShortCut && ended.text != "" && r.Status == tool.NotRun {
		r.Text = ended.text
	}
	t.callEvent(eff, r)
	return r, ctx.Err()
}
