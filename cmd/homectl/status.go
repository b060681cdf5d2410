package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"time"

	"homeagent/drivers/web/client"
	"homeagent/firmware/control"
)

type statusCmd struct {
	JSON bool `help:"Print everything as JSON."`
}

// Run asks the door for the whole; with the door dead the supervisor still answers.
func (c *statusCmd) Run(e *env) error {
	var all struct {
		Door       map[string]json.RawMessage `json:"door"`
		Supervisor control.StatusReport       `json:"supervisor"`
		Agent      map[string]json.RawMessage `json:"agent"`
	}
	var raw json.RawMessage
	err := e.api.Do(e.ctx, http.MethodGet, "status", nil, &raw)
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if errors.Is(err, client.ErrUnreachable) && e.hasCtl {
		if cerr := e.ask(control.Request{Cmd: control.Status}, &all.Supervisor); cerr != nil {
			return cerr
		}
		fmt.Fprintln(e.out, e.words("门（页面）没有应答，以下来自守护进程：", "The door (the page) does not answer; this is the supervisor's part:"))
		raw, err = json.Marshal(map[string]any{"supervisor": all.Supervisor})
	}
	if err != nil {
		return err
	}
	if c.JSON {
		_, err := fmt.Fprintln(e.out, string(raw))
		return err
	}
	e.printSupervisor(all.Supervisor)
	if len(all.Agent) > 0 {
		fmt.Fprintln(e.out, e.words("代理", "agent"))
		e.printTree(all.Agent, 1)
	}
	return nil
}

func (e *env) printSupervisor(s control.StatusReport) {
	fmt.Fprintf(e.out, "HomeAgent %s, %s\n", s.Version, s.DataDir)
	for _, p := range s.Processes {
		fmt.Fprintf(e.out, "  %-6s %s", p.Name, p.State)
		if p.PID != 0 {
			fmt.Fprintf(e.out, ", pid %d, %s", p.PID, time.Since(time.Unix(p.Since, 0)).Round(time.Second))
		}
		if p.Restarts > 0 {
			fmt.Fprintf(e.out, ", %s %d", e.words("重启次数", "restarts"), p.Restarts)
		}
		if p.LastExit != "" {
			fmt.Fprintf(e.out, " (%s)", p.LastExit)
		}
		fmt.Fprintln(e.out)
	}
	for _, row := range [][3]string{
		{"隔离", "isolation", s.Isolation}, {"记录器", "tracker", s.Tracker}, {"看门狗", "watchdog", s.Watchdog}, {"无线网", "wifi", s.Wifi},
	} {
		fmt.Fprintf(e.out, "  %s: %s\n", e.words(row[0], row[1]), row[2])
	}
	for _, n := range s.Notices {
		fmt.Fprintf(e.out, "  ! %s\n", n)
	}
}

// printTree prints what the agent tells of itself, whatever it is, as an
// indented list in a steady order.
func (e *env) printTree(m map[string]json.RawMessage, depth int) {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	pad := strings.Repeat("  ", depth)
	for _, k := range keys {
		var sub map[string]json.RawMessage
		var list []json.RawMessage
		switch {
		case json.Unmarshal(m[k], &sub) == nil && sub != nil:
			fmt.Fprintf(e.out, "%s%s\n", pad, k)
			e.printTree(sub, depth+1)
		case json.Unmarshal(m[k], &list) == nil && list != nil:
			fmt.Fprintf(e.out, "%s%s\n", pad, k)
			for _, item := range list {
				fmt.Fprintf(e.out, "%s  %s\n", pad, flat(item))
			}
		default:
			fmt.Fprintf(e.out, "%s%s: %s\n", pad, k, flat(m[k]))
		}
	}
}

// flat is a value on one line: an object as "key value, key value".
func flat(raw json.RawMessage) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) == nil && m != nil {
		keys := make([]string, 0, len(m))
		for k := range m {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		parts := make([]string, 0, len(m))
		for _, k := range keys {
			if v := flat(m[k]); v != "" && v != "null" {
				parts = append(parts, k+" "+v)
			}
		}
		return strings.Join(parts, ", ")
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
