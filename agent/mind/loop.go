package mind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"homeagent/agent/event"
	"homeagent/agent/host"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/queue"
	"homeagent/agent/tool"
)

// sameFailures is how often a call may fail the same way within a turn before
// the model has to answer without tools.
const sameFailures = 3

// loop asks the provider and runs what it asks for until there is an answer.
func (t *turn) loop() ending {
	for {
		if int(t.round.Load()) >= t.m.o.MaxToolRounds || t.stuck() {
			return t.lastWord()
		}
		resp, err := t.ask(t.tools())
		if err != nil {
			return t.noAnswer(err)
		}
		sc := t.context(plugin.PostAction)
		sc.LLMText, sc.ToolCalls = resp.Text, t.number(resp.Calls, nil)
		own := callIDs(sc.ToolCalls)
		sc, ended := t.stage(sc)
		t.request = sc.ContextMsgs
		round := queue.Round{Text: clean(sc.LLMText), Reasoning: resp.Reasoning, Calls: t.number(sc.ToolCalls, own)}
		t.step(StepPostAction)
		if ended != nil {
			if len(round.Calls) > 0 {
				t.addRound(round)
				t.notRun(round.Calls)
			}
			return *ended
		}
		if len(round.Calls) == 0 {
			return ending{round.Text, Answered}
		}
		if end := t.runRound(round, false); end != nil {
			return *end
		}
	}
}

// lastWord asks once more, without tools, so that the user hears an answer.
func (t *turn) lastWord() ending {
	resp, err := t.ask(nil)
	if err != nil {
		return t.noAnswer(err)
	}
	sc := t.context(plugin.PostAction)
	sc.LLMText = resp.Text
	sc, ended := t.stage(sc)
	t.step(StepPostAction)
	if ended != nil {
		return *ended
	}
	return ending{clean(sc.LLMText), Answered}
}

// stuck reports whether a call keeps failing the same way.
func (t *turn) stuck() bool {
	for _, n := range t.failures {
		if n >= sameFailures {
			return true
		}
	}
	return false
}

// ask sends one request and returns the whole answer. A growing text is shown
// as a draft while nobody may still change or withhold it.
func (t *turn) ask(tools []tool.Def) (provider.Response, error) {
	m := t.m
	if t.round.Add(1); t.over() != nil {
		return provider.Response{}, t.over()
	}
	req := provider.Request{System: systemText(m.o.Persona()), Messages: pairs(t.request), Notes: t.notes(),
		Tools: tools, Lang: t.lang, Source: t.in.Source, User: t.in.UserID, Channel: t.in.Channel}
	d := t.draft()
	t.step(StepRequest)
	resp, err := host.Do(t.ctx, m.o.Host.Guard(), "provider "+m.o.Provider.Name(), m.o.LLMTimeout, 4,
		func(ctx context.Context) (provider.Response, error) {
			return m.o.Provider.ChatStream(ctx, req, func(c provider.Chunk) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				d.chunk(c)
				return nil
			})
		})
	t.step(StepResponse)
	if err == nil {
		err = t.over()
	}
	if err != nil || len(resp.Calls) > 0 {
		d.withdraw()
	}
	if err != nil {
		return resp, err
	}
	resp.Text, resp.Reasoning = clean(resp.Text), clean(resp.Reasoning)
	t.blank = resp.NoMemory
	t.reasoning("reasoning", resp.Reasoning)
	if len(resp.Calls) > 0 {
		t.reasoning("beside_calls", resp.Text)
	}
	return resp, nil
}

// reasoning publishes what the model thought; it is never spoken.
func (t *turn) reasoning(state, text string) {
	if text != "" {
		t.m.o.Bus.Publish(event.Event{Type: event.Reasoning, State: state, Input: t.in.ID, Source: t.in.Source,
			Channel: t.in.Channel, User: t.in.UserID, Text: text, NoMemory: t.in.NoMemory})
	}
}

// noAnswer is the ending where the provider failed, or the turn was stopped
// while it thought.
func (t *turn) noAnswer(err error) ending {
	if t.over() != nil {
		return t.stoppedEnding()
	}
	t.m.report(t.in, "provider_failed", fmt.Sprintf("no provider has answered: %v", err))
	var perr *provider.Error
	var hung *host.HungError
	kind := provider.Network
	switch {
	case errors.As(err, &perr):
		if own, ok := perr.OwnWords(t.lang); ok {
			return ending{own, NoAnswer}
		}
		kind = perr.Kind
	case errors.As(err, &hung), errors.Is(err, context.DeadlineExceeded):
		kind = provider.Silent
	default:
		kind = provider.Malformed
	}
	return ending{failureText(kind, t.lang), NoAnswer}
}

// maxCalls bounds the calls of one round; what a model asks beyond is dropped
// and reported.
const maxCalls = 64

