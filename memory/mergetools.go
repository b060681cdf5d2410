package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"homeagent/agent/tool"
	"homeagent/memory/graph"
	"homeagent/memory/tidy"
)

// mergeTools are those by which a model decides whether two entities are one.
func (m *Memory) mergeTools() []ToolReg {
	pair := tidy.ToolDef()
	pair.Touches = tool.None
	return []ToolReg{
		{tool.Def{Name: "memory_merge", Risk: tool.Act, Touches: tool.None,
			Description: "Make two remembered entities one because facts show that they are: drop becomes keep. It can be undone. 把两个其实是同一个的实体合并。",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"keep":{"type":"string","description":"name of the one that stays"},"drop":{"type":"string","description":"name of the one that goes"}},"required":["keep","drop"],"additionalProperties":false}`),
		}, m.toolMerge},
		{pair, m.toolPair},
	}
}

func (m *Memory) toolMerge(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a struct {
		Keep string `json:"keep"`
		Drop string `json:"drop"`
	}
	if err := args(ctx, call, &a); err != nil {
		return tool.Result{}, err
	}
	lang := langOf(ctx, a.Keep+a.Drop)
	keep, err := m.oneEntity(ctx, a.Keep, lang)
	if err != nil {
		return tool.Result{}, m.fail(ctx, call, lang, err)
	}
	drop, err := m.oneEntity(ctx, a.Drop, lang)
	if err != nil {
		return tool.Result{}, m.fail(ctx, call, lang, err)
	}
	id, err := m.graph.Merge(ctx, keep.ID, drop.ID, "memory_merge")
	if err != nil {
		return tool.Result{}, m.fail(ctx, call, lang, err)
	}
	return tool.Result{Text: fmt.Sprintf(both(lang, "“%s”并入了“%s”（合并号 %d，可以撤销）。", "%q is one with %q now (merge %d, it can be undone)."), drop.Name, keep.Name, id)}, nil
}

// oneEntity is the entity of a name. One that several bear is told with its
// bearers: guessing would merge the wrong ones.
func (m *Memory) oneEntity(ctx context.Context, name, lang string) (graph.Entity, error) {
	all, err := m.graph.Find(ctx, name, 5)
	switch {
	case err != nil:
		return graph.Entity{}, err
	case len(all) == 0:
		return graph.Entity{}, &told{fmt.Sprintf(both(lang, "没有叫“%s”的实体。", "No entity is called %q."), name), graph.ErrUnknown}
	case len(all) == 1 || all[0].Name == name:
		return all[0], nil
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
	}
	return graph.Entity{}, &told{fmt.Sprintf(both(lang, "叫“%s”的有几个：%s。请用全名。", "Several are called %q: %s. Use the full name."), name, strings.Join(names, both(lang, "、", ", "))), graph.ErrUnknown}
}

func (m *Memory) toolPair(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a tidy.Args
	if err := args(ctx, call, &a); err != nil {
		return tool.Result{}, err
	}
	t := m.tidy.Load()
	if t == nil {
		return tool.Result{}, errNotStarted
	}
	text, err := t.Answer(ctx, a)
	if err != nil {
		return tool.Result{}, m.fail(ctx, call, langOf(ctx, a.Reason), err)
	}
	return tool.Result{Text: text}, nil
}

// explainMerge puts the errors of merging into words, "" for others.
func explainMerge(err error, lang string) string {
	var t *told
	if errors.As(err, &t) {
		return t.text
	}
	for _, w := range []struct {
		err    error
		zh, en string
	}{
		{graph.ErrSame, "它们已经是同一个了。", "They are one already."},
		{graph.ErrDevices, "两个登记过的设备不能合并。", "Two registered devices are never merged."},
		{graph.ErrContradiction, "它们有互相矛盾的特征，不能合并。", "They contradict each other in what only one can have, so they are not merged."},
		{graph.ErrUndone, "那次合并已经撤销过了。", "That merge was undone before."},
		{graph.ErrLaterMerge, "后来的合并以它为基础，请先撤销后来的。", "A later merge builds on it; undo that one first."},
		{graph.ErrUnknown, "没有这个编号或名字。", "Nothing has that number or name."},
		{tidy.ErrPair, "没有等待回答的这一对。", "No such pair waits for an answer."},
		{tidy.ErrOutcome, "outcome 只能是 same、different 或 undecided。", "outcome is same, different or undecided."},
	} {
		if errors.Is(err, w.err) {
			return both(lang, w.zh, w.en)
		}
	}
	return ""
}
