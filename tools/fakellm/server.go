package fakellm

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Call is a tool call that a Reply makes. Args is sent as it is, broken or not.
type Call struct {
	ID, Name, Args string
}

// Reply is one answer and the ways in which it misbehaves.
type Reply struct {
	Text      string
	Reasoning string
	Calls     []Call

	// Status other than 0 and 200 is answered with Body and RetryAfter instead.
	Status     int
	Body       string
	RetryAfter string

	// Hang sends nothing at all until the client leaves.
	Hang bool
	// KeepAlives is how many comments come before the first piece; Every is the
	// pause between them.
	KeepAlives int
	Every      time.Duration
	// SplitBytes sends every byte in a write of its own.
	SplitBytes bool
	// CRLF ends lines with CR LF.
	CRLF bool
	// Noise mixes in empty data lines, bare event lines, ids and blank lines.
	Noise bool
	// SameIndex gives every call index 0; NoIndex leaves the index out; NoID the id.
	SameIndex, NoIndex, NoID bool
	// ObjectArgs sends arguments as an object instead of a string.
	ObjectArgs bool
	// CutOff ends the connection before the end mark.
	CutOff bool
	// Whole answers with one JSON object although a stream was asked for.
	Whole bool
	// PieceLen is the number of characters of one piece; 0 is 8.
	PieceLen int
}

// Message is a message as it was received.
type Message struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"tool_call_id"`
	Reasoning string          `json:"reasoning_content"`
	ToolCalls []ReceivedCall  `json:"tool_calls"`
}

// Text is the content where it is a string, "" else.
func (m Message) Text() string {
	var s string
	if json.Unmarshal(m.Content, &s) != nil {
		return ""
	}
	return s
}

// ReceivedCall is a tool call inside a received assistant message.
type ReceivedCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// Request is what was received. Prefix is the bytes of system prompt and tool
// list, for comparing one turn's with the next.
type Request struct {
	Model    string    `json:"model"`
	Messages []Message `json:"messages"`
	Tools    []struct {
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Stream   bool `json:"stream"`
	Thinking *struct {
		Type string `json:"type"`
	} `json:"thinking"`
	Prefix   string    `json:"-"`
	Received time.Time `json:"-"`
}

// Last is the text of the newest message with the role, "" if there is none.
func (r Request) Last(role string) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == role {
			return r.Messages[i].Text()
		}
	}
	return ""
}

// Script decides the answer to a request.
type Script func(Request) Reply

// Server is an http.Handler; give it to an http.Server or httptest.Server.
type Server struct {
	// Key, if set, must come as the bearer token.
	Key string
	// DeepSeek asks for thinking to be switched off and for reasoning to be sent back.
	DeepSeek bool
	// Sent, if set, is called once an answer: right before its end mark leaves, or
	// when the client has left a reply that hangs.
	Sent func()

	mu         sync.Mutex
	script     Script
	requests   []Request
	violations []string
	reasonings map[string]string // by call id: what must come back
}

// New makes a server that answers by script.
func New(script Script) *Server {
	return &Server{script: script, reasonings: map[string]string{}}
}

// Requests returns what was received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Violations returns what was wrong with the requests so far.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.violations...)
}

// ServeHTTP answers POST …/chat/completions.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return
	}
	received := time.Now()
	if s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key {
		problem(w, 401, "Authentication Fails, Your api key: ****"+tail(r.Header.Get("Authorization"))+" is invalid")
		return
	}
	var req Request
	if err := json.Unmarshal(body, &req); err != nil {
		s.violate(w, "the body is no JSON object: "+err.Error())
		return
	}
	req.Received = received
	req.Prefix = prefix(body)
	if bad := s.check(req); bad != "" {
		s.violate(w, bad)
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, req)
	script := s.script
	s.mu.Unlock()
	rep := script(req)
	if rep.Reasoning != "" {
		s.mu.Lock()
		for _, c := range rep.Calls {
			s.reasonings[c.ID] = rep.Reasoning
		}
		s.mu.Unlock()
	}
	sent := s.Sent
	if sent == nil {
		sent = func() {}
	}
	rep.write(w, r, sent)
}

// SetScript replaces the script from the next request on.
func (s *Server) SetScript(script Script) {
	s.mu.Lock()
	s.script = script
	s.mu.Unlock()
}

func (s *Server) violate(w http.ResponseWriter, what string) {
	s.mu.Lock()
	s.violations = append(s.violations, what)
	s.mu.Unlock()
	problem(w, 400, what)
}

// check holds a request against the protocol; "" if all is well.
func (s *Server) check(req Request) string {
	if req.Model == "" {
		return "model is missing"
	}
	if !req.Stream {
		return "a stream is expected"
	}
	if s.DeepSeek && (req.Thinking == nil || req.Thinking.Type != "disabled") {
		return "thinking is not switched off"
	}
	if len(req.Messages) == 0 {
		return "messages is empty"
	}
	names := map[string]bool{}
	for _, t := range req.Tools {
		if names[t.Function.Name] {
			return "tool " + t.Function.Name + " stands twice"
		}
		names[t.Function.Name] = true
		if !json.Valid(t.Function.Parameters) || t.Function.Parameters[0] != '{' {
			return "tool " + t.Function.Name + " has no schema"
		}
	}
	open := []string{}
	for i, m := range req.Messages {
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Sprintf("message %d: an assistant message with tool_calls must be followed by tool messages; missing %v", i, open)
		}
		switch m.Role {
		case "system", "user":
			if len(m.Content) == 0 || string(m.Content) == "null" {
				return fmt.Sprintf("message %d: %s without content", i, m.Role)
			}
		case "assistant":
			if len(m.ToolCalls) == 0 && m.Text() == "" {
				return fmt.Sprintf("message %d: assistant without content and calls", i)
			}
			for _, c := range m.ToolCalls {
				if c.ID == "" || c.Type != "function" || c.Function.Name == "" {
					return fmt.Sprintf("message %d: incomplete call", i)
				}
				s.mu.Lock()
				want := s.reasonings[c.ID]
				s.mu.Unlock()
				if want != "" && m.Reasoning != want {
					return "The reasoning_content in the thinking mode must be passed back to the API."
				}
				open = append(open, c.ID)
			}
		case "tool":
			at := -1
			for j, id := range open {
				if id == m.CallID {
					at = j
				}
			}
			if at < 0 {
				return fmt.Sprintf("message %d: tool message without a preceding tool_call", i)
			}
			open = append(open[:at], open[at+1:]...)
		default:
			return fmt.Sprintf("message %d: unknown role %q", i, m.Role)
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("calls without results at the end: %v", open)
	}
	return ""
}

// prefix is what a server's cache would match: model, system prompt, tools.
func prefix(body []byte) string {
	var raw struct {
		Messages []json.RawMessage `json:"messages"`
		Tools    json.RawMessage   `json:"tools"`
	}
	if json.Unmarshal(body, &raw) != nil || len(raw.Messages) == 0 {
		return ""
	}
	return string(raw.Messages[0]) + string(raw.Tools)
}

func tail(s string) string {
	if len(s) < 4 {
		return s
	}
	return s[len(s)-4:]
}

func problem(w http.ResponseWriter, status int, msg string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": msg, "type": "invalid_request_error"}})
}
