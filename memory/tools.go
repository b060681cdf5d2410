package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"homeagent/agent/plugin"
	"homeagent/agent/tool"
	"homeagent/memory/graph"
	"homeagent/memory/recall"
	"homeagent/memory/token"
)

// ToolReg is a tool to be registered.
type ToolReg struct {
	Def     tool.Def
	Handler tool.Handler
}

const (
	// recallFacts is how many facts memory_recall tells.
	recallFacts = 20
	// recallSaid is how many passages of what was said it tells behind them.
	recallSaid = 8
	// maxTriples is how many facts one memory_commit may bring.
	maxTriples = 64
	// maxListed is how many forgotten facts memory_purge names.
	maxListed = 10
	// maxTold is how much of a fact is told, in runes: twenty long ones must
	// not fill the model's window.
	maxTold = 400
)

// Tools are those of facts, documents and knowledge.
func (m *Memory) Tools() []ToolReg {
	return slices.Concat(m.factTools(), m.mergeTools(), m.documentTools())
}

func (m *Memory) factTools() []ToolReg {
	return []ToolReg{
		{tool.Def{Name: "memory_recall", Risk: tool.Read, Touches: tool.None, NoMemory: true,
			Description: "Look up what is remembered about a question or some key words: facts with their dates, and what was said. 查找记住的事。",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"question or key words, in the language of the facts"}},"required":["query"],"additionalProperties":false}`),
		}, m.toolRecall},
		{tool.Def{Name: "memory_commit", Risk: tool.Act, Touches: tool.None,
			Description: "Remember facts that will matter later, each as subject, relation, object. 记住以后有用的事。",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"triples":{"type":"array","minItems":1,"maxItems":64,"items":{"type":"object","properties":{"subject":{"type":"string"},"relation":{"type":"string"},"object":{"type":"string"}},"required":["subject","relation","object"],"additionalProperties":false}}},"required":["triples"],"additionalProperties":false}`),
		}, m.toolCommit},
		{tool.Def{Name: "memory_purge", Risk: tool.Risky, Touches: tool.None,
			Description: "Forget facts. mode soft hides them, hard deletes them for good. Only when asked to. 忘掉记住的事，只在用户要求时用。",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"criteria":{"type":"object","description":"all that are given must fit","properties":{"query":{"type":"string","description":"what the facts say"},"subject":{"type":"string"},"relation":{"type":"string"},"object":{"type":"string"}},"minProperties":1,"additionalProperties":false},"mode":{"type":"string","enum":["soft","hard"]}},"required":["criteria"],"additionalProperties":false}`),
		}, m.toolPurge},
		{tool.Def{Name: "memory_introspect", Risk: tool.Read, Touches: tool.None, NoMemory: true,
			Description: "Tell how much is remembered and what about. 看看记住了多少、关于什么。",
			Parameters:  json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		}, m.toolIntrospect},
	}
}

// langOf is the language of a text, or, where the text does not tell, of the
// input that the call belongs to.
func langOf(ctx context.Context, text string) string {
	if token.HasHan(text) {
		return "zh"
	}
	if in, ok := plugin.InputFrom(ctx); ok && len(token.Terms(text)) == 0 {
		if in.Lang != "" {
			return in.Lang
		}
		if token.HasHan(in.Payload) {
			return "zh"
		}
	}
	return "en"
}

// args reads the arguments of a call.
func args(ctx context.Context, call tool.Call, into any) error {
	if err := json.Unmarshal(call.Args, into); err != nil {
		return fmt.Errorf("%s: %w", both(langOf(ctx, ""), "参数不合 "+call.Name+" 的格式", "the arguments do not fit "+call.Name), err)
	}
	return nil
}

// told is an error whose text is for people and whose cause is for the log.
type told struct {
	text string
	err  error
}

func (t *told) Error() string { return t.text }

// Unwrap returns the cause.
func (t *told) Unwrap() error { return t.err }

// fail logs an error and puts it into words.
func (m *Memory) fail(ctx context.Context, call tool.Call, lang string, err error) error {
	if ctx.Err() == nil {
		m.log.Warn("a memory tool failed", "tool", call.Name, "err", err)
	}
	return &told{Explain(err, lang), err}
}

func (m *Memory) toolRecall(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a struct {
		Query string `json:"query"`
	}
	if err := args(ctx, call, &a); err != nil {
		return tool.Result{}, err
	}
	lang := langOf(ctx, a.Query)
	r, err := m.graph.Recall(ctx, graph.Query{Text: a.Query, Depth: 2, Limit: recallFacts, Past: true})
	if err != nil {
		return tool.Result{}, m.fail(ctx, call, lang, err)
	}
	items, err := m.recallItems(ctx, recall.Query{Text: a.Query, Limit: recallSaid + len(r.Facts), NoGraph: true})
	if err != nil {
		return tool.Result{}, m.fail(ctx, call, lang, err)
	}
	if len(r.Facts) == 0 && len(items) == 0 {
		return tool.Result{Text: both(lang, "没有找到相关的记忆。", "Nothing about that is remembered.")}, nil
	}
	var b strings.Builder
	for _, f := range r.Facts {
		// A tab parts the fact from the note about it, for readers that want
		// the fact alone.
		fmt.Fprintf(&b, "- %s\t%s\n", clip(f.Text()), origin(f, lang))
	}
	m.tellSaid(&b, items, lang)
	return tool.Result{Text: strings.TrimSuffix(b.String(), "\n")}, nil
}

// tellSaid adds what was said and written, behind the facts.
func (m *Memory) tellSaid(b *strings.Builder, items []recall.Item, lang string) {
	n := 0
	for _, i := range items {
		if n == recallSaid {
			return
		}
		text := strings.Join(strings.Fields(i.Text), " ")
		if text == "" {
			continue
		}
		if n++; n == 1 {
			b.WriteString(both(lang, "当时的原话：\n", "In the words of then:\n"))
		}
		when := both(lang, "日期不明", "no date")
		if !i.Time.IsZero() {
			when = i.Time.Format("2006-01-02 15:04")
		}
		fmt.Fprintf(b, "* %s\t%s\n", clip(text), both(lang, "（"+when+"，"+i.ID+"）", "("+when+", "+i.ID+")"))
	}
}

// clip shortens a text to maxTold.
func clip(s string) string {
	if len(s) <= maxTold {
		return s
	}
	if r := []rune(s); len(r) > maxTold {
		return string(r[:maxTold]) + "…"
	}
	return s
}

// origin tells when and where a fact was learned, and until when it held.
func origin(f graph.Fact, lang string) string {
	since := f.Created.Format("2006-01-02")
	note := both(lang, since+" 记下", "noted "+since)
	if f.Source != "" {
		note += both(lang, "，来自 "+f.Source, ", from "+f.Source)
	}
	if f.Status == graph.Past {
		until := f.Updated.Format("2006-01-02")
		note += both(lang, "，到 "+until+" 为止，现在已不是", ", held until "+until+", no longer")
	}
	return both(lang, "（"+note+"）", "("+note+")")
}

func (m *Memory) toolCommit(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a struct {
		Triples []plugin.Triple `json:"triples"`
	}
	if err := args(ctx, call, &a); err != nil {
		return tool.Result{}, err
	}
	text := ""
	for _, t := range a.Triples {
		text += t.Subject + t.Relation + t.Object
		if len(text) > graph.MaxField {
			break
		}
	}
	lang := langOf(ctx, text)
	switch {
	case len(a.Triples) == 0:
		return tool.Result{}, m.fail(ctx, call, lang, graph.ErrEmpty)
	case len(a.Triples) > maxTriples:
		return tool.Result{}, errors.New(both(lang, fmt.Sprintf("一次最多 %d 条，请分几次。", maxTriples), fmt.Sprintf("at most %d facts at once; make several calls", maxTriples)))
	}
	from := graph.Origin{}
	if in, ok := plugin.InputFrom(ctx); ok {
		if in.NoMemory {
			return tool.Result{}, errors.New(both(lang, "这次对话不留记忆，没有记下来。", "this turn leaves no memory, so nothing was kept"))
		}
		from = graph.Origin{Source: in.Source, Turn: in.ID}
	}
	c, err := m.graph.Commit(ctx, a.Triples, from)
	if err != nil {
		return tool.Result{}, m.fail(ctx, call, lang, err)
	}
	said := []string{both(lang, fmt.Sprintf("记住了 %d 条", c.Added), fmt.Sprintf("remembered: %d", c.Added))}
	if c.Confirmed > 0 {
		said = append(said, both(lang, fmt.Sprintf("%d 条早就知道", c.Confirmed), fmt.Sprintf("known before: %d", c.Confirmed)))
	}
	if c.Ended > 0 {
		said = append(said, both(lang, fmt.Sprintf("%d 条旧的成为历史", c.Ended), fmt.Sprintf("now history: %d", c.Ended)))
	}
	return tool.Result{Text: both(lang, strings.Join(said, "，")+"。", strings.Join(said, ", ")+".")}, nil
}

func (m *Memory) toolPurge(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a struct {
		Criteria struct {
			Query    string `json:"query"`
			Subject  string `json:"subject"`
			Relation string `json:"relation"`
			Object   string `json:"object"`
		} `json:"criteria"`
		Mode string `json:"mode"`
	}
	if err := args(ctx, call, &a); err != nil {
		return tool.Result{}, err
	}
	c := graph.Criteria{Query: a.Criteria.Query, Subject: a.Criteria.Subject, Relation: a.Criteria.Relation, Object: a.Criteria.Object}
	lang := langOf(ctx, c.Query+c.Subject+c.Relation+c.Object)
	if a.Mode != "" && a.Mode != "soft" && a.Mode != "hard" {
		return tool.Result{}, errors.New(both(lang, "mode 只能是 soft 或 hard。", "mode is soft or hard"))
	}
	gone, err := m.graph.Purge(ctx, c, a.Mode == "hard")
	if err != nil {
		return tool.Result{}, m.fail(ctx, call, lang, err)
	}
	if len(gone) == 0 {
		return tool.Result{Text: both(lang, "没有找到要忘掉的事，什么也没删。", "Nothing fits, so nothing was forgotten.")}, nil
	}
	var b strings.Builder
	b.WriteString(both(lang, fmt.Sprintf("忘掉了 %d 条：", len(gone)), fmt.Sprintf("Forgotten: %d", len(gone))))
	for i, f := range gone {
		if i == maxListed {
			b.WriteString("\n…")
			break
		}
		b.WriteString("\n- " + clip(f.Text()))
	}
	return tool.Result{Text: b.String()}, nil
}

func (m *Memory) toolIntrospect(ctx context.Context, call tool.Call) (tool.Result, error) {
	lang := langOf(ctx, "")
	s, err := m.graph.Introspect(ctx, 10)
	if err != nil {
		return tool.Result{}, m.fail(ctx, call, lang, err)
	}
	var names []string
	for _, e := range s.Top {
		names = append(names, fmt.Sprintf("%s (%d)", e.Name, e.Mentions))
	}
	text := both(lang,
		fmt.Sprintf("事实 %d 条，历史 %d 条，忘掉的 %d 条；实体 %d 个；对话里有 %d 条记录，移出 %d 条。", s.Active, s.Past, s.Forgotten, s.Entities, m.context.Len(), m.context.Moved()),
		fmt.Sprintf("Facts: %d, history: %d, forgotten: %d; entities: %d; events in the conversation: %d, moved out: %d.", s.Active, s.Past, s.Forgotten, s.Entities, m.context.Len(), m.context.Moved()))
	if len(names) > 0 {
		text += both(lang, "\n高频："+strings.Join(names, "、"), "\nMost frequent: "+strings.Join(names, ", "))
	}
	return tool.Result{Text: text}, nil
}
