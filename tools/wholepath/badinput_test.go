package wholepath

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"homeagent/drivers/web/client"
	"homeagent/drivers/web/problem"
)

func hasHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// TestBadText says over the API what no keyboard writes.
func TestBadText(t *testing.T) {
	t.Parallel()
	h := open(t, quiet)
	before := h.pids()
	for _, row := range []struct {
		name, body string
		kind       string // of the body; "" is JSON
		status     int    // 0: it is answered like any text
		says       string
	}{
		{"1 MB", `{"text":"` + strings.Repeat("a long story ", 80_000) + `"}`, "", http.StatusRequestEntityTooLarge, `too long .*limit.* Send it as a file`},
		{"1 MB in one word", `{"text":"` + strings.Repeat("字", 350_000) + `"}`, "", http.StatusRequestEntityTooLarge, `too big\. Send it in smaller pieces`},
		{"invalid UTF-8", "{\"text\":\"turn on \xff\xfe the lamp\"}", "", http.StatusBadRequest, `not UTF-8 .*send it again`},
		{"half a surrogate", `{"text":"turn on \ud83d the lamp"}`, "", 0, ``},
		{"NUL", `{"text":"turn on\u0000 the bedroom lamp"}`, "", http.StatusBadRequest, `NUL.*(Encode|send)`},
		{"NUL as a byte", "{\"text\":\"turn on\x00 the bedroom lamp\"}", "", http.StatusBadRequest, `not valid JSON\. Send \{"text"`},
		{"empty", `{"text":""}`, "", http.StatusBadRequest, `empty.*Write something`},
		{"blank", `{"text":" \n\t "}`, "", http.StatusBadRequest, `empty.*Write something`},
		{"no text", `{}`, "", http.StatusBadRequest, `empty.*Write something`},
		{"a number", `{"text":7}`, "", http.StatusBadRequest, `not valid JSON\. Send \{"text"`},
		{"no JSON", `turn on the lamp`, "", http.StatusBadRequest, `not valid JSON\. Send \{"text"`},
		{"a form", `text=hello`, "application/x-www-form-urlencoded", http.StatusUnsupportedMediaType, `application/json`},
		{"deep JSON", strings.Repeat(`{"text":`, 20_000), "", http.StatusBadRequest, `not valid JSON\. Send \{"text"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := h.in(t)
			kind := row.kind
			if kind == "" {
				kind = "application/json"
			}
			// A refusal is in the text's own language where it has one, else in the reader's.
			langs := []string{"en", "zh"}
			if strings.HasPrefix(row.body, `{"text":"a long`) || strings.Contains(row.body, "turn on") && row.kind == "" && strings.Contains(row.body, `\u0000`) {
				langs = langs[:1]
			}
			for _, lang := range langs {
				api := client.Unix(filepath.Join(h.dir, "run", "door.sock"), lang)
				defer api.Close()
				ctx, cancel := context.WithTimeout(t.Context(), turnWait)
				defer cancel()
				var got client.Answer
				err := readAnswer(api.Open(ctx, http.MethodPost, "chat", client.Upload{ContentType: kind, Body: strings.NewReader(row.body)}))(&got)
				var p *problem.Problem
				switch {
				case row.status == 0:
					if err != nil || got.Text == "" {
						t.Errorf("answered with %+v, %v", got, err)
					}
				case !errors.As(err, &p):
					t.Errorf("answered with %.200v and %q", err, got.Text)
				case p.Status != row.status || lang == "en" && !regexp.MustCompile(row.says).MatchString(p.Error()):
					t.Errorf("status %d, %q, want %d, %q", p.Status, p.Error(), row.status, row.says)
				case hasHan(p.Title) != (lang == "zh"):
					t.Errorf("in %s: %q", lang, p.Title)
				default:
					t.Log(p.Error())
				}
			}
		})
	}
	for _, row := range []struct{ name, stdin, says string }{
		{"homectl, 1 MB", strings.Repeat("a long story ", 80_000), `too long .*limit.* Send it as a file`},
		{"homectl, invalid UTF-8", "turn on \xff\xfe the lamp", `not UTF-8 .*send it again`},
		{"homectl, nothing", "\n", `empty.*Write something`},
	} {
		t.Run(row.name, func(t *testing.T) {
			out, bad, code := h.in(t).homectlIn(turnWait, row.stdin, "say", "-")
			if code != 1 || !regexp.MustCompile(row.says).MatchString(bad) {
				t.Errorf("exit %d, %.200q %q, want %q", code, out, bad, row.says)
			}
			t.Log(bad)
		})
	}
	h.unhurt(before)
}

// readAnswer reads what a chat answers in one piece or as events.
func readAnswer(body interface {
	Read([]byte) (int, error)
	Close() error
}, err error) func(*client.Answer) error {
	return func(a *client.Answer) error {
		if err != nil {
			return err
		}
		s := client.NewStream(body)
		defer s.Close()
		for {
			ev, err := s.Next()
			if err != nil {
				return err
			}
			switch ev.Name {
			case "final":
				return json.Unmarshal(ev.Data, a)
			case "error":
				var p problem.Problem
				if err := json.Unmarshal(ev.Data, &p); err != nil {
					return err
				}
				return &p
			}
		}
	}
}

