package fakellm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

type object = map[string]any

// write sends the reply over w.
func (rep Reply) write(w http.ResponseWriter, r *http.Request, sent func()) {
	if rep.Hang {
		<-r.Context().Done()
		sent()
		return
	}
	if rep.Status != 0 && rep.Status != 200 {
		if rep.RetryAfter != "" {
			w.Header().Set("Retry-After", rep.RetryAfter)
		}
		if rep.Body == "" {
			problem(w, rep.Status, http.StatusText(rep.Status))
			return
		}
		w.WriteHeader(rep.Status)
		fmt.Fprint(w, rep.Body)
		return
	}
	if rep.Whole {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(object{"model": "fake", "choices": []object{{
			"message": object{"role": "assistant", "content": rep.Text, "tool_calls": rep.callObjects()}, "finish_reason": "stop",
		}}})
		return
	}
	out := &stream{w: w, ctl: http.NewResponseController(w), rep: rep, ctx: r.Context()}
	w.Header().Set("Content-Type", "text/event-stream")
	for range rep.KeepAlives {
		out.line(": keep-alive")
		out.line("")
		out.flush()
		if rep.Every > 0 {
			select {
			case <-time.After(rep.Every):
			case <-r.Context().Done():
				return
			}
		}
	}
	for _, p := range pieces(rep.Reasoning, rep.PieceLen) {
		out.delta(object{"reasoning_content": p}, nil)
	}
	for _, p := range pieces(rep.Text, rep.PieceLen) {
		out.delta(object{"content": p}, nil)
	}
	for i, c := range rep.Calls {
		out.call(i, c)
	}
	if rep.CutOff {
		out.abort()
		return
	}
	reason := "stop"
	if len(rep.Calls) > 0 {
		reason = "tool_calls"
	}
	out.delta(object{}, reason)
	out.data(`{"model":"fake","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":4}}`)
	sent()
	out.data("[DONE]")
	out.flush()
}

func (rep Reply) callObjects() []object {
	var all []object
	for i, c := range rep.Calls {
		all = append(all, object{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Args}})
	}
	return all
}

type stream struct {
	w   http.ResponseWriter
	ctl *http.ResponseController
	rep Reply
	ctx context.Context
	n   int
}

func (s *stream) line(text string) {
	end := "\n"
	if s.rep.CRLF {
		end = "\r\n"
	}
	if !s.rep.SplitBytes {
		fmt.Fprint(s.w, text+end)
		return
	}
	for _, b := range []byte(text + end) {
		if s.ctx.Err() != nil {
			return
		}
		s.w.Write([]byte{b})
		s.ctl.Flush()
	}
}

func (s *stream) flush() { s.ctl.Flush() }

// abort ends the connection in the middle of the answer.
func (s *stream) abort() {
	s.flush()
	panic(http.ErrAbortHandler)
}

func (s *stream) data(text string) {
	s.n++
	if s.rep.Noise {
		switch s.n % 4 {
		case 0:
			s.line("data:")
		case 1:
			s.line("event: ping")
			s.line("")
		case 2:
			s.line("id: 7")
		case 3:
			s.line("")
			s.line("retry: 10")
		}
	}
	s.line("data: " + text)
	s.line("")
	s.flush()
}

func (s *stream) delta(d object, finish any) {
	text, err := json.Marshal(object{"model": "fake", "choices": []object{{"index": 0, "delta": d, "finish_reason": finish}}})
	if err != nil {
		panic(err)
	}
	s.data(string(text))
}

// call streams a tool call in three pieces: its head, and its arguments in halves.
func (s *stream) call(i int, c Call) {
	index := i
	if s.rep.SameIndex {
		index = 0
	}
	piece := func(first bool, args any) {
		o := object{"function": object{"arguments": args}}
		if first {
			o["type"] = "function"
			o["function"].(object)["name"] = c.Name
		}
		if !s.rep.NoIndex {
			o["index"] = index
		}
		if !s.rep.NoID && (first || s.rep.NoIndex) {
			o["id"] = c.ID
		}
		s.delta(object{"tool_calls": []object{o}}, nil)
	}
	if s.rep.ObjectArgs {
		piece(true, json.RawMessage(c.Args))
		return
	}
	args := []rune(c.Args)
	piece(true, "")
	piece(false, string(args[:len(args)/2]))
	piece(false, string(args[len(args)/2:]))
}

// pieces cuts text into runs of n characters.
func pieces(text string, n int) []string {
	if n <= 0 {
		n = 8
	}
	var out []string
	for r := []rune(text); len(r) > 0; {
		k := min(n, len(r))
		out = append(out, string(r[:k]))
		r = r[k:]
	}
	return out
}

// Say is a Script that always answers with text.
func Say(text string) Script { return func(Request) Reply { return Reply{Text: text} } }

// Sequence is a Script that gives one reply after another and then repeats the last.
func Sequence(replies ...Reply) Script {
	turn := make(chan int, 1)
	turn <- 0
	return func(Request) Reply {
		i := <-turn
		turn <- min(i+1, len(replies)-1)
		return replies[i]
	}
}

// Contains reports whether the newest user message holds the words; scripts use it.
func (r Request) Contains(words string) bool { return strings.Contains(r.Last("user"), words) }
