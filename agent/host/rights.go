package host

import (
	"bytes"
	"maps"
	"reflect"
	"slices"

	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

// right is a field of StageContext with the stages that may write it. A field
// without stages is read only everywhere.
type right struct {
	field  string
	stages []plugin.Stage
	same   func(a, b *plugin.StageContext) bool
	take   func(to, from *plugin.StageContext)
}

// anyButLast are the stages that may end the turn.
var anyButLast = plugin.Stages[:len(plugin.Stages)-1]

// rights is the stage table.
var rights = []right{
	{"raw_message", []plugin.Stage{plugin.OnInput},
		func(a, b *plugin.StageContext) bool { return a.RawMessage == b.RawMessage },
		func(to, from *plugin.StageContext) { to.RawMessage = from.RawMessage }},
	{"context_messages", []plugin.Stage{plugin.PreAction, plugin.PostAction},
		func(a, b *plugin.StageContext) bool { return sameMessages(a.ContextMsgs, b.ContextMsgs) },
		func(to, from *plugin.StageContext) { to.ContextMsgs = from.ContextMsgs }},
	{"llm_text", []plugin.Stage{plugin.PostAction},
		func(a, b *plugin.StageContext) bool { return a.LLMText == b.LLMText },
		func(to, from *plugin.StageContext) { to.LLMText = from.LLMText }},
	{"tool_calls", []plugin.Stage{plugin.PostAction},
		func(a, b *plugin.StageContext) bool { return slices.EqualFunc(a.ToolCalls, b.ToolCalls, sameCall) },
		func(to, from *plugin.StageContext) { to.ToolCalls = from.ToolCalls }},
	{"tool_call.name", []plugin.Stage{plugin.BeforeToolcall},
		func(a, b *plugin.StageContext) bool { return a.Call.Name == b.Call.Name },
		func(to, from *plugin.StageContext) { to.Call.Name = from.Call.Name }},
	{"tool_call.args", []plugin.Stage{plugin.BeforeToolcall},
		func(a, b *plugin.StageContext) bool { return bytes.Equal(a.Call.Args, b.Call.Args) },
		func(to, from *plugin.StageContext) { to.Call.Args = from.Call.Args }},
	{"tool_call.id", nil,
		func(a, b *plugin.StageContext) bool { return a.Call.ID == b.Call.ID }, nil},
	{"deny", []plugin.Stage{plugin.BeforeToolcall},
		func(a, b *plugin.StageContext) bool { return a.Deny == b.Deny && a.DenyReason == b.DenyReason },
		func(to, from *plugin.StageContext) { to.Deny, to.DenyReason = from.Deny, from.DenyReason }},
	{"tool_result", []plugin.Stage{plugin.AfterToolcall},
		func(a, b *plugin.StageContext) bool {
			return a.Result.Text == b.Result.Text && a.Result.Status == b.Result.Status && slices.Equal(a.Result.Files, b.Result.Files)
		},
		func(to, from *plugin.StageContext) {
			to.Result.Text, to.Result.Files = from.Result.Text, from.Result.Files
			switch from.Result.Status {
			case tool.Done, tool.Failed, tool.Unknown, tool.Denied, tool.NotRun:
				to.Result.Status = from.Result.Status
			}
			Tidy(&to.Result)
		}},
	{"tool_result.call", nil,
		func(a, b *plugin.StageContext) bool {
			return a.Result.CallID == b.Result.CallID && a.Result.Name == b.Result.Name
		}, nil},
	{"final_text", []plugin.Stage{plugin.BeforeOutput},
		func(a, b *plugin.StageContext) bool { return a.FinalText == b.FinalText },
		func(to, from *plugin.StageContext) { to.FinalText = from.FinalText }},
	{"skip_output", []plugin.Stage{plugin.BeforeOutput},
		func(a, b *plugin.StageContext) bool { return a.SkipOutput == b.SkipOutput },
		func(to, from *plugin.StageContext) { to.SkipOutput = from.SkipOutput }},
	{"response", anyButLast,
		func(a, b *plugin.StageContext) bool {
			return (a.Response == nil) == (b.Response == nil) && (a.Response == nil || *a.Response == *b.Response)
		},
		func(to, from *plugin.StageContext) { to.Response = from.Response }},
	{"extra", plugin.Stages,
		func(a, b *plugin.StageContext) bool { return maps.Equal(a.Extra, b.Extra) },
		func(to, from *plugin.StageContext) { to.Extra = from.Extra }},
	{"phase", nil, func(a, b *plugin.StageContext) bool { return a.Phase == b.Phase }, nil},
	{"input", nil, func(a, b *plugin.StageContext) bool { return reflect.DeepEqual(a.Input, b.Input) }, nil},
	{"user_id", nil, func(a, b *plugin.StageContext) bool { return a.UserID == b.UserID }, nil},
	{"group_id", nil, func(a, b *plugin.StageContext) bool { return a.GroupID == b.GroupID }, nil},
	{"tool_results", nil,
		func(a, b *plugin.StageContext) bool { return reflect.DeepEqual(a.ToolResults, b.ToolResults) }, nil},
	{"memory", nil, func(a, b *plugin.StageContext) bool { return slices.Equal(a.Memory, b.Memory) }, nil},
	{"no_memory", nil, func(a, b *plugin.StageContext) bool { return a.NoMemory == b.NoMemory }, nil},
}

// takeOver brings what changed from the handler's copy into to, as far as the
// stage may write it, and names the fields that it may not. before is what the
// handler was given.
func takeOver(to, before, after *plugin.StageContext) (refused []string) {
	for _, r := range rights {
		if r.same(before, after) {
			continue
		}
		if slices.Contains(r.stages, before.Phase) {
			r.take(to, after)
		} else {
			refused = append(refused, r.field)
		}
	}
	return refused
}

func sameCall(a, b tool.Call) bool {
	return a.ID == b.ID && a.Name == b.Name && bytes.Equal(a.Args, b.Args)
}

func sameMessages(a, b []provider.Message) bool { return reflect.DeepEqual(a, b) }

// cloneContext is a copy that shares nothing that can be written.
func cloneContext(c *plugin.StageContext) *plugin.StageContext {
	n := *c
	n.Input.Media = cloneMedia(c.Input.Media)
	n.ContextMsgs = CloneMessages(c.ContextMsgs)
	n.ToolCalls = cloneCalls(c.ToolCalls)
	n.Call.Args = slices.Clone(c.Call.Args)
	n.Result.Files = slices.Clone(c.Result.Files)
	n.ToolResults = slices.Clone(c.ToolResults)
	for i := range n.ToolResults {
		n.ToolResults[i].Files = slices.Clone(n.ToolResults[i].Files)
	}
	if c.Response != nil {
		text := *c.Response
		n.Response = &text
	}
	n.Memory = slices.Clone(c.Memory)
	n.Extra = maps.Clone(c.Extra)
	if n.Extra == nil {
		n.Extra = map[string]string{} // so that a handler may simply write into it
	}
	return &n
}

// CloneMessages copies messages so that nothing is shared.
func CloneMessages(list []provider.Message) []provider.Message {
	out := slices.Clone(list)
	for i := range out {
		out[i].Media = cloneMedia(out[i].Media)
		out[i].Calls = cloneCalls(out[i].Calls)
	}
	return out
}

func cloneCalls(list []tool.Call) []tool.Call {
	out := slices.Clone(list)
	for i := range out {
		out[i].Args = slices.Clone(out[i].Args)
	}
	return out
}

func cloneMedia(list []provider.Media) []provider.Media {
	out := slices.Clone(list)
	for i := range out {
		out[i].Data = slices.Clone(out[i].Data)
	}
	return out
}
