package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"homeagent/agent/tool"
)

// MaxToolText is the largest output of a tool that reaches the model, in
// bytes. What a tool gives beyond it is cut, and the cut is said.
const MaxToolText = 64 << 10

// hungTools is how many calls of one tool may hang before it is refused.
const hungTools = 3

// toolEntry is a registered tool.
type toolEntry struct {
	inst   *instance
	def    tool.Def
	schema *jsonschema.Resolved
	handle tool.Handler
}

// newTool checks and completes a definition.
func newTool(name string, def tool.Def, inst *instance, h tool.Handler) (*toolEntry, error) {
	fail := func(format string, args ...any) (*toolEntry, error) {
		return nil, fmt.Errorf("tool %q of plugin %s: %w", name, inst.name, fmt.Errorf(format, args...))
	}
	if !toolName.MatchString(name) {
		return fail("the name is malformed: a small letter, then small letters, digits and _, at most 64")
	}
	if def.Name != "" && def.Name != name {
		return fail("the definition calls it %q", def.Name)
	}
	if h == nil {
		return fail("no handler")
	}
	if strings.TrimSpace(def.Description) == "" {
		return fail("no description: the model could not know when to use it")
	}
	def.Name, def.Plugin = name, inst.name
	switch def.Risk {
	case tool.Read, tool.Act, tool.Risky:
	default:
		return fail("risk %q is none of read, act, risky", def.Risk)
	}
	if def.Touches == "" {
		def.Touches = tool.None
	}
	if def.Touches != tool.None && def.Touches != tool.Workspace {
		return fail("touches %q is none of none, workspace", def.Touches)
	}
	if len(def.Parameters) == 0 {
		def.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, def.Parameters); err != nil {
		return fail("parameters are no JSON: %w", err)
	}
	def.Parameters = compact.Bytes()
	schema, err := compile(def.Parameters)
	if err != nil {
		return fail("%w", err)
	}
	return &toolEntry{inst: inst, def: def, schema: schema, handle: h}, nil
}

func compile(parameters []byte) (*jsonschema.Resolved, error) {
	var kind struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(parameters, &kind); err != nil || kind.Type != "object" {
		return nil, errors.New("parameters are no JSON schema of type object")
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(parameters, &s); err != nil {
		return nil, fmt.Errorf("parameters are no JSON schema: %w", err)
	}
	// Without a loader a schema that refers elsewhere is refused.
	r, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("parameters are no JSON schema: %w", err)
	}
	return r, nil
}

// Tools are the definitions of all tools, sorted by name. The list is the same
// value until a tool comes or goes; nobody may change it.
func (h *Host) Tools() []tool.Def {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.reg.defs
}

// ToolDef returns a tool's definition.
func (h *Host) ToolDef(name string) (tool.Def, bool) {
	if t := h.tool(name); t != nil {
		return t.def, true
	}
	return tool.Def{}, false
}

// ToolDefCleaner returns the function that is applied to a tool's output where
// text is computed on; for a tool without one, or an unknown one, it changes nothing.
func (h *Host) ToolDefCleaner(name string) func(string) string {
	if t := h.tool(name); t != nil && t.def.Cleaner != nil {
		return t.def.Cleaner
	}
	return func(s string) string { return s }
}

// NoMemoryToolNames are the tools whose output is kept out of vectors,
// keywords and distillation, sorted.
func (h *Host) NoMemoryToolNames() []string {
	var out []string
	for _, d := range h.Tools() {
		if d.NoMemory {
			out = append(out, d.Name)
		}
	}
	return out
}

func (h *Host) tool(name string) *toolEntry {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.reg.tools[name].value
}

// Check looks at a call before anything is done for it. A call that cannot run
// gives a Failed result whose text tells the model what to correct.
func (h *Host) Check(call tool.Call) (tool.Def, *tool.Result) {
	refuse := func(format string, args ...any) *tool.Result {
		return &tool.Result{CallID: call.ID, Name: call.Name, Status: tool.Failed, Text: fmt.Sprintf(format, args...)}
	}
	t := h.tool(call.Name)
	if t == nil {
		var names []string
		for _, d := range h.Tools() {
			names = append(names, d.Name)
		}
		return tool.Def{}, refuse("there is no tool called %q. The tools are: %s", call.Name, strings.Join(names, ", "))
	}
	var args any
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return t.def, refuse("the arguments of %s are not valid JSON (%v). Call it again with a JSON object", call.Name, err)
	}
	if err := t.schema.Validate(args); err != nil {
		return t.def, refuse("the arguments of %s do not fit: %s. Correct them and call it again", call.Name, mistake(err))
	}
	return t.def, nil
}

