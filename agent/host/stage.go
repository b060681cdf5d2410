package host

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"homeagent/agent/plugin"
)

// HasStage reports whether any handler takes part in a stage.
func (h *Host) HasStage(s plugin.Stage) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.reg.stages[s]) > 0
}

// Stage leads sc through the handlers of sc.Phase, one after another, and
// returns what they made of it. It ends early where a handler sets Response or
// Deny. A handler that fails, panics or hangs is reported and skipped; what it
// wrote does not count.
func (h *Host) Stage(ctx context.Context, sc plugin.StageContext) plugin.StageContext {
	h.mu.RLock()
	list := h.reg.stages[sc.Phase]
	h.mu.RUnlock()
	for _, e := range list {
		if ctx.Err() != nil {
			break
		}
		h.handle(ctx, e, &sc)
		if sc.Response != nil || sc.Deny {
			break
		}
	}
	return sc
}

// handle calls one handler on a copy of sc.
func (h *Host) handle(ctx context.Context, e stageEntry, sc *plugin.StageContext) {
	before := cloneContext(sc)
	hctx, done := within(ctx, e.inst)
	defer done()
	after, err := Do(hctx, h.guard, e.who, h.o.StageTimeout, 1, func(ctx context.Context) (*plugin.StageContext, error) {
		// The copy is made here: a handler that was given up may go on writing.
		own := cloneContext(before)
		err := e.call(ctx, own)
		return own, err
	})
	if err != nil {
		if ctx.Err() != nil {
			return // the turn was stopped; that is not the handler's fault
		}
		state := "stage_failed"
		var p *PanicError
		var hung *HungError
		switch {
		case errors.As(err, &p):
			state = "stage_panic"
		case errors.As(err, &hung):
			state = "stage_hung"
		}
		h.report(e.inst.name, state, fmt.Sprintf("%s is skipped: %v", e.who, err))
		return
	}
	if refused := takeOver(sc, before, after); len(refused) > 0 {
		h.report(e.inst.name, "stage_write_refused",
			fmt.Sprintf("%s changed %s, which this stage may not write; the change was dropped", e.who, strings.Join(refused, ", ")))
	}
}
