package memory

import (
	"context"
	"fmt"
	"strings"

	"homeagent/agent/plugin"
	"homeagent/memory/graph"
	"homeagent/memory/recall"
)

const (
	// turnFacts is how many facts a turn's recall looks at, turnItems how many
	// of them it hands on, turnNames how many entities the line names.
	turnFacts, turnItems, turnNames = 16, 8, 3
	// turnFloor is the score below which a fact is left to memory_recall: a
	// turn that speaks of something else must not be reminded by chance.
	turnFloor = 0.2
)

// Recall finds what is known about query. line is the one line for the prompt
// in lang ("zh", else English), "" if nothing is known; items are the best
// facts. It costs no sync and no more than a few hundred microseconds.
func (m *Memory) Recall(ctx context.Context, query, lang string) (line string, items []plugin.Item, err error) {
	r, err := m.graph.Recall(ctx, graph.Query{Text: query, Depth: 1, Limit: turnFacts})
	if err != nil {
		return "", nil, err
	}
	for _, f := range r.Facts {
		if len(items) < turnItems && f.Score >= turnFloor {
			items = append(items, item(f))
		}
	}
	if len(items) == 0 {
		return "", nil, nil
	}
	return indexLine(r.Entities, lang), items, nil
}

// itself are names of whoever speaks: of everyone's facts, and no help.
var itself = map[string]bool{"我": true, "我们": true, "用户": true, "I": true, "we": true, "user": true, "the user": true}

// indexLine tells how much there is and of what.
func indexLine(entities []graph.Entity, lang string) string {
	var names []string
	for _, e := range entities {
		if len(names) < turnNames && !itself[e.Name] {
			names = append(names, e.Name)
		}
	}
	if lang == "zh" {
		line := fmt.Sprintf("【记忆索引】关联 %d 个实体", len(entities))
		if len(names) > 0 {
			line += "，高频 " + strings.Join(names, "、")
		}
		return line + "，细节用 memory_recall"
	}
	noun := "entities"
	if len(entities) == 1 {
		noun = "entity"
	}
	line := fmt.Sprintf("[Memory index] %d related %s", len(entities), noun)
	if len(names) > 0 {
		line += ", most frequent: " + strings.Join(names, ", ")
	}
	return line + "; details by memory_recall"
}

// RecallItems finds what is remembered about query, best first: what was said
// and written, facts, each with its time and where it comes from. At most limit
// items, 10 if 0.
func (m *Memory) RecallItems(ctx context.Context, query string, limit int) ([]recall.Item, error) {
	return m.recallItems(ctx, recall.Query{Text: query, Limit: limit})
}

func (m *Memory) recallItems(ctx context.Context, q recall.Query) ([]recall.Item, error) {
	q.Now = m.now()
	s := recall.Sources{Passages: []recall.Passages{m.index}, Facts: m.graph}
	if v := m.vectors.Load(); v != nil {
		s.Vectors = v
	}
	items, errs, err := s.Recall(ctx, q)
	for _, e := range errs {
		if err == nil && ctx.Err() == nil {
			m.log.Warn("a part of memory could not be asked", "err", e)
		}
	}
	return items, err
}

func item(f graph.Fact) plugin.Item {
	return plugin.Item{ID: fmt.Sprintf("fact:%d", f.ID), Text: f.Text(), Score: f.Score}
}

// Plugin is memory as plugins may use it.
func (m *Memory) Plugin() plugin.Memory { return forPlugins{m} }

type forPlugins struct{ m *Memory }

// Recall finds at most limit facts.
func (p forPlugins) Recall(ctx context.Context, query string, limit int) ([]plugin.Item, error) {
	if limit <= 0 {
		return nil, nil
	}
	r, err := p.m.graph.Recall(ctx, graph.Query{Text: query, Depth: 2, Limit: limit})
	if err != nil {
		return nil, err
	}
	var items []plugin.Item
	for _, f := range r.Facts {
		items = append(items, item(f))
	}
	return items, nil
}

// Commit takes facts in.
func (p forPlugins) Commit(ctx context.Context, triples []plugin.Triple, source string) error {
	return p.m.Commit(ctx, triples, source)
}
