package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"homeagent/drivers/web/client"
	"homeagent/drivers/web/problem"
	"homeagent/firmware/control"
	"homeagent/firmware/words"
)

type statusCmd struct {
	JSON bool `help:"${status_json}"`
}

// voiceTime bounds the wait for the state of the voice, which may be away.
const voiceTime = 3 * time.Second

// Run asks the door for the whole; with the door dead the supervisor still answers.
func (c *statusCmd) Run(e *env) error {
	var all struct {
		Door       json.RawMessage `json:"door"`
		Supervisor json.RawMessage `json:"supervisor"`
		Agent      json.RawMessage `json:"agent"`
	}
	var raw json.RawMessage
	err := e.api.Do(e.ctx, http.MethodGet, "status", nil, &raw)
	alone := errors.Is(err, client.ErrUnreachable) && e.hasCtl
	if alone {
		if err := e.ask(control.Request{Cmd: control.Status}, &all.Supervisor); err != nil {
			return err
		}
		raw, err = json.Marshal(map[string]any{"supervisor": all.Supervisor})
	}
	if err != nil {
		return err
	}
	if c.JSON {
		_, err := fmt.Fprintln(e.out, string(raw))
		return err
	}
	if alone {
		fmt.Fprintln(e.out, e.words("门（页面）没有应答，以下来自监管进程；homectl logs 会说明原因。",
			"The door (the page) does not answer; this is the supervisor's part. homectl logs tells why."))
	} else if err := json.Unmarshal(raw, &all); err != nil {
		return garbled(err)
	}
	if err := part(e, all.Supervisor, words.Text{ZH: "监管进程", EN: "supervisor"}, e.printSupervisor); err != nil {
		return err
	}
	if err := part(e, all.Door, words.Text{ZH: "门（页面与登录）", EN: "door (page and login)"}, e.printDoor); err != nil {
		return err
	}
	return part(e, all.Agent, words.Text{ZH: "智能体", EN: "agent"}, e.printAgent)
}

// part prints one part of the status; a part that did not answer is a problem
// in its place, and one that is absent prints nothing.
func part[T any](e *env, raw json.RawMessage, name words.Text, show func(T)) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	fmt.Fprintln(e.out, name.In(e.lang))
	var prob problem.Problem
	if json.Unmarshal(raw, &prob) == nil && prob.Code != "" && prob.Title != "" {
		e.notes(prob.Error())
		return nil
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return garbled(err)
	}
	show(v)
	return nil
}

// row prints one line of a part: what it is, and how it is.
func (e *env) row(zh, en, value string) {
	if value != "" {
		fmt.Fprintf(e.out, "  %s%s\n", e.words(zh+"：", en+": "), value)
	}
}

// notes prints sentences that want attention.
func (e *env) notes(notes ...string) {
	for _, n := range notes {
		fmt.Fprintf(e.out, "  ! %s\n", n)
	}
}

func (e *env) printSupervisor(s control.StatusReport) {
	e.row("版本", "version", s.Version)
	e.row("数据文件夹", "data folder", s.DataDir)
	for _, p := range s.Processes {
		text := stateWord(p.State).In(e.lang)
		if p.PID != 0 {
			text += fmt.Sprintf(e.words("，进程号 %d，已运行 %s", ", pid %d, for %s"), p.PID, e.span(e.now().Sub(time.Unix(p.Since, 0))))
		}
		if p.Restarts > 0 {
			text += fmt.Sprintf(e.words("，重启过 %d 次", ", restarts: %d"), p.Restarts)
		}
		if p.LastExit != "" {
			text += fmt.Sprintf(e.words("，上次：%s", ", last time: %s"), p.LastExit)
		}
		// The name stands there too: it is what `homectl restart` takes.
		name := known(p.Name, map[string]words.Text{"door": {ZH: "门进程 door", EN: "door"}, "agent": {ZH: "智能体进程 agent", EN: "agent"}})
		e.row(name.ZH, name.EN, text)
	}
	e.row("隔离", "isolation", s.Isolation)
	e.row("操作记录", "tracker", s.Tracker)
	e.row("看门狗", "watchdog", s.Watchdog)
	e.row("无线网", "wifi", s.Wifi)
	e.notes(s.Notices...)
}

// doorStatus is what is printed of the door's part.
type doorStatus struct {
	Uptime int  `json:"uptime_s"`
	Linked bool `json:"agent_linked"`
	Notes  []struct {
		Text   string `json:"text"`
		Detail string `json:"detail"`
	} `json:"notes"`
}

func (e *env) printDoor(s doorStatus) {
	e.row("已运行", "up for", e.span(time.Duration(s.Uptime)*time.Second))
	e.row("与智能体相连", "linked to the agent", e.yes(s.Linked))
	for _, n := range s.Notes {
		if n.Detail != "" {
			n.Text += " (" + n.Detail + ")"
		}
		e.notes(n.Text)
	}
}

// voice asks for the state of the voice; nil where no voice plugin answers.
func (e *env) voice() *voiceStatus {
	ctx, cancel := context.WithTimeout(e.ctx, voiceTime)
	defer cancel()
	var v voiceStatus
	if err := e.api.Do(ctx, http.MethodGet, "voice", nil, &v); err != nil {
		return nil
	}
	return &v
}

func (e *env) yes(v bool) string {
	if v {
		return e.words("是", "yes")
	}
	return e.words("否", "no")
}

// span is a duration as people say it, in its two largest units.
func (e *env) span(d time.Duration) string {
	d = max(d, 0)
	days, hours, minutes := int(d.Hours())/24, int(d.Hours())%24, int(d.Minutes())%60
	switch {
	case days > 0:
		return fmt.Sprintf(e.words("%d 天 %d 小时", "%d d %d h"), days, hours)
	case hours > 0:
		return fmt.Sprintf(e.words("%d 小时 %d 分钟", "%d h %d min"), hours, minutes)
	case minutes > 0:
		return fmt.Sprintf(e.words("%d 分钟", "%d min"), minutes)
	}
	return fmt.Sprintf(e.words("%d 秒", "%d s"), int(d.Seconds()))
}
