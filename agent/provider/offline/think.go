package offline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"homeagent/agent/control"
	"homeagent/agent/intent"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

// think decides about one request.
func (p *Provider) think(req provider.Request) provider.Response {
	last := -1
	for i, m := range req.Messages {
		if m.Role == provider.User {
			last = i
		}
	}
	if last < 0 {
		return say(p.nothingAsked(answerLang("", req.Lang)))
	}
	text := req.Messages[last].Content
	lang := answerLang(text, req.Lang)
	made := callsAfter(req.Messages[last+1:])

	if i, ok := control.Recognise(text); ok && i.NeedsPending() {
		// A yes or no that answers a question never comes here.
		return say(p.direct(intent.Match{Intent: "control"}, lang, text))
	}
	m, ok := p.opt.Intents.Parse(text, lang)
	switch {
	case m.Problem != "":
		return say(p.problem(m, lang))
	case !ok:
		if m, ok := p.told(req.Messages[last], lang, req.Tools); ok {
			return p.act(m, text, lang, req.Tools, made)
		}
		return blank(p.notUnderstood(lang, made))
	case len(m.Actions) == 0:
		return blank(p.direct(m, lang, text))
	}
	return p.act(m, text, lang, req.Tools, made)
}

func say(text string) provider.Response { return provider.Response{Text: text} }

// blank is an answer that nobody will look for: it tells of this moment, or that
// nothing was understood.
func blank(text string) provider.Response { return provider.Response{Text: text, NoMemory: true} }

// told takes a sentence that asks for nothing but tells something of the
// household: what is in it is committed at once, as a model would do.
func (p *Provider) told(msg provider.Message, lang string, tools []tool.Def) (intent.Match, bool) {
	if p.opt.Facts == nil || len(msg.Content) > maxStatement || !offered(tools, "memory_commit") {
		return intent.Match{}, false
	}
	facts := p.opt.Facts(msg, lang)
	if len(facts) == 0 {
		return intent.Match{}, false
	}
	return intent.Match{Intent: "told", Actions: []intent.Action{{Tool: "memory_commit", Args: map[string]any{"triples": facts}}}}, true
}

func offered(tools []tool.Def, name string) bool {
	return slices.ContainsFunc(tools, func(d tool.Def) bool { return d.Name == name })
}

// answerLang is the language of the input, else the one the request names.
func answerLang(text, lang string) string {
	if l := intent.Lang(text, lang); l == "zh" || l == "en" {
		return l
	}
	return "zh"
}

// madeCall is a call of this turn with what became of it.
type madeCall struct {
	tool.Call
	status tool.Status
	text   string
	taken  bool // by one of our steps
}

// callsAfter collects the calls of the messages after the user's, with results.
func callsAfter(msgs []provider.Message) []*madeCall {
	var out []*madeCall
	for _, m := range msgs {
		switch m.Role {
		case provider.Assistant:
			for _, c := range m.Calls {
				out = append(out, &madeCall{Call: c, status: tool.Unknown})
			}
		case provider.Tool:
			for _, c := range out {
				if c.ID == m.CallID && m.Status != "" {
					c.status, c.text = m.Status, m.Content
				}
			}
		}
	}
	return out
}

// step is one action with its call.
type step struct {
	intent.Action
	args json.RawMessage
	made *madeCall // nil while it has not been asked for
}

// act asks for the calls of a match that were not made yet, or tells how they ended.
func (p *Provider) act(m intent.Match, text, lang string, tools []tool.Def, made []*madeCall) provider.Response {
	steps := make([]*step, len(m.Actions))
	for i, a := range m.Actions {
		args, trouble := p.arguments(a, m, text, lang)
		steps[i] = &step{Action: a, args: args}
		// A time of day may have passed since the call was made; what was made counts.
		if trouble != "" && !steps[i].takeByID(i, made) {
			return say(trouble)
		}
	}
	// First the calls that are exactly ours, then those that carry our id but
	// were changed on the way: a call that was made is never made again.
	for _, s := range steps {
		for _, c := range made {
			if s.made == nil && !c.taken && c.Name == s.Tool && s.same(c.Args) {
				s.made, c.taken = c, true
			}
		}
	}
	for i, s := range steps {
		s.takeByID(i, made)
	}
	var calls []tool.Call
	for i, s := range steps {
		if s.made != nil {
			continue
		}
		if !offered(tools, s.Tool) {
			if len(made) == 0 {
				return say(noTool(s.Tool, lang))
			}
			s.made = &madeCall{status: tool.NotRun}
			continue
		}
		calls = append(calls, tool.Call{ID: callID(i), Name: s.Tool, Args: s.args})
	}
	if len(calls) > 0 {
		return provider.Response{Calls: calls}
	}
	if echoes[m.Intent] {
		return blank(p.outcome(m, steps, text, lang))
	}
	return say(p.outcome(m, steps, text, lang))
}

// echoes are the intents whose answers say again what was said or is remembered.
var echoes = map[string]bool{"remember": true, "told": true, "recall": true, "forget": true}

// takeByID finds the call that carries the id of step i.
func (s *step) takeByID(i int, made []*madeCall) bool {
	for _, c := range made {
		if s.made == nil && !c.taken && c.ID == callID(i) {
			s.made, c.taken = c, true
		}
	}
	return s.made != nil
}

// maxRound bounds, in seconds, how long ago a call of this turn can have been made.
const maxRound = 3600

// same reports whether args are this step's. Seconds until a time of day have
// grown fewer since.
func (s *step) same(args json.RawMessage) bool {
	if _, ok := s.Args["seconds"].(intent.Clock); !ok {
		return sameJSON(args, s.args)
	}
	var was, is map[string]any
	if json.Unmarshal(args, &was) != nil || json.Unmarshal(s.args, &is) != nil {
		return false
	}
	before, ok1 := was["seconds"].(float64)
	now, ok2 := is["seconds"].(float64)
	if !ok1 || !ok2 || before < now || before-now > maxRound {
		return false
	}
	was["seconds"] = now
	a, _ := json.Marshal(was)
	b, _ := json.Marshal(is)
	return bytes.Equal(a, b)
}

func callID(i int) string { return fmt.Sprintf("%s-%d", Name, i+1) }

// sameJSON compares values, not bytes.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	ja, _ := json.Marshal(x)
	jb, _ := json.Marshal(y)
	return bytes.Equal(ja, jb)
}