// TestBadConfig starts houses whose config.yaml is wrong: each runs, and says
// what is wrong and what it does instead.
func TestBadConfig(t *testing.T) {
	t.Parallel()
	const page = "daemon: {listen_addr: \"127.0.0.1:0\"}\n"
	for _, row := range []struct{ name, config, good, says string }{
		{"broken YAML", "daemon: {listen_addr: [\n", "", `line .*(mend|move)`},
		{"broken YAML after a good one", "daemon: {listen_addr: [\n", page + quiet, `last good configuration`},
		{"no mapping", "just words\n", "", `sections`},
		{"unknown section", page + "voise: {}\n", "", `line 2.*"voise".*did you mean "voice"`},
		{"unknown key", "daemon: {listen_addr: \"127.0.0.1:0\", log_levle: debug}\n", "", `"log_levle".*did you mean "log_level"`},
		{"unknown key of a plugin", page + "voice: {microfone: x}\n", "", `line 2: unknown key "microfone"; did you mean "microphone".*defaults`},
		{"wrong value", page + "agent: {max_tool_rounds: many}\n", "", `agent.*defaults`},
		{"out of range", page + "agent: {max_tool_rounds: 900}\n", "", `900, outside its range; 10 is used`},
		{"unknown provider", page + "providers: [{kind: oracle}]\n", "", `line 2: .*"oracle".*make it`},
		{"a device of no kind", page + "home: {devices: [{name: lamp}]}\n", "", `line 2: device "lamp".*such as`},
		{"binary", "\x00\x01\x02\xff\xfe", "", `cannot be used.*(mend|move)`},
		{"an old file", page + "defaults: {image: foo}\n", "", `no effect`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, page)
			if row.good != "" {
				configure(t, dir, row.good)
				h := start(t, dir)
				h.ready()
				h.stop()
			}
			path := filepath.Join(dir, "config.yaml")
			if err := os.WriteFile(path, []byte(row.config), 0o600); err != nil {
				t.Fatal(err)
			}
			h := start(t, dir)
			// A configuration that cannot be read means the default port, which may
			// be in use on this machine; what counts is that it is said.
			if strings.HasPrefix(row.config, page) || row.good != "" {
				h.ready()
				h.unhurt(h.pids())
			}
			said := func() string {
				rep, err := h.status()
				if err != nil {
					return ""
				}
				var agent struct {
					Agent struct {
						Notes   []string          `json:"notes"`
						Plugins []json.RawMessage `json:"plugins"`
					} `json:"agent"`
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				h.api.Do(ctx, http.MethodGet, "status", nil, &agent) // there may be no door
				return strings.Join(append(rep.Notices, agent.Agent.Notes...), "\n")
			}
			want := regexp.MustCompile(row.says)
			if !waited(startWait, func() bool { return said() != "" && want.MatchString(said()) }) {
				t.Errorf("notices %q, want %q; the log:\n%s", said(), row.says, h.log)
			}
			t.Log(said())
			if b, err := os.ReadFile(path); err != nil || string(b) != row.config {
				t.Errorf("config.yaml was touched: %q, %v", b, err)
			}
		})
	}
}

// TestPortInUse starts a house whose page's port another program has.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	addr := other.Addr().String()
	dir := folder(t, "daemon: {listen_addr: \""+addr+"\"}\n"+quiet)
	h := start(t, dir)
	said := ""
	eventually(t, startWait, "homectl status tells it", func() bool {
		out, bad, _ := h.homectl(turnWait, "status")
		said = out + bad
		return strings.Contains(said, addr) && strings.Contains(said, "in use") && strings.Contains(said, "listen_addr")
	})
	t.Log(said)
	agent := h.agentPID()
	other.Close()
	h.ready() // as soon as the port is free
	if now := h.agentPID(); agent == 0 || now != agent {
		t.Errorf("the agent was process %d and is %d", agent, now)
	}
	h.unhurt(h.pids())
}

// agentPID is the agent's process, 0 where it does not run.
func (h *house) agentPID() int {
	h.t.Helper()
	rep, err := h.status()
	if err != nil {
		h.t.Fatalf("status: %v", err)
	}
	for _, p := range rep.Processes {
		if p.Name == "agent" {
			return p.PID
		}
	}
	return 0
}

// TestBadFolder starts homed on folders that it cannot use.
func TestBadFolder(t *testing.T) {
	t.Parallel()
	fails := func(t *testing.T, dir, says string) {
		t.Helper()
		h := start(t, dir)
		select {
		case <-h.homed.ended:
		case <-time.After(startWait):
			t.Fatal("homed runs")
		}
		last := tail(h.log.String(), 1)
		if h.homed.err == nil || !regexp.MustCompile(says).MatchString(last) {
			t.Errorf("homed ended with %v: %q, want %q", h.homed.err, last, says)
		}
		t.Log(last)
	}
	t.Run("two homed on one folder", func(t *testing.T) {
		t.Parallel()
		h := open(t, quiet)
		h.say("turn on the bedroom lamp")
		before := h.pids()
		fails(t, h.dir, `in use by another homed \(process \d+\).*(stop it|-data)`)
		h.unhurt(before)
		if !h.lamps()["bedroom_lamp"] {
			t.Error("the lamp went out")
		}
	})
	t.Run("below /proc", func(t *testing.T) {
		t.Parallel()
		fails(t, "/proc/homeagent", `/proc/homeagent .*-data`)
	})
	t.Run("a file", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		fails(t, path, `file .*-data`)
	})
	t.Run("a path too long for sockets", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(folder(t, ""), strings.Repeat("long", 30))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		fails(t, dir, `too long .*shorter`)
	})
	t.Run("read-only", func(t *testing.T) {
		t.Parallel()
		dir := mounted(t, "1m")
		remount(t, dir, "ro")
		fails(t, dir, `cannot be written .*-data`)
	})
}
