package host

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"homeagent/agent/plugin"
)

// NoChannelError is an output to a channel that nobody offers.
type NoChannelError struct {
	Channel string
	Known   []string
}

func (e *NoChannelError) Error() string {
	return fmt.Sprintf("there is no channel %q; the channels are: %s", e.Channel, strings.Join(e.Known, ", "))
}

// Channels are the names offered, sorted; "web" stands for every "web:<session>".
func (h *Host) Channels() []string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.reg.channels.names()
}

func (h *Host) channel(full string) (entry[plugin.Sender], error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	e, ok := h.reg.channelOf(full)
	if !ok {
		return e, &NoChannelError{Channel: full, Known: h.reg.channels.names()}
	}
	return e, nil
}

// Send hands a message to its channel: the one registered under the whole
// name, or under what stands before the first colon.
func (h *Host) Send(ctx context.Context, m plugin.Message) error {
	e, err := h.channel(m.Channel)
	if err != nil {
		return err
	}
	ctx, done := within(ctx, e.inst)
	defer done()
	err = Run(ctx, h.guard, "channel "+m.Channel, h.o.SendTimeout, hungTools, func(ctx context.Context) error {
		return e.value.Send(ctx, m)
	})
	var p *PanicError
	var hung *HungError
	if errors.As(err, &p) || errors.As(err, &hung) {
		h.report(e.inst.name, "channel_failed", fmt.Sprintf("channel %s: %v", m.Channel, err))
	}
	if err != nil {
		return fmt.Errorf("send to %s: %w", m.Channel, err)
	}
	return nil
}

// Drafter returns the function that shows a growing answer on a channel, nil
// where the channel has none. The function is guarded like Send.
func (h *Host) Drafter(full string) func(ctx context.Context, d plugin.Draft) error {
	e, err := h.channel(full)
	if err != nil {
		return nil
	}
	d, ok := e.value.(plugin.Drafter)
	if !ok {
		return nil
	}
	return func(ctx context.Context, draft plugin.Draft) error {
		ctx, done := within(ctx, e.inst)
		defer done()
		return Run(ctx, h.guard, "drafts on channel "+full, h.o.SendTimeout, 1, func(ctx context.Context) error {
			d.Draft(ctx, draft)
			return nil
		})
	}
}
