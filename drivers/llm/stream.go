package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"homeagent/agent/provider"
)

// Bounds of one answer, in bytes.
const (
	maxLine   = 4 << 20
	maxAnswer = 16 << 20
)

// errTooLong is an answer beyond the bounds.
var errTooLong = errors.New("the answer is longer than 16 MiB")

// alive passes each arrival of bytes on as a sign of life.
type alive struct {
	r    io.Reader
	beat func() error
	left int
}

func (a *alive) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if n > 0 {
		if a.left -= n; a.left < 0 {
			return 0, errTooLong
		}
		if berr := a.beat(); berr != nil {
			return 0, berr
		}
	}
	return n, err
}

// read takes the body of an answer: a stream of events, or one JSON object
// where the server does not stream. emit gets text and reasoning as they come.
// It returns io.ErrUnexpectedEOF for a stream that ends without its end mark.
func read(body io.Reader, emit func(provider.Chunk) error) (provider.Response, error) {
	var res provider.Response
	var text, reasoning strings.Builder
	var calls assembler
	finished := false
	in := bufio.NewReaderSize(body, 32<<10)
	for {
		line, err := nextLine(in)
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			if errors.Is(err, io.EOF) {
				break
			}
			return res, err
		}
		data, ok := payload(line)
		if ok && string(data) == "[DONE]" {
			finished = true
			break
		}
		if ok {
			var c wireChunk
			if jerr := json.Unmarshal(data, &c); jerr != nil {
				return res, &malformed{fmt.Errorf("a piece of the answer is no JSON: %w", jerr)}
			}
			if c.Error != nil {
				return res, &refused{*c.Error}
			}
			if c.Model != "" {
				res.Model = c.Model
			}
			if c.Usage != nil {
				res.Usage = provider.Usage{Prompt: c.Usage.Prompt, Completion: c.Usage.Completion, Cached: max(c.Usage.CacheHit, c.Usage.Details.Cached)}
			}
			for _, choice := range c.Choices {
				for _, d := range []wireDelta{choice.Delta, choice.Message} {
					for _, call := range d.ToolCalls {
						calls.add(call)
					}
					if d.Content == "" && d.Reasoning == "" {
						continue
					}
					text.WriteString(d.Content)
					reasoning.WriteString(d.Reasoning)
					if eerr := emit(provider.Chunk{Text: d.Content, Reasoning: d.Reasoning}); eerr != nil {
						return res, eerr
					}
				}
				finished = finished || choice.FinishReason != ""
			}
		}
		if err != nil { // a last line without its line feed
			break
		}
	}
	res.Text, res.Reasoning, res.Calls = text.String(), reasoning.String(), calls.finish()
	if !finished {
		return res, io.ErrUnexpectedEOF
	}
	return res, nil
}

// nextLine reads up to a line feed, without CR and LF; the end may lack one.
func nextLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, errTooLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimRight(line, "\r\n"), err
	}
}

// payload is the data of a line: what stands after "data:", or a whole JSON
// object. Comments, event names, ids and blank lines carry none.
func payload(line []byte) ([]byte, bool) {
	if d, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		d = bytes.TrimSpace(d)
		return d, len(d) > 0
	}
	line = bytes.TrimSpace(line)
	if len(line) > 0 && line[0] == '{' {
		return line, true
	}
	return nil, false
}

// malformed is an answer that is none.
type malformed struct{ err error }

func (e *malformed) Error() string { return e.err.Error() }
func (e *malformed) Unwrap() error { return e.err }

// refused is an error object inside an answer that began well.
type refused struct{ wireError }

func (e *refused) Error() string { return e.Message }
