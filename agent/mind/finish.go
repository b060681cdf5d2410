package mind

import (
	"context"
	"fmt"
	"slices"

	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/queue"
)

// finish brings a turn from its ending to the end.
func (t *turn) finish(end ending) {
	if end.outcome == Cancelled {
		t.endCancelled()
		return
	}
	text, said, skip := end.text, end.text, false
	if end.outcome == Answered && text == "" && !t.hasSent("") {
		text = emptyText(t.lang, t.acted())
		said, end.outcome = text, NoAnswer
	}
	if end.outcome == NoAnswer {
		t.blank = true
	}
	if end.outcome != ShortCut {
		sc := t.context(plugin.BeforeOutput)
		sc.FinalText = text
		sc, ended := t.stage(sc)
		switch {
		case ended != nil && ended.outcome == Cancelled:
			t.endCancelled()
			return
		case ended != nil:
			text, said, end.outcome = ended.text, ended.text, ShortCut
		default:
			// The context keeps what the model said, not how a channel dressed it up.
			text, skip = clean(sc.FinalText), sc.SkipOutput
		}
		t.step(StepBeforeOutput)
	}
	if said != "" {
		t.add(t.answerMessage(said))
	}
	t.step(StepAnswer)
	if skip {
		text = ""
	}
	if !t.output(text, said, end.outcome) {
		t.pause() // the process stops: the next one sends it
		return
	}
	sc := t.context(plugin.AfterOutput)
	sc.FinalText = text
	t.m.o.Host.Stage(context.WithoutCancel(t.ctx), sc)
	t.step(StepAfterOutput)
	t.conclude(end.outcome, text)
}

func (t *turn) answerMessage(said string) provider.Message {
	return provider.Message{ID: t.id("f"), Time: t.m.o.Now(), Role: provider.Assistant, Content: said,
		NoMemory: t.in.NoMemory || t.blank}
}

// speaks reports whether the turn has somebody to speak to.
func (t *turn) speaks() bool { return t.in.Channel != "" && !t.inner() }

// output sends the final text to the channel that asked; "" ends the turn
// there in silence. It reports false where the process stops before the
// channel has taken it.
func (t *turn) output(text, said string, outcome Outcome) bool {
	m := t.m
	if !t.speaks() {
		return true
	}
	if t.hasSent(text) {
		text = "" // the model has sent it there itself
	}
	if text == "" {
		t.drafts.withdraw()
	} else {
		// Should it fail, the answer is sent all the same; after a crash it may come twice.
		err := m.o.Queue.Final(t.in.ID, queue.Final{Text: text, Said: said, Channel: t.in.Channel, Outcome: string(outcome)})
		if err != nil {
			m.report(t.in, "queue_failed", err.Error())
		}
		t.step(StepFinal)
	}
	t.drafts.stop()
	err := m.send(t.ctx, t.in, t.message(text))
	t.step(StepSent)
	switch {
	case err == nil:
		if text != "" {
			t.noteSent()
		}
	case t.paused():
		return false
	default:
		m.report(t.in, "send_failed", err.Error())
		if t.over() != nil { // stopped while the channel took it: whoever waits there must not wait on
			t.silence()
		}
	}
	return true
}

// hasSent reports whether the model has sent text to the channel that asked;
// for "" whether it has sent anything anywhere.
func (t *turn) hasSent(text string) bool {
	t.ownMu.Lock()
	defer t.ownMu.Unlock()
	if text == "" {
		return len(t.own) > 0
	}
	return slices.ContainsFunc(t.own[t.in.Channel], func(own string) bool { return sameText(own, text) })
}

// message is the one that ends the turn on its channel.
func (t *turn) message(text string) plugin.Message {
	lang := plugin.LangOf(text)
	if lang == "" {
		lang = t.lang
	}
	return plugin.Message{Channel: t.in.Channel, Text: text, ReplyTo: t.in.ID, Lang: lang, Final: true}
}

