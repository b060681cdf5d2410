package mind

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/host"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/queue"
	"homeagent/agent/tool"
)

// turn is one input on its way. Only the loop's goroutine writes it, except
// for what is atomic.
type turn struct {
	m *Mind
	// entry is empty for a call outside a turn.
	entry   *queue.Entry
	in      plugin.Input
	lang    string
	started time.Time
	ctx     context.Context
	cancel  context.CancelCauseFunc
	at      atomic.Value // Step
	round   atomic.Int64

	raw string // the input's text, after on_input
	// request is what the provider sees; handlers may change it.
	request []provider.Message
	// said is what the turn adds to the context; nobody changes it afterwards.
	said    []provider.Message
	calls   []tool.Call
	results []tool.Result
	line    string // of recalled memory
	items   []plugin.Item
	extra   map[string]string
	ids     map[string]bool // of calls
	made    int             // ids that were made up
	// own holds what the model itself has sent, by channel; ownMu guards it.
	ownMu    sync.Mutex
	own      map[string][]string
	noMemory map[string]bool // tools of the turn whose output is not computed on
	blank    bool            // the answer says nothing worth finding again
	failures map[string]int  // calls that failed the same way
	drafts   *drafts
	last     event.Event // the one that tells how the turn ended
}

func (m *Mind) newTurn(ctx context.Context, in plugin.Input, e *queue.Entry) *turn {
	t := &turn{m: m, entry: e, in: in, lang: queue.LangOf(in), started: m.o.Now(), raw: in.Payload,
		ids: map[string]bool{}, own: map[string][]string{}, noMemory: map[string]bool{}, failures: map[string]int{}}
	ctx, t.cancel = context.WithCancelCause(ctx)
	t.ctx = context.WithValue(plugin.WithInput(ctx, in), turnKey{}, t)
	return t
}

// turnKey is the context key of the running turn.
type turnKey struct{}

// step notes a step and tells who watches.
func (m *Mind) step(t *turn, s Step, input string) {
	if t != nil {
		t.at.Store(s)
	}
	if m.o.Steps != nil {
		m.o.Steps.Step(s, input)
	}
}

func (t *turn) step(s Step) { t.m.step(t, s, t.in.ID) }

// ending is how a turn comes to its answer.
type ending struct {
	text    string
	outcome Outcome
}

// keepStarts is how many processes may end while an answered turn is being kept.
// Nothing of the input's runs then, so it is the power that ended them; the bound
// is for a fault in keeping itself.
const keepStarts = 5

// deal leads one input to its end.
func (m *Mind) deal(ctx context.Context, e *queue.Entry) {
	// The turn ends by its own cancel alone, so that the cause tells a stop of
	// the user from the end of the process.
	t := m.newTurn(context.WithoutCancel(ctx), e.Input, e)
	defer t.cancel(nil)
	m.setRunning(t)
	defer func() { // whoever hears of the end finds no turn running
		m.setRunning(nil)
		m.o.Bus.Publish(t.last)
	}()
	if t.inner() && m.o.Queue.Stats().User > 0 {
		// The user's input came after this one had left the queue and before
		// anybody could see that it runs.
		t.cancel(errYield)
		t.pause()
		return
	}
	stop := context.AfterFunc(ctx, func() { t.cancel(errShutdown) })
	defer stop()
	m.o.Bus.Publish(t.event("turn_start", ""))
	t.step(StepStart)
	switch {
	case e.Final != nil && e.Sent && e.Starts < keepStarts:
		t.close(*e.Final) // the answer was heard, so the turn must not be missing in memory
	case e.Starts >= 2:
		t.setAside()
	case e.Final != nil:
		t.close(*e.Final)
	default:
		t.finish(t.run())
	}
}

func (t *turn) event(state, text string) event.Event {
	return event.Event{Type: event.System, State: state, Input: t.in.ID, Source: t.in.Source,
		Channel: t.in.Channel, User: t.in.UserID, Text: text}
}

// run leads the input through the stages up to its answer.
func (t *turn) run() ending {
	sc := t.context(plugin.OnInput)
	if t.in.Type == plugin.Media {
		sc.RawMessage = ""
	}
	sc, ended := t.stage(sc)
	t.raw = clean(sc.RawMessage)
	if t.in.Lang == "" {
		if l := plugin.LangOf(t.raw); l != "" {
			t.lang = l
		}
	}
	t.step(StepInput)

	user := t.userMessage()
	t.add(user)
	if ended != nil {
		return *ended
	}
	t.window(user)
	t.step(StepContext)
	t.recall()
	t.step(StepRecall)

	sc, ended = t.stage(t.context(plugin.PreAction))
	t.request = sc.ContextMsgs
	t.step(StepPreAction)
	if ended != nil {
		return *ended
	}
	for _, round := range t.entry.Rounds {
		for _, c := range round.Calls {
			t.ids[c.ID] = true
		}
	}
	for _, round := range t.entry.Rounds { // of a process that was interrupted
		if end := t.runRound(round, true); end != nil {
			return *end
		}
	}
	if err := t.over(); err != nil {
		return t.stoppedEnding()
	}
	return t.loop()
}

// over returns why the turn must end now, nil if it need not.
func (t *turn) over() error { return context.Cause(t.ctx) }

