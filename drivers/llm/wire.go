package llm

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

// The request of a chat completion.
type wireRequest struct {
	Model         string         `json:"model"`
	Messages      []wireMessage  `json:"messages"`
	Tools         []wireTool     `json:"tools,omitempty"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options,omitempty"`
	Thinking      *thinking      `json:"thinking,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type thinking struct {
	Type string `json:"type"`
}

type wireMessage struct {
	Role string `json:"role"`
	// Content is a string, a list of parts, or null beside tool calls.
	Content    any        `json:"content"`
	ToolCalls  []wireCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Reasoning  string     `json:"reasoning_content,omitempty"`
}

type wirePart struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type wireCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name string `json:"name,omitempty"`
	// Arguments is JSON in a string; some imitators send the object itself.
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

type wireTool struct {
	Type     string     `json:"type"`
	Function wireSchema `json:"function"`
}

type wireSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// One piece of the answer, or the whole where a server does not stream.
type wireChunk struct {
	Model   string       `json:"model"`
	Choices []wireChoice `json:"choices"`
	Usage   *wireUsage   `json:"usage"`
	Error   *wireError   `json:"error"`
}

type wireChoice struct {
	Delta        wireDelta `json:"delta"`
	Message      wireDelta `json:"message"`
	FinishReason string    `json:"finish_reason"`
}

type wireDelta struct {
	Content   string     `json:"content"`
	Reasoning string     `json:"reasoning_content"`
	ToolCalls []wireCall `json:"tool_calls"`
}

type wireUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	CacheHit   int `json:"prompt_cache_hit_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

type wireError struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    any    `json:"code"`
}

// build makes the wire form of a request. System prompt and tools come first
// and byte-stable, so that the server's prefix cache hits; notes come last.
func (c *Client) build(req provider.Request) wireRequest {
	w := wireRequest{Model: c.cfg.Model, Stream: true, StreamOptions: &streamOptions{IncludeUsage: true}}
	if c.cfg.Kind == "deepseek" {
		w.Thinking = &thinking{Type: "disabled"}
		if c.cfg.Thinking {
			w.Thinking.Type = "enabled"
		}
	}
	if req.System != "" {
		w.Messages = append(w.Messages, wireMessage{Role: "system", Content: req.System})
	}
	for _, m := range pairUp(req.Messages) {
		w.Messages = append(w.Messages, wireOf(m))
	}
	if req.Notes != "" {
		w.Messages = append(w.Messages, wireMessage{Role: "system", Content: req.Notes})
	}
	for _, d := range req.Tools {
		params := d.Parameters
		if len(params) == 0 {
			params = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		w.Tools = append(w.Tools, wireTool{Type: "function", Function: wireSchema{Name: d.Name, Description: d.Description, Parameters: params}})
	}
	return w
}

func wireOf(m provider.Message) wireMessage {
	w := wireMessage{Role: string(m.Role), Content: m.Content, ToolCallID: m.CallID}
	if len(m.Media) > 0 && m.Role == provider.User {
		parts := []wirePart{}
		if m.Content != "" {
			parts = append(parts, wirePart{Type: "text", Text: m.Content})
		}
		for _, media := range m.Media {
			if strings.HasPrefix(media.MIME, "image/") && len(media.Data) > 0 {
				parts = append(parts, wirePart{Type: "image_url", ImageURL: &imageURL{"data:" + media.MIME + ";base64," + base64.StdEncoding.EncodeToString(media.Data)}})
			}
		}
		if len(parts) > 0 {
			w.Content = parts
		}
	}
	if m.Role != provider.Assistant {
		return w
	}
	for _, call := range m.Calls {
		args := call.Args
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		text, _ := json.Marshal(string(args)) // a string always marshals
		w.ToolCalls = append(w.ToolCalls, wireCall{ID: call.ID, Type: "function", Function: wireFunction{Name: call.Name, Arguments: text}})
	}
	if len(w.ToolCalls) > 0 {
		// A server that reasons refuses a tool call without the reasoning that led to it.
		w.Reasoning = m.Reasoning
		if m.Content == "" {
			w.Content = nil
		}
	}
	return w
}

// pairUp makes a conversation that every server accepts: a tool message
// without its call is dropped, a call without its result gets one that says so.
func pairUp(msgs []provider.Message) []provider.Message {
	out := make([]provider.Message, 0, len(msgs))
	for i := 0; i < len(msgs); i++ {
		m := msgs[i]
		if m.Role == provider.Tool {
			continue // an orphan: those with a call are taken below
		}
		out = append(out, m)
		if m.Role != provider.Assistant || len(m.Calls) == 0 {
			continue
		}
		results := map[string]provider.Message{}
		for j := i + 1; j < len(msgs) && msgs[j].Role == provider.Tool; j++ {
			if _, twice := results[msgs[j].CallID]; !twice {
				results[msgs[j].CallID] = msgs[j]
			}
		}
		for _, call := range m.Calls {
			r, ok := results[call.ID]
			if !ok {
				r = provider.Message{Role: provider.Tool, CallID: call.ID, Name: call.Name, Status: tool.NotRun, Content: "no result is known for this call"}
			}
			out = append(out, r)
		}
	}
	return out
}
