package timer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/tool"
)

const (
	// ringEvery is the pause between two announcements of one timer.
	ringEvery = 10 * time.Second
	// sendWait bounds one announcement on one channel.
	sendWait = 8 * time.Second
	// voice is the channel that every timer rings on.
	voice = "voice"
)

// errQuiet is the cause that ends a ring on somebody's wish.
var errQuiet = errors.New("silenced")

// States of event.System that a ring publishes.
const (
	ringState = "ring"
	offState  = "ring_off"
)

// control hears control intents. It must return at once.
func (p *Plugin) control(e event.Event) {
	switch e.State {
	case "ring_off", "stop", "cancel":
		p.silence(nil)
	}
}

// silence ends the ring of one timer, or of all for nil.
func (p *Plugin) silence(one *entry) {
	p.ringMu.Lock()
	defer p.ringMu.Unlock()
	for e, cancel := range p.rings {
		if one == nil || e == one {
			cancel(errQuiet)
		}
	}
}

// startRing begins to ring. The caller holds mu.
func (p *Plugin) startRing(parent context.Context, e *entry) {
	e.ringing = true
	ctx, cancel := context.WithCancelCause(parent)
	p.ringMu.Lock()
	p.rings[e] = cancel
	p.ringMu.Unlock()
	api := p.api
	p.owned.Go(func() {
		defer cancel(nil)
		p.ring(ctx, api, e)
	})
}

// ring announces a timer until it is silenced, the plugin stops or the time is over.
func (p *Plugin) ring(ctx context.Context, api plugin.API, e *entry) {
	text := ringText(e)
	say := func(state string) {
		api.Publish(event.Event{Type: event.System, State: state, Channel: e.Channel, User: e.User, Text: text})
	}
	say(ringState)
	heard := p.announce(ctx, api, e, text)

	p.ringMu.Lock()
	delete(p.rings, e)
	p.ringMu.Unlock()
	quiet := errors.Is(context.Cause(ctx), errQuiet)
	p.mu.Lock()
	if heard || quiet {
		p.forget(api, e)
	} else if ctx.Err() == nil {
		api.Log().Warn("no channel took a timer's ring; it will be told after the next start", "timer", e.ID)
	}
	p.drop(e)
	p.mu.Unlock()
	say(offState)
}

// announce says text on every channel once and again and again on voice. It
// reports whether any channel took it.
func (p *Plugin) announce(ctx context.Context, api plugin.API, e *entry, text string) (heard bool) {
	open := []string{voice}
	if e.Channel != "" && e.Channel != voice {
		open = []string{e.Channel, voice}
	}
	over := time.NewTimer(p.cfg.ringFor())
	defer over.Stop()
	again := time.NewTicker(ringEvery)
	defer again.Stop()
	for {
		var left []string
		for _, channel := range open {
			err := send(ctx, api, e, channel, text)
			if ctx.Err() != nil {
				return heard || err == nil
			}
			if err != nil {
				api.Log().Debug("a channel did not take a timer's ring", "timer", e.ID, "channel", channel, "err", err)
			} else if !heard {
				heard = true
				p.mu.Lock()
				p.forget(api, e) // at least once is heard: a restart need not tell it
				p.mu.Unlock()
			}
			// A reminder that comes late is told once, a ring goes on.
			if err != nil || channel == voice && !e.missed {
				left = append(left, channel)
			}
		}
		if open = left; len(open) == 0 {
			return heard
		}
		select {
		case <-ctx.Done():
			return heard
		case <-over.C:
			return heard
		case <-again.C:
		}
	}
}

// send hands text to output_send, the only tool that speaks.
func send(ctx context.Context, api plugin.API, e *entry, channel, text string) error {
	ctx, cancel := context.WithTimeout(ctx, sendWait)
	defer cancel()
	args, err := json.Marshal(map[string]string{"channel": channel, "text": text})
	if err != nil {
		return err
	}
	res, err := api.Tool(ctx, tool.Call{ID: "ring-" + e.ID, Name: "output_send", Args: args},
		plugin.Input{Time: time.Now(), Source: "timer", Type: plugin.Text, Payload: text, Channel: channel, UserID: e.User, Lang: e.Lang})
	if err != nil {
		return err
	}
	if res.Status != tool.Done && res.Status != "" {
		return fmt.Errorf("output_send: %s: %s", res.Status, res.Text)
	}
	return nil
}

// forget takes a timer out of the Store. The caller holds mu.
func (p *Plugin) forget(api plugin.API, e *entry) {
	if err := api.Store().Delete(storePrefix + e.ID); err != nil {
		api.Log().Error("a timer that has rung could not be taken out of the store", "timer", e.ID, "err", err)
	}
}