// stage runs a stage. An ending comes back where the turn was stopped
// meanwhile, or where a handler set Response.
func (t *turn) stage(sc plugin.StageContext) (plugin.StageContext, *ending) {
	sc = t.m.o.Host.Stage(t.ctx, sc)
	t.extra = sc.Extra
	if t.over() != nil {
		end := t.stoppedEnding()
		return sc, &end
	}
	if sc.Response != nil {
		return sc, &ending{clean(*sc.Response), ShortCut}
	}
	return sc, nil
}

// context is a StageContext of the turn as it stands.
func (t *turn) context(phase plugin.Stage) plugin.StageContext {
	return plugin.StageContext{Phase: phase, Input: t.in, UserID: t.in.UserID, GroupID: t.in.GroupID,
		RawMessage: t.raw, ContextMsgs: t.request, ToolResults: t.results, Memory: t.items,
		NoMemory: t.in.NoMemory, Extra: t.extra}
}

// stoppedEnding is the ending of a turn that was cancelled.
func (t *turn) stoppedEnding() ending { return ending{outcome: Cancelled} }

// paused reports whether the turn ends to be taken up again: the process stops,
// or a user's input goes before one of the agent's own.
func (t *turn) paused() bool {
	return errors.Is(t.over(), errShutdown) || errors.Is(t.over(), errYield)
}

// id makes the id of a message that is the same when the turn is resumed.
func (t *turn) id(part string) string { return t.in.ID + "/" + part }

// userMessage is the input as it enters the context.
func (t *turn) userMessage() provider.Message {
	text := t.raw
	if t.in.Type == plugin.Media {
		switch {
		case t.raw == "":
			text = strings.TrimSpace(t.in.Payload + "\n" + mediaNote(t.in.Media, t.lang))
		case !strings.Contains(t.raw, t.in.Payload):
			text = t.in.Payload + "\n" + t.raw
		}
	}
	return provider.Message{ID: t.id("u"), Time: t.in.Time, Role: provider.User, Content: text,
		Source: t.in.Source, User: t.in.UserID, Media: t.in.Media, NoMemory: t.in.NoMemory}
}

// add takes a message into what the turn says, the context and the request.
// The bytes of media are seen by this turn's requests alone.
func (t *turn) add(msgs ...provider.Message) {
	for _, msg := range msgs {
		kept := msg
		if len(msg.Media) > 0 {
			kept.Media = append(msg.Media[:0:0], msg.Media...)
			for i := range kept.Media {
				kept.Media[i].Data = nil
			}
		}
		t.said = append(t.said, kept)
		t.request = append(t.request, msg)
		if !t.in.NoMemory && !t.inner() {
			t.m.o.Memory.Append(kept)
		}
	}
}

// window brings the context to its size and takes it over, the user's message last.
func (t *turn) window(user provider.Message) {
	if t.inner() {
		t.request = []provider.Message{user}
		return
	}
	m := t.m
	g := m.o.Host.Guard()
	if !t.in.NoMemory {
		err := host.Run(t.ctx, g, "memory", m.o.MemoryTimeout, 4, func(ctx context.Context) error {
			return m.o.Memory.Prune(ctx, user.Content)
		})
		if err != nil && t.over() == nil {
			m.report(t.in, "memory_failed", fmt.Sprintf("the context could not be pruned: %v", err))
		}
	}
	var request []provider.Message
	for _, msg := range m.o.Memory.Window() {
		// What an interrupted start of this turn has left comes again below.
		if !strings.HasPrefix(msg.ID, t.in.ID+"/") {
			request = append(request, msg)
		}
	}
	t.request = append(request, user)
}

// recall asks memory about the input.
func (t *turn) recall() {
	m := t.m
	if t.in.NoMemory || t.inner() || strings.TrimSpace(t.raw) == "" {
		return
	}
	type found struct {
		line  string
		items []plugin.Item
	}
	f, err := host.Do(t.ctx, m.o.Host.Guard(), "memory", m.o.MemoryTimeout, 4, func(ctx context.Context) (found, error) {
		line, items, err := m.o.Memory.Recall(ctx, t.raw, t.lang)
		return found{line, items}, err
	})
	if err != nil {
		if t.over() == nil {
			m.report(t.in, "memory_failed", fmt.Sprintf("memory could not be asked: %v", err))
		}
		return
	}
	t.line, t.items = clean(f.line), f.items
}

// record is the turn as the journal keeps it.
func (t *turn) record(outcome Outcome, final string) Turn {
	var names []string
	for _, c := range t.calls {
		if t.noMemory[c.Name] {
			names = append(names, c.Name)
		}
	}
	in := t.in
	if len(in.Media) > 0 {
		in.Media = append(in.Media[:0:0], in.Media...)
		for i := range in.Media {
			in.Media[i].Data = nil
		}
	}
	messages := t.said
	if t.inner() {
		messages = nil // they would enter the conversation; input, calls and final text say it all
	}
	return Turn{ID: in.ID, Input: in, Lang: t.lang, Outcome: outcome, Messages: messages, Calls: t.calls, Results: t.results,
		Final: final, NoMemoryTools: unique(names), Started: t.started, Ended: t.m.o.Now()}
}

// remember closes a turn in memory, whatever became of ctx.
func (m *Mind) remember(ctx context.Context, t Turn) {
	if t.Input.NoMemory {
		return
	}
	err := host.Run(context.WithoutCancel(ctx), m.o.Host.Guard(), "memory", m.o.MemoryTimeout, 4, func(ctx context.Context) error {
		return m.o.Memory.EndTurn(ctx, t)
	})
	if err != nil {
		m.report(t.Input, "memory_failed", fmt.Sprintf("a turn could not be kept in memory: %v", err))
	}
}