// mistake is what is wrong with arguments in words: the library's message with
// the place as "deep.n" in front instead of the schema's own paths.
func mistake(err error) string {
	const step = "/properties/"
	text := err.Error()
	if i := strings.LastIndex(text, "validating "+step); i >= 0 {
		where, what, _ := strings.Cut(text[i+len("validating "+step):], ": ")
		return strings.ReplaceAll(where, step, ".") + ": " + what
	}
	return strings.TrimPrefix(text, "validating root: ")
}

// RunTool runs the handler of a call that Check has let pass, under the tool's
// deadline. The result is complete whatever the handler did.
func (h *Host) RunTool(ctx context.Context, call tool.Call) tool.Result {
	t := h.tool(call.Name)
	if t == nil {
		return tool.Result{CallID: call.ID, Name: call.Name, Status: tool.Failed, Text: "the tool is gone: its plugin has just stopped"}
	}
	limit := t.def.Timeout
	if limit <= 0 {
		limit = h.o.ToolTimeout
	}
	began := h.o.Now()
	ctx, done := within(ctx, t.inst)
	defer done()
	own := call
	own.Args = slices.Clone(call.Args)
	r, err := Do(ctx, h.guard, "tool "+call.Name, limit, hungTools, func(ctx context.Context) (tool.Result, error) {
		return t.handle(ctx, own)
	})
	r.CallID, r.Name = call.ID, call.Name
	if err != nil {
		h.failed(&r, t, err, limit, h.o.Now().Sub(began), ctx)
	} else {
		switch r.Status {
		case tool.Done, tool.Failed:
		case "":
			r.Status = tool.Done
		default:
			h.report(t.def.Plugin, "tool_garbage", fmt.Sprintf("tool %s returned the status %q", call.Name, r.Status))
			r.Status = tool.Done
		}
	}
	Tidy(&r)
	return r
}

// failed puts an error of a handler into words for the model.
func (h *Host) failed(r *tool.Result, t *toolEntry, err error, limit, took time.Duration, ctx context.Context) {
	r.Status = tool.Failed
	var p *PanicError
	var hung *HungError
	switch {
	case errors.As(err, &p):
		h.report(t.def.Plugin, "tool_panic", fmt.Sprintf("tool %s of plugin %s panicked: %v", r.Name, t.def.Plugin, p.Value))
		r.Text = "the tool broke while it ran (a fault of the plugin " + t.def.Plugin + "); it may have done a part of its work"
	case errors.As(err, &hung) && hung.Busy:
		r.Text = "the tool was not run: earlier calls of it still hang"
	case errors.As(err, &hung):
		h.report(t.def.Plugin, "tool_hung", fmt.Sprintf("tool %s of plugin %s does not return and was given up", r.Name, t.def.Plugin))
		r.Text = fmt.Sprintf("the tool did not end within %v and was given up", took.Round(time.Second))
		if ctx.Err() != nil { // the turn or the plugin ended, not the tool's own deadline
			r.Text = "the tool was stopped and did not end in time"
		}
		if t.def.Risk != tool.Read {
			r.Status = tool.Unknown
			r.Text += "; whether it has done its work is unknown"
		}
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		r.Text = fmt.Sprintf("the tool did not end within %v and was stopped", limit)
	default:
		r.Text = err.Error()
	}
}

// Tidy makes a result fit to be kept and shown: text is valid UTF-8 without
// NUL and at most MaxToolText bytes, with the cut said.
func Tidy(r *tool.Result) {
	r.Text = strings.ReplaceAll(strings.ToValidUTF8(r.Text, "\uFFFD"), "\x00", "")
	if n := len(r.Text); n > MaxToolText {
		cut := r.Text[:MaxToolText]
		r.Text = fmt.Sprintf("%s\n[cut: %d of %d bytes shown]", strings.ToValidUTF8(cut, ""), len(cut), n)
	}
	files := r.Files[:0:0]
	for _, f := range r.Files {
		if f = strings.ReplaceAll(strings.ToValidUTF8(f, ""), "\x00", ""); f != "" && len(files) < 64 {
			files = append(files, f)
		}
	}
	r.Files = files
	if len(files) == 0 {
		r.Files = nil
	}
}

// within ends ctx with the instance too, so that nothing outlives its plugin.
func within(ctx context.Context, inst *instance) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(inst.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}
