package mind

import (
	"context"

	"homeagent/agent/control"
	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/queue"
)

// InjectInput hands in an input and returns its id. A control intent is acted
// upon before it returns; any other input is durable then and waits for its
// turn. The error is a *plugin.Fault in the input's language.
func (m *Mind) InjectInput(ctx context.Context, in plugin.Input) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	in.ID = queue.NewID(m.o.Now())
	if in.Time.IsZero() {
		in.Time = m.o.Now()
	}
	if in.Type == "" {
		in.Type = plugin.Text
	}
	if i, ok := m.intent(in); ok {
		m.control(in, i)
		return in.ID, nil
	}
	err := m.o.Queue.Put(in, func() { m.arrived(in) })
	if err != nil {
		m.o.Log.Warn("an input was refused", "source", in.Source, "err", err)
		return "", err
	}
	if !queue.Internal(in.Source) {
		m.yield()
	}
	m.step(nil, StepAccepted, in.ID)
	return in.ID, nil
}

// InjectText is InjectInput for a text whose answer goes to channel.
func (m *Mind) InjectText(ctx context.Context, source, channel, text string) (string, error) {
	return m.InjectInput(ctx, plugin.Input{Source: source, Channel: channel, Type: plugin.Text, Payload: text})
}

// InjectTextNoMemory is InjectText for a turn that memory skips wholly.
func (m *Mind) InjectTextNoMemory(ctx context.Context, source, channel, text string) (string, error) {
	return m.InjectInput(ctx, plugin.Input{Source: source, Channel: channel, Type: plugin.Text, Payload: text, NoMemory: true})
}

// arrived tells observers of an input.
func (m *Mind) arrived(in plugin.Input) {
	m.o.Bus.Publish(event.Event{Type: event.RawInput, Input: in.ID, Source: in.Source, Channel: in.Channel,
		User: in.UserID, State: string(in.Type), Text: in.Payload, NoMemory: in.NoMemory})
}

// intent recognises a control intent. Internal inputs are never one: nobody said them.
func (m *Mind) intent(in plugin.Input) (control.Intent, bool) {
	if in.Type != plugin.Text || len(in.Media) > 0 || in.Source == "" || queue.Internal(in.Source) {
		return "", false
	}
	i, ok := control.Recognise(in.Payload, m.o.Names...)
	if !ok || i.NeedsPending() && !m.o.Pending() {
		return "", false
	}
	return i, true
}

// controlled is a control intent whose answer is due.
type controlled struct {
	in     plugin.Input
	intent control.Intent
}

// control acts on an intent: the running turn ends and devices hear of it
// before anything else happens. Answer and journal follow in answerControls.
func (m *Mind) control(in plugin.Input, i control.Intent) {
	if i.EndsTurn() {
		m.stop(i)
	}
	m.o.Bus.Publish(event.Event{Type: event.Control, Input: in.ID, Source: in.Source, Channel: in.Channel,
		User: in.UserID, State: string(i), Text: in.Payload, NoMemory: in.NoMemory})
	m.arrived(in)
	select {
	case m.controls <- controlled{in, i}:
	default:
		m.o.Log.Warn("a control intent was acted upon and stays without an answer: too many wait", "intent", i)
	}
}

// answerControls says the word of confirmation and keeps the journal's line.
func (m *Mind) answerControls(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-m.controls:
			m.answerControl(ctx, c)
		}
	}
}

func (m *Mind) answerControl(ctx context.Context, c controlled) {
	lang := queue.LangOf(c.in)
	text := control.Answer(c.intent, lang)
	began := m.o.Now()
	if c.in.Channel == "" {
		text = ""
	} else if err := m.send(ctx, c.in, plugin.Message{Channel: c.in.Channel, Text: text, ReplyTo: c.in.ID, Lang: lang, Final: true}); err != nil {
		m.report(c.in, "send_failed", err.Error())
	}
	m.remember(ctx, Turn{ID: c.in.ID, Input: c.in, Lang: lang, Outcome: Controlled, Control: string(c.intent),
		Final: text, Started: began, Ended: m.o.Now()})
	m.step(nil, StepControlled, c.in.ID)
}
