package tidy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"homeagent/agent/plugin"
	"homeagent/agent/tool"
	"homeagent/memory/entity"
	"homeagent/memory/graph"
)

// Outcome is what somebody found out about a pair.
type Outcome string

// The outcomes.
const (
	Same      Outcome = "same"
	Different Outcome = "different"
	Undecided Outcome = "undecided"
)

var (
	// ErrPair is wrapped when a number is that of no pair that waits for an answer.
	ErrPair = errors.New("no such pair waits for an answer")
	// ErrOutcome is wrapped for an outcome that is none of the three.
	ErrOutcome = errors.New("outcome must be same, different or undecided")
)

// ToolDef is the tool memory_pair, by which a model answers. Its handler
// is to read Args and call Answer.
func ToolDef() tool.Def {
	return tool.Def{
		Name: "memory_pair",
		Description: "Answer whether the two records of a pair, as a memory tidying task names it, are one: same merges them " +
			"(it can be undone), different keeps them apart for good, undecided waits for new facts.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"pair":{"type":"integer","description":"the number of the pair"},` +
			`"outcome":{"type":"string","enum":["same","different","undecided"]},` +
			`"reason":{"type":"string","description":"one sentence: which facts tell"}},` +
			`"required":["pair","outcome"],"additionalProperties":false}`),
		Risk: tool.Act,
	}
}

// Args are the arguments of memory_pair.
type Args struct {
	Pair    int64   `json:"pair"`
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason"`
}

// Answer takes the outcome of a pair in and returns what became of it, in the
// pair's language. Same merges unless what is known contradicts: then the error
// wraps graph.ErrContradiction or graph.ErrDevices. The error wraps ErrPair where
// the pair does not wait (any more), ErrOutcome for an unknown outcome.
func (t *Tidy) Answer(ctx context.Context, a Args) (string, error) {
	if err := t.load(); err != nil {
		return "", fmt.Errorf("answer about a pair: %w", err)
	}
	t.answers.Lock()
	defer t.answers.Unlock()
	p, err := t.waiting(ctx, a.Pair)
	if err != nil {
		return "", fmt.Errorf("answer about pair %d: %w", a.Pair, err)
	}
	text, err := t.decide(ctx, p, a)
	if err != nil {
		return "", fmt.Errorf("answer about pair %d: %w", a.Pair, err)
	}
	if _, ok := t.saved.Asked[p.ID]; ok {
		if err := t.saveLocked(func(x *saved) { delete(x.Asked, p.ID) }); err != nil {
			// The graph has the answer; the next round forgets the question.
			t.o.Log.Warn("an answered pair is still noted as asked", "pair", p.ID, "err", err)
		}
	}
	return text, nil
}

// waiting finds a pair that is open or undecided.
func (t *Tidy) waiting(ctx context.Context, id int64) (graph.Pair, error) {
	for _, state := range []graph.PairState{graph.PairOpen, graph.PairUndecided} {
		pairs, err := t.o.Graph.Pairs(ctx, state, maxDifferent)
		if err != nil {
			return graph.Pair{}, err
		}
		for _, p := range pairs {
			if p.ID == id {
				return p, nil
			}
		}
	}
	return graph.Pair{}, ErrPair
}

func (t *Tidy) decide(ctx context.Context, p graph.Pair, a Args) (string, error) {
	l := pairLang(p)
	reason := clip(a.Reason)
	switch a.Outcome {
	case Different, Undecided:
		state, text := graph.PairDifferent, both(l, "记下了：不是同一个，不再问。", "Noted: they are two; it is not asked again.")
		if a.Outcome == Undecided {
			state, text = graph.PairUndecided, both(l, "记下了：还判断不了，有了新的事实再问。", "Noted: undecided; it is asked again after new facts.")
		}
		return text, t.o.Graph.Decide(ctx, p.A.ID, p.B.ID, state, reason)
	case Same:
		x, err := t.o.Graph.EntityFacts(ctx, p.A.ID, alikeFacts)
		if err != nil {
			return "", err
		}
		y, err := t.o.Graph.EntityFacts(ctx, p.B.ID, alikeFacts)
		if err != nil {
			return "", err
		}
		if entity.Parse(x.Name).Form == entity.Owned != (entity.Parse(y.Name).Form == entity.Owned) && contains(x.Name, y.Name) {
			// 张三 and 张三的妈妈: no reason can make them one.
			return "", fmt.Errorf("%w: %s, %s", graph.ErrContradiction, x.Name, y.Name)
		}
		keep, drop := better(x, y)
		n, err := t.o.Graph.Merge(ctx, keep.ID, drop.ID, reason)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf(both(l, "已合并为“%s”（合并号 %d，可以撤销）。", "Merged into “%s” (merge %d, it can be undone)."), clip(keep.Name), n), nil
	}
	return "", fmt.Errorf("%w: %q", ErrOutcome, a.Outcome)
}

