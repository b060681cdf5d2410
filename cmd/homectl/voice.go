package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"homeagent/drivers/web/client"
	"homeagent/firmware/words"
	"homeagent/memory/disk"
)

// maxLine bounds one line of an answer: a line may carry a minute of sound.
const maxLine = 32 << 20

// line is one line of what the voice endpoints tell while they work.
type line struct {
	Event   string `json:"event"`
	State   string `json:"state"`
	Text    string `json:"text"`
	Engine  string `json:"engine"`
	WAV     []byte `json:"wav"`
	Stopped bool   `json:"stopped"`
	Take    int    `json:"take"`
	raw     json.RawMessage
}

// lines calls f for each line of an answer until it says stop or the answer ends.
func (e *env) lines(method, path string, body any, f func(line) error) error {
	r, err := e.api.Open(e.ctx, method, path, body)
	if err != nil {
		return err
	}
	defer r.Close()
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	for in.Scan() {
		l := line{raw: slices.Clone(in.Bytes())}
		if err := json.Unmarshal(l.raw, &l); err != nil {
			return garbled(err)
		}
		if err := f(l); err != nil {
			return err
		}
	}
	return in.Err()
}

type hearCmd struct {
	File   string `arg:"" help:"${hear_file}"`
	Out    string `short:"o" placeholder:"${answer_word}" help:"${hear_out}"`
	NoWake bool   `help:"${no_wake}"`
	JSON   bool   `help:"${hear_json}"`
}

func (c *hearCmd) Run(e *env) error {
	in, err := e.open(c.File)
	if err != nil {
		return err
	}
	defer in.Close()
	path := "hear"
	if c.NoWake {
		path += "?wake=skip"
	}
	answers, ended := 0, false
	var failed error
	err = e.lines(http.MethodPost, path, client.Upload{ContentType: "audio/wav", Body: in}, func(l line) error {
		if err := c.print(e, l); err != nil {
			return err
		}
		switch l.Event {
		case "error":
			failed = told(l.Text)
		case "answer":
			answers++
			return c.save(l.WAV, answers)
		case "end":
			ended = true
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case failed != nil:
		return failed
	case !ended:
		return words.Errorf("连接中断，录音没有听完；`homectl logs` 可能说明原因", "the connection ended before the recording did; `homectl logs` may tell why")
	case c.Out != "" && answers == 0:
		if c.NoWake {
			return words.Errorf("没有回答，因此没有写文件", "there was no answer, so nothing was written")
		}
		return words.Errorf("没有回答，因此没有写文件；请看录音里是否有唤醒词，或加 --no-wake", "there was no answer, so nothing was written; does the wake word stand in the recording? Try --no-wake")
	}
	return nil
}

// print shows one line: in words, or as it came.
func (c *hearCmd) print(e *env, l line) error {
	if c.JSON {
		return c.printJSON(e.out, l)
	}
	switch l.Event {
	case "heard":
		fmt.Fprintf(e.out, "%s%s\n", e.words("听到：", "heard: "), l.Text)
	case "ignored":
		fmt.Fprintf(e.out, "%s%s\n", e.words("听到，但不是指令：", "heard, but no command: "), l.Text)
	case "nothing":
		fmt.Fprintln(e.out, e.words("没有听清。", "nothing was understood."))
	case "notice":
		fmt.Fprintf(e.out, "(%s)\n", l.Text)
	case "answer":
		fmt.Fprintf(e.out, "%s%s\n", e.words("回答：", "answer: "), l.Text)
	}
	return nil
}

func (c *hearCmd) printJSON(out io.Writer, l line) error {
	var v map[string]any
	if err := json.Unmarshal(l.raw, &v); err != nil {
		return err
	}
	if len(l.WAV) > 0 {
		v["wav"] = fmt.Sprintf("%d bytes", len(l.WAV))
	}
	return json.NewEncoder(out).Encode(v)
}

// save writes an answer's sound as a whole or not at all.
func (c *hearCmd) save(sound []byte, n int) error {
	if c.Out == "" || len(sound) == 0 {
		return nil
	}
	path := c.Out
	if n > 1 {
		ext := filepath.Ext(path)
		path = fmt.Sprintf("%s-%d%s", path[:len(path)-len(ext)], n, ext)
	}
	return disk.WriteFile(path, sound, 0o644)
}

type listenCmd struct{}

func (c *listenCmd) Run(e *env) error {
	return e.api.Do(e.ctx, http.MethodPost, "listen", map[string]any{}, nil)
}

type wakeCmd struct {
	Enrol  wakeEnrolCmd  `cmd:"" help:"${wake_enrol}"`
	List   wakeListCmd   `cmd:"" help:"${wake_list}"`
	Delete wakeDeleteCmd `cmd:"" help:"${wake_delete}"`
}

type wakeEnrolCmd struct {
	Name  string   `arg:"" help:"${wake_name}"`
	Files []string `arg:"" optional:"" help:"${wake_files}"`
}

func (c *wakeEnrolCmd) Run(e *env) error {
	var body any
	if len(c.Files) > 0 {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for _, name := range c.Files {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			part, err := w.CreateFormFile("take", filepath.Base(name))
			if err != nil {
				return err
			}
			if _, err := part.Write(data); err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		body = client.Upload{ContentType: w.FormDataContentType(), Body: &b}
	}
	learnt := false
	err := e.lines(http.MethodPost, "wake/"+url.PathEscape(c.Name), body, func(l line) error {
		switch l.Event {
		case "record", "notice":
			fmt.Fprintln(e.out, l.Text)
		case "error":
			return told(l.Text)
		case "learnt":
			learnt = true
			fmt.Fprintf(e.out, e.words("学会了“%s”。\n", "Learnt %q.\n"), l.Text)
		}
		return nil
	})
	if err == nil && !learnt {
		err = words.Errorf("连接中断，没有学会；请再试一次", "the connection ended and nothing was learnt; try again")
	}
	return err
}

type wakeListCmd struct{}

func (c *wakeListCmd) Run(e *env) error {
	var list struct {
		Words   []string `json:"words"`
		BuiltIn string   `json:"built_in"`
	}
	if err := e.api.Do(e.ctx, http.MethodGet, "wake", nil, &list); err != nil {
		return err
	}
	for _, w := range list.Words {
		fmt.Fprintln(e.out, w)
	}
	if len(list.Words) == 0 {
		fmt.Fprintln(e.out, e.words("还没有唤醒词；用 homectl wake enrol 名字 登记。", "No wake word yet; teach one with homectl wake enrol NAME."))
	}
	return nil
}

type wakeDeleteCmd struct {
	Name string `arg:"" help:"${wake_word}"`
}

func (c *wakeDeleteCmd) Run(e *env) error {
	return e.api.Do(e.ctx, http.MethodDelete, "wake/"+url.PathEscape(c.Name), nil, nil)
}
