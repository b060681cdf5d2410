package mind

import (
	"slices"

	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

// pairs returns messages as a provider accepts them: each assistant message
// with calls is followed by one tool message for each of its calls, in their
// order, and no tool message stands anywhere else. What is missing is filled in
// as not run; orphans are left out. The input is not changed.
func pairs(list []provider.Message) []provider.Message {
	out := make([]provider.Message, 0, len(list))
	for i := 0; i < len(list); {
		msg := list[i]
		i++
		if msg.Role == provider.Tool {
			continue // an orphan: those that belong somewhere are taken below
		}
		if len(msg.Calls) == 0 {
			if msg.Content != "" || len(msg.Media) > 0 {
				out = append(out, msg)
			}
			continue
		}
		end := i
		for end < len(list) && list[end].Role == provider.Tool {
			end++
		}
		answers := list[i:end]
		i = end
		out = append(out, msg)
		for _, c := range msg.Calls {
			at := slices.IndexFunc(answers, func(a provider.Message) bool { return a.CallID == c.ID })
			if at < 0 {
				out = append(out, provider.Message{Role: provider.Tool, CallID: c.ID, Name: c.Name,
					Status: tool.NotRun, Content: "not run"})
				continue
			}
			out = append(out, answers[at])
		}
	}
	return out
}