// Undo takes a merge back, by the number that Merge gave it, and notes the two
// as different: what a person has parted no sentence puts together again. The
// error wraps those of graph.Undo.
func (t *Tidy) Undo(ctx context.Context, mergeID int64) error {
	merges, err := t.o.Graph.Merges(ctx, maxDifferent)
	if err != nil {
		return fmt.Errorf("undo a merge: %w", err)
	}
	if err := t.o.Graph.Undo(ctx, mergeID); err != nil {
		return err
	}
	for _, m := range merges {
		if m.ID == mergeID {
			l := lang(graph.Known{}, graph.Known{Entity: graph.Entity{Name: m.Dropped.Name}})
			err := t.o.Graph.Decide(ctx, m.Kept, m.Dropped.ID, graph.PairDifferent, both(l, "合并被撤销", "the merge was undone"))
			if err != nil {
				return fmt.Errorf("undo a merge: %w", err)
			}
		}
	}
	return nil
}

func contains(a, b string) bool { return strings.Contains(a, b) || strings.Contains(b, a) }

var (
	sayDifferent = regexp.MustCompile(`(?i)\bdifferent\b|不同|不是同一|两个人|不一样`)
	sayUndecided = regexp.MustCompile(`(?i)\bundecided\b|\bnot sure\b|\bcannot tell\b|判断不了|无法判断|不确定|没有把握`)
	sayDenied    = regexp.MustCompile(`(?i)\bnot (?:certainly |necessarily )?different\b|没有不同`)
)

// OutcomeOf reads an outcome from a model's final text, for one that talks
// instead of calling the tool. Only different and undecided are read so: a merge
// needs a call.
func OutcomeOf(text string) (Outcome, bool) {
	if len(text) > 4096 {
		text = text[:4096]
	}
	switch {
	case sayUndecided.MatchString(text), sayDenied.MatchString(text):
		return Undecided, true
	case sayDifferent.MatchString(text):
		return Different, true
	}
	return "", false
}

// Ended tells that the turn of an input has ended, with the model's final
// text; thought is false where no model answered. Inputs that ask about no pair
// are ignored, and so is a pair that was answered by a call. A text without an
// outcome makes the pair undecided; a turn without an answer lets it be asked
// again, three times at most.
func (t *Tidy) Ended(ctx context.Context, in plugin.Input, final string, thought bool) error {
	id, ok := PairOf(in)
	if !ok {
		return nil
	}
	if err := t.load(); err != nil {
		return fmt.Errorf("end of a tidying task: %w", err)
	}
	t.answers.Lock()
	defer t.answers.Unlock()
	a, ok := t.saved.Asked[id]
	if !ok || !a.Waits {
		return nil // answered by a call, or not ours any more
	}
	p, err := t.waiting(ctx, id)
	if errors.Is(err, ErrPair) {
		return t.saveLocked(func(x *saved) { delete(x.Asked, id) }) // merged by memory_merge
	}
	if err != nil {
		return fmt.Errorf("end of a tidying task: %w", err)
	}
	a.Tries, a.Waits = a.Tries+1, false
	if !thought && a.Tries < maxTries {
		return t.saveLocked(func(x *saved) { x.Asked[id] = a })
	}
	outcome, said := OutcomeOf(final)
	if !thought || !said {
		outcome = Undecided
	}
	if _, err := t.decide(ctx, p, Args{Pair: id, Outcome: outcome, Reason: final}); err != nil {
		return fmt.Errorf("end of a tidying task: %w", err)
	}
	return t.saveLocked(func(x *saved) { delete(x.Asked, id) })
}
