package main

import (
	"fmt"
	"net/http"
	"time"

	"homeagent/firmware/words"
)

type memoryPairsCmd struct {
	State string `enum:"all,open,undecided,different,merged" default:"all" help:"${memory_state}"`
	Limit int    `short:"n" default:"50" help:"${memory_limit}"`
}

func (c *memoryPairsCmd) Run(e *env, m *memoryCmd) error {
	type pair struct {
		ID     int64  `json:"id"`
		A      string `json:"a"`
		B      string `json:"b"`
		State  string `json:"state"`
		Reason string `json:"reason"`
	}
	state := c.State
	if state == "all" {
		state = ""
	}
	path := "pairs" + query("state", state, "limit", fmt.Sprint(c.Limit))
	return shown(e, m, http.MethodGet, path, nil, func(a struct{ Pairs []pair }) {
		for _, p := range a.Pairs {
			note := []string{pairWord(p.State).In(e.lang)}
			if p.Reason != "" {
				note = append(note, oneLine(p.Reason))
			}
			b := p.B
			if b == "" {
				b = "—" // of a merged pair one name is gone
			}
			fmt.Fprintf(e.out, "#%-5d %s ~ %s%s\n", p.ID, p.A, b, e.brackets(note...))
		}
		if len(a.Pairs) == 0 {
			fmt.Fprintln(e.out, e.words("没有这样的一对。", "There is no such pair."))
		}
	})
}

// pairWord puts the state of a pair in words.
func pairWord(state string) words.Text {
	return known(state, map[string]words.Text{
		"open":      {ZH: "待判断", EN: "to be judged"},
		"undecided": {ZH: "判断不了", EN: "undecided"},
		"different": {ZH: "不是同一个", EN: "different"},
		"merged":    {ZH: "已合并", EN: "merged"},
	})
}

type memoryAnswerCmd struct {
	Pair    int64  `arg:"" help:"${memory_pair}"`
	Outcome string `arg:"" enum:"same,different,undecided" help:"${memory_outcome}"`
	Reason  string `placeholder:"${reason_word}" help:"${memory_reason}"`
}

func (c *memoryAnswerCmd) Run(e *env, m *memoryCmd) error {
	body := map[string]any{"pair": c.Pair, "outcome": c.Outcome, "reason": c.Reason}
	return shown(e, m, http.MethodPost, "pairs", body, func(a struct{ Done string }) { fmt.Fprintln(e.out, a.Done) })
}

type memoryMergesCmd struct {
	Limit int `short:"n" default:"50" help:"${memory_limit}"`
}

func (c *memoryMergesCmd) Run(e *env, m *memoryCmd) error {
	type merge struct {
		ID      int64     `json:"id"`
		Kept    string    `json:"kept"`
		Dropped string    `json:"dropped"`
		Reason  string    `json:"reason"`
		Time    time.Time `json:"time"`
	}
	return shown(e, m, http.MethodGet, "merges"+query("limit", fmt.Sprint(c.Limit)), nil, func(a struct{ Merges []merge }) {
		for _, x := range a.Merges {
			note := []string{day(x.Time)}
			if x.Reason != "" {
				note = append(note, oneLine(x.Reason))
			}
			fmt.Fprintf(e.out, "#%-5d %s → %s%s\n", x.ID, x.Dropped, x.Kept, e.brackets(note...))
		}
		if len(a.Merges) == 0 {
			fmt.Fprintln(e.out, e.words("没有合并过。", "Nothing was merged."))
		}
	})
}

type memoryUndoCmd struct {
	Merge int64 `arg:"" help:"${memory_merge}"`
}

func (c *memoryUndoCmd) Run(e *env, m *memoryCmd) error {
	return shown(e, m, http.MethodPost, "merges/undo", map[string]int64{"merge": c.Merge}, func(a struct{ Undone int64 }) {
		fmt.Fprintf(e.out, e.words("合并 %d 已撤销，以后不会再自动合并它们。\n",
			"Merge %d is undone; the two are not merged by themselves again.\n"), a.Undone)
	})
}