// number makes calls fit to be kept and to be shown to a provider again: each
// has a name of plain letters, an id that is unique within the turn, and
// arguments that are valid JSON. Arguments that are not become a JSON string,
// which no schema lets pass; the model is told. own are the ids that a first
// pass over the same round has given; each may stand once.
func (t *turn) number(calls []tool.Call, own map[string]bool) []tool.Call {
	if len(calls) > maxCalls {
		t.m.report(t.in, "calls_dropped", fmt.Sprintf("the model asks for %d calls at once; %d are looked at", len(calls), maxCalls))
		calls = calls[:maxCalls]
	}
	out := make([]tool.Call, 0, len(calls))
	seen := map[string]bool{}
	for _, c := range calls {
		c.Name = plainName(c.Name)
		if c.ID = clean(c.ID); c.ID == "" || len(c.ID) > 128 || seen[c.ID] || t.ids[c.ID] && !own[c.ID] {
			t.made++
			c.ID = fmt.Sprintf("c%s_%d", t.in.ID, t.made)
		}
		t.ids[c.ID], seen[c.ID] = true, true
		c.Args = validArgs(c.Args)
		out = append(out, c)
	}
	return out
}

// plainName keeps of a call's name what every provider accepts in a
// conversation; a name that no tool has is answered with those there are.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), 64)]
}

func callIDs(calls []tool.Call) map[string]bool {
	ids := map[string]bool{}
	for _, c := range calls {
		ids[c.ID] = true
	}
	return ids
}

func validArgs(args json.RawMessage) json.RawMessage {
	if len(args) == 0 || string(args) == "null" {
		return json.RawMessage(`{}`)
	}
	if !json.Valid(args) {
		s, err := json.Marshal(clean(string(args)))
		if err != nil {
			return json.RawMessage(`""`) // not reached: a string can be marshalled
		}
		return s
	}
	return args
}

// addRound takes the model's wish into the context.
func (t *turn) addRound(r queue.Round) {
	t.add(provider.Message{ID: t.id(fmt.Sprintf("r%d", t.assistantRounds())), Time: t.m.o.Now(), Role: provider.Assistant,
		Content: r.Text, Calls: r.Calls, Reasoning: r.Reasoning, NoMemory: t.in.NoMemory})
}

// assistantRounds counts the rounds that the turn has said so far.
func (t *turn) assistantRounds() int {
	n := 0
	for _, msg := range t.said {
		if msg.Role == provider.Assistant {
			n++
		}
	}
	return n
}

// runRound writes a round down and runs its calls one after another. A round
// that was found in the queue is not written again. An ending comes back where
// the turn is over.
func (t *turn) runRound(round queue.Round, resumed bool) *ending {
	if resumed {
		t.round.Add(1)
	}
	t.addRound(round)
	unsafe := false
	if !resumed {
		if err := t.m.o.Queue.Round(t.in.ID, round); err != nil {
			t.m.report(t.in, "queue_failed", err.Error())
			unsafe = true
		}
	}
	t.step(StepRound)
	denied := 0
	for i, c := range round.Calls {
		if t.over() != nil {
			t.notRun(round.Calls[i:])
			end := t.stoppedEnding()
			return &end
		}
		r, ended := t.call(c, unsafe)
		if r.Status == tool.Denied {
			denied++
		}
		if ended != nil {
			t.notRun(round.Calls[i+1:])
			return ended
		}
	}
	if denied == len(round.Calls) {
		end := t.lastWord()
		if end.outcome == NoAnswer {
			end.text = deniedText(t.results[len(t.results)-1].Text, t.lang)
		}
		return &end
	}
	return nil
}

// notRun notes calls whose time did not come.
func (t *turn) notRun(calls []tool.Call) {
	for _, c := range calls {
		if known := t.entry.Calls[c.ID]; known.Result != nil { // of an interrupted start
			t.result(c, *known.Result)
			continue
		}
		r := tool.Result{CallID: c.ID, Name: c.Name, Status: tool.NotRun, Text: "not run: the turn ended before its time came"}
		t.result(c, r)
		t.callEvent(c, r)
	}
}

// result takes how a call ended into the context.
func (t *turn) result(c tool.Call, r tool.Result) {
	t.calls = append(t.calls, c)
	t.results = append(t.results, r)
	def, _ := t.m.o.Host.ToolDef(c.Name)
	if def.NoMemory {
		t.noMemory[c.Name] = true
	}
	t.add(provider.Message{ID: t.id("c" + r.CallID), Time: t.m.o.Now(), Role: provider.Tool, Content: r.Text,
		CallID: r.CallID, Name: r.Name, Status: r.Status, NoMemory: t.in.NoMemory || def.NoMemory})
	if r.Status == tool.Failed {
		t.failures[c.Name+"\x00"+string(c.Args)+"\x00"+r.Text]++
	}
}

// acted is what calls of the turn that change something have said when they
// were done, each once, the newest three.
func (t *turn) acted() []string {
	var said []string
	for i, r := range t.results {
		def, ok := t.m.o.Host.ToolDef(t.calls[i].Name)
		text := short(strings.TrimSpace(r.Text), 200)
		if ok && def.Risk != tool.Read && r.Status == tool.Done && text != "" && !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	return said[max(0, len(said)-3):]
}

// callEvent tells observers how a call ended.
func (t *turn) callEvent(c tool.Call, r tool.Result) {
	t.m.o.Bus.Publish(event.Event{Type: event.ToolCall, Input: t.in.ID, Source: t.in.Source, Channel: t.in.Channel,
		User: t.in.UserID, State: string(r.Status), Text: r.Name, Call: &c, Result: &r, NoMemory: t.in.NoMemory})
}
