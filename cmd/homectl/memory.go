package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"homeagent/firmware/words"
)

// memoryCmd is `homectl memory`: all that is remembered, for the one whose house it is.
type memoryCmd struct {
	JSON bool `help:"${memory_json}"`

	Search    memorySearchCmd  `cmd:"" help:"${memory_search}"`
	Facts     memoryFactsCmd   `cmd:"" help:"${memory_facts}"`
	Forget    memoryForgetCmd  `cmd:"" help:"${memory_forget}"`
	Restore   memoryRestoreCmd `cmd:"" help:"${memory_restore}"`
	Export    memoryExportCmd  `cmd:"" help:"${memory_export}"`
	Import    memoryImportCmd  `cmd:"" help:"${memory_import}"`
	Stats     memoryStatsCmd   `cmd:"" help:"${memory_stats}"`
	Pairs     memoryPairsCmd   `cmd:"" help:"${memory_pairs}"`
	Answer    memoryAnswerCmd  `cmd:"" help:"${memory_answer}"`
	Merges    memoryMergesCmd  `cmd:"" help:"${memory_merges}"`
	UndoMerge memoryUndoCmd    `cmd:"" name:"undo-merge" help:"${memory_undo}"`
	Tidy      memoryTidyCmd    `cmd:"" help:"${memory_tidy}"`
	Context   memoryContextCmd `cmd:"" help:"${memory_context}"`
	Tools     memoryToolsCmd   `cmd:"" help:"${memory_tools}"`
}

// shown asks the memory for something and prints it: as it came with --json,
// else by show.
func shown[T any](e *env, m *memoryCmd, method, path string, body any, show func(T)) error {
	var raw json.RawMessage
	if err := e.api.Do(e.ctx, method, "memory/"+path, body, &raw); err != nil {
		return err
	}
	if m.JSON {
		_, err := fmt.Fprintln(e.out, strings.TrimSpace(string(raw)))
		return err
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return garbled(err)
	}
	show(v)
	return nil
}

