package mind

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

// conversation is one with tools in it, whole.
func conversation() (out []provider.Message) {
	for i := range 4 {
		out = append(out, provider.Message{Role: provider.User, Content: "question"})
		var cs []tool.Call
		for k := range i {
			cs = append(cs, call(fmt.Sprintf("c%d_%d", i, k), "lamp", `{}`))
		}
		if len(cs) > 0 {
			out = append(out, provider.Message{Role: provider.Assistant, Calls: cs, Reasoning: "r"})
			for _, c := range cs {
				out = append(out, provider.Message{Role: provider.Tool, CallID: c.ID, Content: "result"})
			}
		}
		out = append(out, provider.Message{Role: provider.Assistant, Content: "answer"})
	}
	return out
}

// checkPairs holds what providers demand.
func checkPairs(fail func(string, ...any), list []provider.Message) {
	for i := 0; i < len(list); i++ {
		m := list[i]
		if m.Role == provider.Tool {
			fail("message %d is an orphan: %+v", i, m)
		}
		for k, c := range m.Calls {
			if i+1+k >= len(list) || list[i+1+k].Role != provider.Tool || list[i+1+k].CallID != c.ID {
				fail("call %s of message %d has no answer in its place", c.ID, i)
				return
			}
		}
		i += len(m.Calls)
	}
}

func TestPairsAfterPruningAnywhere(t *testing.T) {
	all := conversation()
	if got := pairs(all); len(got) != len(all) {
		t.Errorf("a whole conversation of %d messages becomes %d", len(all), len(got))
	}
	for from := range all {
		for to := from; to <= len(all); to++ {
			got := pairs(all[from:to])
			checkPairs(func(f string, a ...any) { t.Errorf("%d to %d: "+f, append([]any{from, to}, a...)...) }, got)
		}
		without := append(append([]provider.Message(nil), all[:from]...), all[from+1:]...)
		checkPairs(func(f string, a ...any) { t.Errorf("without %d: "+f, append([]any{from}, a...)...) }, pairs(without))
	}
}

func TestPairsOfAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var list []provider.Message
		for range rapid.IntRange(0, 12).Draw(rt, "n") {
			m := provider.Message{
				Role:    rapid.SampledFrom([]provider.Role{provider.User, provider.Assistant, provider.Tool, provider.System}).Draw(rt, "role"),
				Content: rapid.SampledFrom([]string{"", "x"}).Draw(rt, "content"),
				CallID:  rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "id"),
			}
			if m.Role == provider.Assistant {
				for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID).Draw(rt, "calls") {
					m.Calls = append(m.Calls, tool.Call{ID: id})
				}
			}
			list = append(list, m)
		}
		once := pairs(list)
		checkPairs(rt.Fatalf, once)
		if twice := pairs(once); len(twice) != len(once) {
			rt.Fatalf("a second pass changes %d messages into %d", len(once), len(twice))
		}
	})
}