// silence ends the turn on its channel without a word.
func (t *turn) silence() {
	if !t.speaks() {
		return
	}
	t.drafts.withdraw()
	t.drafts.stop()
	if err := t.m.send(context.WithoutCancel(t.ctx), t.in, t.message("")); err != nil {
		t.m.report(t.in, "send_failed", err.Error())
	}
}

func (t *turn) noteSent() {
	if err := t.m.o.Queue.Sent(t.in.ID); err != nil {
		t.m.report(t.in, "queue_failed", err.Error())
	}
	t.step(StepSentNoted)
}

// conclude keeps the turn in memory and lets go of its input.
func (t *turn) conclude(outcome Outcome, final string) {
	t.m.remember(t.ctx, t.record(outcome, final))
	t.step(StepRemembered)
	if err := t.m.o.Queue.Done(t.in.ID); err != nil {
		t.m.report(t.in, "queue_failed", err.Error())
	}
	t.step(StepDone)
	t.last = t.event("turn_end", string(outcome))
}

// endCancelled ends a turn that was stopped: by the user for good, by the end
// of the process until its next start.
func (t *turn) endCancelled() {
	if t.paused() {
		t.pause()
		return
	}
	note := cancelledNote(t.lang)
	// Written down before anything else: a crash now must not take the turn up again.
	err := t.m.o.Queue.Final(t.in.ID, queue.Final{Said: note, Channel: t.in.Channel, Outcome: string(Cancelled)})
	if err != nil {
		t.m.report(t.in, "queue_failed", err.Error())
	}
	t.add(t.answerMessage(note))
	t.silence()
	t.conclude(Cancelled, "")
}

// pause puts the input back for the next process.
func (t *turn) pause() {
	t.drafts.withdraw()
	t.drafts.stop()
	if err := t.m.o.Queue.Pause(t.in.ID); err != nil {
		t.m.report(t.in, "queue_failed", err.Error())
	}
	t.step(StepPaused)
	t.last = t.event("turn_paused", "")
}

// close ends a turn of an earlier process whose answer stood fast: it is sent
// once more if it may not have left.
func (t *turn) close(f queue.Final) {
	if t.in.Type == plugin.Media {
		t.raw = ""
	}
	t.add(t.userMessage())
	for _, round := range t.entry.Rounds {
		t.addRound(round)
		t.notRun(round.Calls)
	}
	if f.Said != "" {
		t.add(t.answerMessage(f.Said))
	}
	t.step(StepAnswer)
	if !t.entry.Sent && t.speaks() {
		text := f.Text
		if text != "" {
			text = repeatedText(text, t.lang)
		}
		err := t.m.send(t.ctx, t.in, t.message(text))
		t.step(StepSent)
		switch {
		case err == nil:
			t.noteSent()
		case t.paused():
			t.pause()
			return
		default:
			t.m.report(t.in, "send_failed", err.Error())
		}
	}
	t.conclude(Outcome(f.Outcome), f.Text)
}

// setAside gives an input up that has ended the process twice. Telling so may
// itself be what ends it; then the next start is silent.
func (t *turn) setAside() {
	m := t.m
	m.report(t.in, "input_set_aside", fmt.Sprintf("an input has ended the process %d times and is set aside", t.entry.Starts))
	if t.entry.Starts == 2 && !t.entry.Sent {
		text := asideText(t.in, t.lang)
		if t.speaks() {
			if err := m.send(t.ctx, t.in, t.message(text)); err != nil {
				if t.paused() {
					t.pause()
					return
				}
				m.report(t.in, "send_failed", err.Error())
			}
		}
		if t.in.Type == plugin.Media {
			t.raw = ""
		}
		t.add(t.userMessage(), t.answerMessage(text))
		m.remember(t.ctx, t.record(SetAside, text))
	}
	if err := m.o.Queue.Aside(t.in.ID); err != nil {
		m.report(t.in, "queue_failed", err.Error())
	}
	t.step(StepSetAside)
	t.last = t.event("turn_end", string(SetAside))
}