// query makes what stands behind the ? of an address; empty values are left out.
func query(pairs ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

type memorySearchCmd struct {
	Query []string `arg:"" help:"${memory_query}"`
	Limit int      `short:"n" default:"20" help:"${memory_limit}"`
}

func (c *memorySearchCmd) Run(e *env, m *memoryCmd) error {
	type item struct {
		ID    string    `json:"id"`
		Text  string    `json:"text"`
		Kind  string    `json:"kind"`
		Time  time.Time `json:"time"`
		Until time.Time `json:"until"`
	}
	path := "search" + query("q", strings.Join(c.Query, " "), "limit", fmt.Sprint(c.Limit))
	return shown(e, m, http.MethodGet, path, nil, func(a struct{ Items []item }) {
		for _, it := range a.Items {
			note := []string{kindWord(it.Kind).In(e.lang)}
			if !it.Time.IsZero() {
				note = append(note, day(it.Time))
			}
			if !it.Until.IsZero() {
				note = append(note, fmt.Sprintf(e.words("到 %s 为止", "until %s"), day(it.Until)))
			}
			note = append(note, it.ID)
			fmt.Fprintf(e.out, "%s%s\n", oneLine(it.Text), e.brackets(note...))
		}
		if len(a.Items) == 0 {
			fmt.Fprintln(e.out, e.words("没有找到相关的记忆；换几个词试试。", "Nothing about that is remembered; try other words."))
		}
	})
}

// kindWord puts the kind of a thing that was found in words.
func kindWord(kind string) words.Text {
	return known(kind, map[string]words.Text{
		"fact":      {ZH: "事实", EN: "fact"},
		"event":     {ZH: "对话", EN: "said"},
		"document":  {ZH: "文档", EN: "document"},
		"knowledge": {ZH: "知识", EN: "taught"},
	})
}

// brackets is a note behind a line.
func (e *env) brackets(notes ...string) string {
	if len(notes) == 0 {
		return ""
	}
	return e.words("（"+strings.Join(notes, "，")+"）", " ("+strings.Join(notes, ", ")+")")
}

// day is a time as a date, in the time zone of whoever reads.
func day(t time.Time) string { return t.Local().Format(time.DateOnly) }

// oneLine puts a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

type memoryStatsCmd struct{}

func (c *memoryStatsCmd) Run(e *env, m *memoryCmd) error {
	type stats struct {
		Facts         int       `json:"facts"`
		Past          int       `json:"past"`
		Archived      int       `json:"archived"`
		Forgotten     int       `json:"forgotten"`
		Entities      int       `json:"entities"`
		Pairs         int       `json:"pairs_waiting"`
		Merges        int       `json:"merges"`
		Context       int       `json:"context"`
		Documents     int       `json:"documents"`
		Knowledge     int       `json:"knowledge"`
		Passages      int       `json:"passages"`
		JournalFiles  int       `json:"journal_files"`
		JournalBytes  int64     `json:"journal_bytes"`
		JournalWaits  int       `json:"journal_waiting"`
		Backlog       int       `json:"backlog"`
		DistillError  string    `json:"distill_error"`
		DistillWaits  bool      `json:"distill_deferred"`
		Heuristic     bool      `json:"distill_by_grammar"`
		LastDistilled time.Time `json:"last_distilled"`
		Tidy          *struct {
			Running bool      `json:"running"`
			NextRun time.Time `json:"next_run"`
		} `json:"tidy"`
	}
	return shown(e, m, http.MethodGet, "stats", nil, func(s stats) {
		e.row("事实",
			"facts", fmt.Sprintf(e.words("%d 条，另有历史 %d、归档 %d、已忘掉（可恢复）%d",
				"%d; history: %d, archived: %d, forgotten but restorable: %d"),
				s.Facts, s.Past, s.Archived, s.Forgotten))
		e.row("实体",
			"entities", fmt.Sprintf(e.words("%d 个；待判断的相像 %d 对，可撤销的合并 %d 次",
				"%d; look-alikes to be judged: %d, merges that can be undone: %d"),
				s.Entities, s.Pairs, s.Merges))
		e.row("对话", "conversation", fmt.Sprintf(e.words("上下文 %d 条", "%d events in the context"), s.Context))
		e.row("文档", "documents", fmt.Sprint(s.Documents))
		e.row("知识", "taught", fmt.Sprint(s.Knowledge))
		e.row("可检索的段落", "passages to search", fmt.Sprint(s.Passages))
		e.row("日志",
			"journal", fmt.Sprintf(e.words("%d 个文件，%d 字节，%d 轮待写",
				"%d files, %d bytes, %d turns waiting"), s.JournalFiles, s.JournalBytes, s.JournalWaits))
		distilled := fmt.Sprintf(e.words("还有 %d 轮", "%d turns to go"), s.Backlog)
		if s.Heuristic {
			distilled += e.words("，没有大模型，按语法提取", ", by grammar, without a language model")
		}
		if s.DistillWaits {
			distilled += e.words("，等低价时段", ", waiting for the cheap hours")
		}
		if !s.LastDistilled.IsZero() {
			distilled += fmt.Sprintf(e.words("，上次 %s", ", last at %s"), s.LastDistilled.Local().Format(time.DateTime))
		}
		e.row("提取事实", "distilling", distilled)
		if t := s.Tidy; t != nil {
			next := e.words("正在进行", "at work")
			if !t.Running {
				next = fmt.Sprintf(e.words("下次 %s", "next at %s"), t.NextRun.Local().Format(time.DateTime))
			}
			e.row("整理", "tidying", next)
		}
		if s.DistillError != "" {
			e.notes(fmt.Sprintf(e.words("提取事实没有成功（%s）；会自动再试",
				"distilling failed (%s); it is tried again by itself"), s.DistillError))
		}
	})
}

type memoryTidyCmd struct{}

func (c *memoryTidyCmd) Run(e *env, m *memoryCmd) error {
	return shown(e, m, http.MethodPost, "tidy", nil, func(a struct{ Text string }) { fmt.Fprintln(e.out, a.Text) })
}

type memoryContextCmd struct{}

func (c *memoryContextCmd) Run(e *env, m *memoryCmd) error {
	type event struct {
		Role string    `json:"role"`
		User string    `json:"user"`
		Tool string    `json:"tool"`
		Time time.Time `json:"time"`
		Text string    `json:"text"`
	}
	return shown(e, m, http.MethodGet, "context", nil, func(a struct{ Events []event }) {
		for _, ev := range a.Events {
			who := known(ev.Role, map[string]words.Text{
				"user": {ZH: "人", EN: "user"}, "assistant": {ZH: "助手", EN: "assistant"}, "tool": {ZH: "工具", EN: "tool"},
			}).In(e.lang)
			for _, name := range []string{ev.User, ev.Tool} {
				if name != "" {
					who += " " + name
				}
			}
			fmt.Fprintf(e.out, "%s  %s%s%s\n", ev.Time.Local().Format(time.DateTime), who, e.words("：", ": "), oneLine(ev.Text))
		}
		if len(a.Events) == 0 {
			fmt.Fprintln(e.out, e.words("还没有对话。", "There was no conversation yet."))
		}
	})
}

type memoryToolsCmd struct{}

func (c *memoryToolsCmd) Run(e *env, m *memoryCmd) error {
	type tool struct{ Name, Description, Risk string }
	return shown(e, m, http.MethodGet, "tools", nil, func(a struct{ Tools []tool }) {
		for _, t := range a.Tools {
			fmt.Fprintf(e.out, "%-18s %-5s %s\n", t.Name, t.Risk, t.Description)
		}
	})
}
