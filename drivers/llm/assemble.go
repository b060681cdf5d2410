package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"homeagent/agent/tool"
)

// maxCalls bounds the calls of one answer; more is a model that has lost its way.
const maxCalls = 64

// assembler puts the pieces of streamed tool calls together.
type assembler struct {
	calls []*partial
	// open is the call that pieces without index and id belong to.
	open *partial
}

type partial struct {
	index int
	id    string
	name  strings.Builder
	args  bytes.Buffer
}

// add takes one piece. A new call begins where the index is new, where an id
// appears that differs from the one the index had (two calls that share an
// index), or, without an index, where a name or a new id comes.
func (a *assembler) add(w wireCall) {
	p := a.find(w)
	if p == nil {
		if len(a.calls) >= maxCalls {
			return
		}
		p = &partial{index: -1, id: w.ID}
		if w.Index != nil {
			p.index = *w.Index
		}
		a.calls = append(a.calls, p)
	}
	a.open = p
	if p.id == "" {
		p.id = w.ID
	}
	if p.name.Len() == 0 || w.Function.Name != p.name.String() { // some repeat the whole name in each piece
		p.name.WriteString(w.Function.Name)
	}
	p.args.Write(argumentText(w.Function.Arguments))
}

func (a *assembler) find(w wireCall) *partial {
	if w.Index == nil {
		switch {
		case w.ID != "":
			for _, p := range a.calls {
				if p.id == w.ID {
					return p
				}
			}
			return nil
		case w.Function.Name != "" && a.open != nil && a.open.name.Len() > 0:
			return nil
		}
		return a.open
	}
	for i := len(a.calls) - 1; i >= 0; i-- { // the latest of those that share an index
		p := a.calls[i]
		if p.index != *w.Index {
			continue
		}
		if w.ID != "" && p.id != "" && w.ID != p.id {
			return nil
		}
		if w.ID == "" && w.Function.Name != "" && p.args.Len() > 0 && json.Valid(p.args.Bytes()) {
			return nil // a name after whole arguments: another call under the same index
		}
		return p
	}
	return nil
}

// argumentText takes the JSON string apart, or the object where one was sent.
func argumentText(raw json.RawMessage) []byte {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return []byte(s)
		}
	}
	return raw
}

// finish returns the calls with ids that are unique within the answer.
func (a *assembler) finish() []tool.Call {
	var out []tool.Call
	used := map[string]bool{}
	for i, p := range a.calls {
		id := p.id
		if id == "" || used[id] {
			id = fmt.Sprintf("call_%d", i)
		}
		used[id] = true
		out = append(out, tool.Call{ID: id, Name: strings.TrimSpace(p.name.String()), Args: repair(p.args.Bytes())})
	}
	return out
}

// repair returns arguments as valid JSON. What is broken in a way that has one
// meaning only is mended: nothing at all is {}, a fence of backticks around
// the JSON goes, an object cut off at its end is closed. Anything else comes
// back as a JSON string, which no tool's schema accepts, so that the model is
// told its arguments were broken and can call again.
func repair(raw []byte) json.RawMessage {
	raw = bytes.ToValidUTF8(bytes.TrimSpace(raw), []byte("\uFFFD"))
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	if json.Valid(raw) {
		return bytes.Clone(raw)
	}
	if t, ok := bytes.CutPrefix(raw, []byte("```")); ok {
		t = bytes.TrimPrefix(t, []byte("json"))
		t = bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(t), []byte("```")))
		if json.Valid(t) {
			return bytes.Clone(t)
		}
	}
	if closed := closeObject(raw); closed != nil {
		return closed
	}
	text, _ := json.Marshal(string(raw)) // a string always marshals
	return text
}

// closeObject adds the closing brackets that an object lacks at its end, if
// the cut fell between values: inside a string or a number the value itself
// may be cut, and guessing would act on half a word.
func closeObject(raw []byte) json.RawMessage {
	if raw[0] != '{' {
		return nil
	}
	var stack []byte
	inString, escaped := false, false
	for _, c := range raw {
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			stack = append(stack, '}')
		case c == '[':
			stack = append(stack, ']')
		case c == '}' || c == ']':
			if len(stack) == 0 || stack[len(stack)-1] != c {
				return nil
			}
			stack = stack[:len(stack)-1]
		}
	}
	last := raw[len(raw)-1]
	if inString || len(stack) == 0 || (last != '"' && last != '}' && last != ']') {
		return nil
	}
	out := bytes.Clone(raw)
	for i := len(stack) - 1; i >= 0; i-- {
		out = append(out, stack[i])
	}
	if !json.Valid(out) { // for instance a key without its value
		return nil
	}
	return out
}
