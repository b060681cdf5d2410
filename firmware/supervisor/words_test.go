package supervisor

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"homeagent/firmware/control"
	"homeagent/firmware/words"
)

func TestErrorsInBothLanguages(t *testing.T) {
	secrets := secretStore{filepath.Join(t.TempDir(), "none")}
	_, listing := secrets.names()
	tests := []struct {
		name   string
		err    error
		zh, en []string // parts
	}{
		{"folder in use", &InUseError{Dir: "/d", PID: "12"}, []string{"/d", "另一个 homed（进程 12）", "-data"}, []string{"/d", "another homed (process 12)", "-data"}},
		{"folder in use by nobody known", &InUseError{Dir: "/d"}, []string{"正被另一个 homed使用"}, []string{"in use by another homed;"}},
		{"no permission", folderError("/d", os.ErrPermission), []string{"/d 不能写", "-data"}, []string{"/d cannot be written", "-data"}},
		{"read-only", folderError("/d", unix.EROFS), []string{"不能写"}, []string{"cannot be written"}},
		{"full", folderError("/d", unix.ENOSPC), []string{"磁盘满了", "腾出"}, []string{"is full", "free some space"}},
		{"other", folderError("/d", unix.ENOTDIR), []string{"/d 不能用", "检查"}, []string{"/d cannot be used", "check"}},
		{"name of a secret", secrets.set("../x", "v"), []string{"不能做密文的名称", "小写字母"}, []string{"is no name for a secret", "small letter"}},
		{"length of a secret", secrets.set("x", strings.Repeat("v", maxSecret+1)), []string{"超过 64 KiB"}, []string{"longer than 64 KiB"}},
		{"a secret that cannot be written", secrets.set("x", "v"), []string{"数据文件夹"}, []string{"the data folder"}},
		{"secrets that cannot be listed", listing, []string{"数据文件夹"}, []string{"the data folder"}},
		{"denied", control.ErrDenied, []string{"无权", "root"}, []string{"not allowed", "root"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			zh, en := words.In(tt.err, "zh"), words.In(tt.err, "en")
			for _, part := range tt.zh {
				if !strings.Contains(zh, part) {
					t.Errorf("%q lacks %q", zh, part)
				}
			}
			for _, part := range tt.en {
				if !strings.Contains(en, part) {
					t.Errorf("%q lacks %q", en, part)
				}
			}
			if tt.err.Error() != en {
				t.Errorf("as an error it reads %q", tt.err)
			}
		})
	}
	if err := folderError("/d", os.ErrPermission); !errors.Is(err, os.ErrPermission) {
		t.Error("the cause is lost")
	}
}

// The supervisor is not running here; Handle answers from what it has loaded.
func TestHandleSpeaksTheLanguageOfTheRequest(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte("agent: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	s := New(Options{DataDir: dir, ConfigPath: path, Output: io.Discard})
	s.secrets = secretStore{filepath.Join(dir, "secrets")}
	s.door = newChild(spec{name: "door"}, s.log, s.ring)
	s.agent = newChild(spec{name: "agent"}, s.log, s.ring)
	s.agent.ended = words.Text{ZH: "应要求重启", EN: "restarted on request"}
	s.loadConfig()
	tests := []struct{ lang, notice, isolation, tracker, watchdog, wifi, exit, process, secret, command, broken, note string }{
		{"zh", "改正之前用的是默认值", "只分进程", "不记录", "看门狗", "不管理", "应要求重启", `没有叫 "x" 的进程`, "不能做密文的名称", "没有命令", "读不懂", `不认识段 "voise"`},
		{"en", "the defaults are used", "processes only", "records nothing", "watchdog", "not managed", "restarted on request", `no process "x"`, "is no name", "no command", "mend that line", `unknown section "voise"`},
		{"", "the defaults are used", "processes only", "records nothing", "watchdog", "not managed", "restarted on request", `no process "x"`, "is no name", "no command", "mend that line", `unknown section "voise"`},
	}
	me := control.Peer{UID: os.Getuid()}
	for _, tt := range tests {
		t.Run("lang "+tt.lang, func(t *testing.T) {
			has := func(text, part string) {
				t.Helper()
				if !strings.Contains(text, part) {
					t.Errorf("%q lacks %q", text, part)
				}
			}
			data, err := s.Handle(t.Context(), me, control.Request{Cmd: control.Status, Lang: tt.lang})
			if err != nil {
				t.Fatal(err)
			}
			rep := data.(control.StatusReport)
			has(strings.Join(rep.Notices, "\n"), tt.notice)
			has(rep.Isolation, tt.isolation)
			has(rep.Tracker, tt.tracker)
			has(rep.Watchdog, tt.watchdog)
			has(rep.Wifi, tt.wifi)
			has(rep.Processes[1].LastExit, tt.exit)
			for part, req := range map[string]control.Request{
				tt.process: {Cmd: control.Restart, Name: "x"},
				tt.secret:  {Cmd: control.SecretSet, Name: "../x", Text: "v"},
				tt.command: {Cmd: "dance"},
				tt.broken:  {Cmd: control.ConfigSet, Text: "a: ["},
			} {
				req.Lang = tt.lang
				if _, err := s.Handle(t.Context(), me, req); err == nil {
					t.Errorf("%+v was done", req)
				} else {
					has(words.In(err, tt.lang), part)
				}
			}
		})
	}
	for _, tt := range tests {
		data, err := s.Handle(t.Context(), me, control.Request{Cmd: control.ConfigSet, Text: "voise: {}", Lang: tt.lang})
		if notes, _ := data.([]string); err != nil || len(notes) != 1 || !strings.Contains(notes[0], tt.note) {
			t.Errorf("lang %s: %v, %v", tt.lang, data, err)
		}
	}
	h, err := s.doorHandover()
	if err != nil || len(h.Notices) != 1 || !strings.HasPrefix(h.Notices[0], "config line 1: unknown section") {
		t.Errorf("handed over: %q, %v", h.Notices, err)
	}
}

func TestSecretThatCannotBeReadIsNamed(t *testing.T) {
	s := secretStore{t.TempDir()}
	if err := s.set("good", "v"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.dir, "bad"), 0o700); err != nil { // a folder cannot be read as a file
		t.Fatal(err)
	}
	values, notes := s.all()
	if values["good"] != "v" || len(values) != 1 || len(notes) != 1 ||
		!strings.Contains(notes[0].ZH, "homectl secret set bad") || !strings.Contains(notes[0].EN, "secret bad cannot be read") {
		t.Errorf("%d values, %q", len(values), notes)
	}
}

func TestEnding(t *testing.T) {
	exit := func(script string) error { return exec.Command("/bin/sh", "-c", script).Run() }
	tests := []struct {
		name, last string
		err        error
		zh, en     string
	}{
		{name: "by itself", zh: "自行结束", en: "ended by itself"},
		{name: "with a code and a last word", err: exit("exit 7"), last: "it is broken", zh: "结束，退出码 7：it is broken", en: "exit status 7: it is broken"},
		{name: "by a signal", err: exit("kill -9 $$"), zh: "被信号结束（killed）", en: "signal: killed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ending(tt.err, tt.last); got.ZH != tt.zh || got.EN != tt.en {
				t.Errorf("%q, %q", got.ZH, got.EN)
			}
		})
	}
}

func TestLastWordIsCutBetweenCharacters(t *testing.T) {
	r := newRing(io.Discard)
	got := r.follow("x", strings.NewReader("a"+strings.Repeat("灯", 1000)))
	if len(got) > lastWordLen || len(got) < lastWordLen-3 || !utf8.ValidString(got) {
		t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
	}
}
