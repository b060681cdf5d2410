package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"homeagent/firmware/words"
)

// memoryFact is a fact as the endpoint lists it.
type memoryFact struct {
	ID      int64     `json:"id"`
	Text    string    `json:"text"`
	Status  string    `json:"status"`
	Heard   int       `json:"heard"`
	Source  string    `json:"source"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// facts prints facts one a line, with the numbers by which they are restored.
func (e *env) facts(list []memoryFact) {
	for _, f := range list {
		note := []string{fmt.Sprintf(e.words("%s 记下", "noted %s"), day(f.Created))}
		if f.Source != "" {
			note = append(note, fmt.Sprintf(e.words("来自 %s", "from %s"), f.Source))
		}
		if f.Heard > 1 {
			note = append(note, fmt.Sprintf(e.words("听到 %d 次", "heard %d times"), f.Heard))
		}
		switch f.Status {
		case "past":
			note = append(note, fmt.Sprintf(e.words("到 %s 为止，现在已不是", "held until %s, no longer"), day(f.Updated)))
		case "archived":
			note = append(note, e.words("已归档", "archived"))
		case "forgotten":
			note = append(note, e.words("已忘掉", "forgotten"))
		}
		fmt.Fprintf(e.out, "#%-5d %s%s\n", f.ID, oneLine(f.Text), e.brackets(note...))
	}
}

type memoryFactsCmd struct {
	Query   []string `arg:"" optional:"" help:"${memory_query_or_none}"`
	Subject string   `placeholder:"${name_word}" help:"${memory_subject}"`
	Past    bool     `help:"${memory_past}"`
	Limit   int      `short:"n" default:"50" help:"${memory_limit}"`
}

func (c *memoryFactsCmd) Run(e *env, m *memoryCmd) error {
	past := ""
	if c.Past {
		past = "1"
	}
	path := "facts" + query("q", strings.Join(c.Query, " "), "subject", c.Subject, "past", past, "limit", fmt.Sprint(c.Limit))
	return shown(e, m, http.MethodGet, path, nil, func(a struct{ Facts []memoryFact }) {
		e.facts(a.Facts)
		if len(a.Facts) == 0 {
			fmt.Fprintln(e.out, e.words("没有这样的事实；homectl memory search 会在说过的话里找。",
				"There is no such fact; homectl memory search looks into what was said."))
		}
	})
}

type memoryForgetCmd struct {
	Query    []string `arg:"" optional:"" help:"${memory_forget_query}"`
	Subject  string   `placeholder:"${name_word}" help:"${memory_subject}"`
	Relation string   `placeholder:"${relation_word}" help:"${memory_relation}"`
	Object   string   `placeholder:"${name_word}" help:"${memory_object}"`
	Hard     bool     `help:"${memory_hard}"`
	Yes      bool     `short:"y" help:"${memory_yes}"`
}

// forgetBody is the body of POST forget.
type forgetBody struct {
	Query    string `json:"query,omitempty"`
	Subject  string `json:"subject,omitempty"`
	Relation string `json:"relation,omitempty"`
	Object   string `json:"object,omitempty"`
	Hard     bool   `json:"hard,omitempty"`
	Dry      bool   `json:"dry,omitempty"`
}

// forgotten is its answer.
type forgotten struct {
	Facts     []memoryFact `json:"facts"`
	Turns     int          `json:"turns"`
	Events    int          `json:"events"`
	Documents int          `json:"documents"`
}

func (f forgotten) nothing() bool {
	return len(f.Facts)+f.Turns+f.Events+f.Documents == 0
}

// Run shows what would go, asks, and forgets. What goes is decided anew at the
// second call: what was said in between goes too.
func (c *memoryForgetCmd) Run(e *env, m *memoryCmd) error {
	body := forgetBody{Query: strings.Join(c.Query, " "), Subject: c.Subject, Relation: c.Relation, Object: c.Object, Hard: c.Hard}
	if body == (forgetBody{Hard: c.Hard}) {
		return words.Errorf("没有说要忘掉什么；请给出几个词，或 --subject 名字",
			"nothing says what to forget; give words, or --subject NAME")
	}
	if !c.Yes {
		sure, err := c.sure(e, body)
		if err != nil || !sure {
			return err
		}
	}
	return shown(e, m, http.MethodPost, "forget", body, func(f forgotten) {
		if f.nothing() {
			fmt.Fprintln(e.out, e.words("没有找到要忘掉的事，什么也没删。", "Nothing fits; nothing was forgotten."))
			return
		}
		if c.Yes {
			e.forgotten(f)
		}
		if c.Hard {
			fmt.Fprintln(e.out, e.words("彻底忘掉了。导出过的文件里还有；网页最近的记录和已处理完的输入（queue.log）里，旧内容被新内容顶掉之前也可能还有。",
				"Forgotten for good. Files that were exported keep it; the page's last lines and the finished inputs in "+
					"queue.log may hold it until newer ones take their place."))
			return
		}
		ids := make([]string, len(f.Facts))
		for i, x := range f.Facts {
			ids[i] = fmt.Sprint(x.ID)
		}
		fmt.Fprintf(e.out, e.words("忘掉了；想找回来：homectl memory restore %s\n",
			"Forgotten; to take it back: homectl memory restore %s\n"), strings.Join(ids, " "))
	})
}

// sure shows what would go and asks whether it shall.
func (c *memoryForgetCmd) sure(e *env, body forgetBody) (bool, error) {
	body.Dry = true
	var raw json.RawMessage
	if err := e.api.Do(e.ctx, http.MethodPost, "memory/forget", body, &raw); err != nil {
		return false, err
	}
	var f forgotten
	if err := json.Unmarshal(raw, &f); err != nil {
		return false, garbled(err)
	}
	if f.nothing() {
		fmt.Fprintln(e.out, e.words("没有找到要忘掉的事，什么也没删。", "Nothing fits; nothing was forgotten."))
		return false, nil
	}
	e.forgotten(f)
	unasked := words.Errorf("以上内容还没有忘掉：这里没有人可以确认；确定的话请加 --yes",
		"none of that was forgotten: there is nobody here to ask; add --yes if you are sure")
	if !e.terminal {
		return false, unasked
	}
	fmt.Fprint(e.out, e.words("要忘掉这些吗？输入 y 确认：", "Forget this? y for yes: "))
	line, err := bufio.NewReader(io.LimitReader(e.in, 1<<10)).ReadString('\n')
	switch {
	case errors.Is(err, io.EOF) && line == "": // such as /dev/null, which looks like a terminal
		fmt.Fprintln(e.out)
		return false, unasked
	case err != nil && !errors.Is(err, io.EOF):
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes", "是", "好", "确认":
		return true, nil
	}
	fmt.Fprintln(e.out, e.words("什么也没删。", "Nothing was forgotten."))
	return false, nil
}

// forgotten prints what goes: facts, and how much of what was said.
func (e *env) forgotten(f forgotten) {
	e.facts(f.Facts)
	if f.Turns+f.Events+f.Documents > 0 {
		fmt.Fprintf(e.out, e.words("还有原话：日志 %d 轮，对话 %d 条，文档 %d 份\n",
			"and what was said: %d turns of the journal, %d events of the conversation, %d documents\n"),
			f.Turns, f.Events, f.Documents)
	}
}

type memoryRestoreCmd struct {
	Facts []int64 `arg:"" name:"number" help:"${memory_restore_numbers}"`
}

func (c *memoryRestoreCmd) Run(e *env, m *memoryCmd) error {
	return shown(e, m, http.MethodPost, "restore", map[string]any{"facts": c.Facts}, func(a struct{ Facts []memoryFact }) {
		e.facts(a.Facts)
		if len(a.Facts) == 0 {
			fmt.Fprintln(e.out, e.words("这些编号里没有可以恢复的；彻底忘掉的（--hard）找不回来。",
				"None of these can be restored; what was forgotten with --hard cannot come back."))
		}
	})
}
