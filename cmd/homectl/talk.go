package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"homeagent/drivers/web/problem"
	"homeagent/firmware/words"
)

type sayCmd struct {
	Text     []string `arg:"" help:"${say_text}"`
	NoMemory bool     `help:"${no_memory}"`
}

// maxStdin bounds what is read from standard input; the agent's own limit is lower.
const maxStdin = 2 << 20

func (c *sayCmd) Run(e *env) error {
	text := strings.Join(c.Text, " ")
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(e.in, maxStdin))
		if err != nil {
			return err
		}
		text = strings.TrimRight(string(b), "\n")
	}
	// JSON would replace the bytes silently, and kong has done so already in a
	// list of arguments.
	replaced := strings.ContainsRune(text, utf8.RuneError) && !utf8.ValidString(strings.Join(e.args, " "))
	if replaced || !utf8.ValidString(text) {
		return words.Errorf("文字不是 UTF-8 编码，没有发送；请改用 UTF-8 再发", "the text is not UTF-8 and was not sent; encode it as UTF-8 and send it again")
	}
	s, err := e.api.Stream(e.ctx, http.MethodPost, "chat", map[string]any{"text": text, "no_memory": c.NoMemory})
	if err != nil {
		return err
	}
	defer s.Close()
	p := printer{out: e.out}
	for {
		ev, err := s.Next()
		if errors.Is(err, io.EOF) {
			return words.Errorf("回答还没完，连接就断了；`homectl logs` 可能说明原因", "the connection ended before the answer did; `homectl logs` may tell why")
		}
		if err != nil {
			return err
		}
		done, err := p.event(ev.Name, ev.Data)
		if done || err != nil {
			return err
		}
	}
}

// printer shows an answer while it grows. A terminal cannot take back what was
// printed, so a withdrawn draft ends with a line break and the next begins anew.
type printer struct {
	out   io.Writer
	shown string
}

// event prints one event of a chat and reports whether it was the last.
func (p *printer) event(name string, data []byte) (done bool, err error) {
	var a struct {
		Text  string   `json:"text"`
		Files []string `json:"files"`
	}
	if name == "error" {
		p.line()
		var prob problem.Problem
		if err := json.Unmarshal(data, &prob); err != nil {
			return true, garbled(err)
		}
		return true, &prob
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return true, garbled(err)
	}
	switch name {
	case "draft":
		p.shown += a.Text
		fmt.Fprint(p.out, a.Text)
	case "notice":
		p.line()
		fmt.Fprintf(p.out, "(%s)\n", a.Text)
	case "withdraw":
		p.line()
	case "message", "final":
		if rest, ok := strings.CutPrefix(a.Text, p.shown); ok && p.shown != "" {
			fmt.Fprint(p.out, rest)
			p.shown = a.Text
		} else if a.Text != "" {
			p.line()
			fmt.Fprint(p.out, a.Text)
			p.shown = a.Text
		}
		p.line()
		for _, f := range a.Files {
			fmt.Fprintf(p.out, "[%s]\n", f)
		}
		return name == "final", nil
	}
	return false, nil
}

// line ends a begun line.
func (p *printer) line() {
	if p.shown != "" {
		fmt.Fprintln(p.out)
	}
	p.shown = ""
}

type eventsCmd struct{}

func (c *eventsCmd) Run(e *env) error {
	s, err := e.api.Stream(e.ctx, http.MethodGet, "events", nil)
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		ev, err := s.Next()
		if errors.Is(err, io.EOF) || e.ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(e.out, "{\"event\":%q,\"data\":%s}\n", ev.Name, ev.Data)
	}
}
