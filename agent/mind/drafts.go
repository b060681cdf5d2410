package mind

import (
	"context"
	"sync"
	"time"

	"homeagent/agent/plugin"
	"homeagent/agent/provider"
)

// draftFlush is how long an answer waits for the drafts before it.
const draftFlush = time.Second

// drafts shows a growing answer on the channel that asked. Pieces that come
// faster than the channel takes them are joined, so little ever waits.
type drafts struct {
	send func(context.Context, plugin.Draft) error
	base plugin.Draft
	ctx  context.Context

	mu      sync.Mutex
	pending []plugin.Draft
	pump    chan struct{} // closed when the pump has ended; nil if there is none
	off     bool
	shown   bool // text stands on the channel
}

// draft prepares the drafts of one request. The result may be nil, which shows nothing.
func (t *turn) draft() *drafting {
	if t.in.Channel == "" || t.inner() {
		return nil
	}
	h := t.m.o.Host
	if t.drafts == nil {
		send := h.Drafter(t.in.Channel)
		if send == nil {
			return nil
		}
		t.drafts = &drafts{send: send, base: plugin.Draft{Channel: t.in.Channel, ReplyTo: t.in.ID}, ctx: context.WithoutCancel(t.ctx)}
	}
	return &drafting{d: t.drafts, text: !h.HasStage(plugin.PostAction) && !h.HasStage(plugin.BeforeOutput)}
}

// drafting is the part of one request in the drafts.
type drafting struct {
	d    *drafts
	text bool // text may be shown; notices always may
}

// chunk shows a piece of the stream.
func (g *drafting) chunk(c provider.Chunk) {
	if g == nil {
		return
	}
	if c.Restart {
		g.d.withdraw()
	}
	if c.Notice != "" {
		g.d.put(plugin.Draft{Notice: clean(c.Notice)})
	}
	if c.Text != "" && g.text {
		g.d.put(plugin.Draft{Text: c.Text})
	}
}

// withdraw takes back what was shown.
func (g *drafting) withdraw() {
	if g != nil {
		g.d.withdraw()
	}
}

func (d *drafts) withdraw() {
	if d == nil {
		return
	}
	d.mu.Lock()
	shown := d.shown
	d.mu.Unlock()
	if shown {
		d.put(plugin.Draft{Withdrawn: true})
	}
}

// put queues a draft, joined to the last where both are text.
func (d *drafts) put(x plugin.Draft) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return
	}
	d.shown = !x.Withdrawn && (d.shown || x.Text != "")
	x.Channel, x.ReplyTo = d.base.Channel, d.base.ReplyTo
	if n := len(d.pending); n > 0 && x.Text != "" && d.pending[n-1].Text != "" {
		d.pending[n-1].Text += x.Text
	} else if n < 64 || x.Notice == "" {
		d.pending = append(d.pending, x)
	}
	if d.pump == nil {
		d.pump = make(chan struct{})
		go d.run(d.pump)
	}
}

// run hands drafts over until none waits.
func (d *drafts) run(ended chan struct{}) {
	defer close(ended)
	for {
		d.mu.Lock()
		if len(d.pending) == 0 || d.off {
			d.pump = nil
			d.mu.Unlock()
			return
		}
		x := d.pending[0]
		d.pending = d.pending[1:]
		d.mu.Unlock()
		if d.send(d.ctx, x) != nil {
			d.mu.Lock()
			d.off = true // a channel that fails once shows no more of this turn
			d.mu.Unlock()
		}
	}
}

// stop waits until what was shown has arrived, at most draftFlush, and shows
// nothing more.
func (d *drafts) stop() {
	if d == nil {
		return
	}
	d.mu.Lock()
	pump := d.pump
	d.mu.Unlock()
	if pump != nil {
		timer := time.NewTimer(draftFlush)
		select {
		case <-pump:
		case <-timer.C:
		}
		timer.Stop()
	}
	d.mu.Lock()
	d.off = true
	d.mu.Unlock()
}
