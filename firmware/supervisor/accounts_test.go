package supervisor

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeagent/firmware/config"
	"homeagent/firmware/control"
	"homeagent/firmware/note"
)

func TestWhetherAHouseLivedThere(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		want  bool
	}{
		{"empty", nil, false},
		{"what an image lays down", []string{"config.yaml", "secrets/deepseek", "workspace/x"}, false},
		{"only the door's", []string{"door.db", "setup-code.txt"}, false},
		{"the context", []string{"state.db"}, true},
		{"the graph", []string{"memory/graph.db"}, true},
		{"a folder of that name", []string{"state.db/x"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range tt.files {
				path := filepath.Join(dir, f)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := usedBefore(dir); got != tt.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestLostAccountsReachTheAgent(t *testing.T) {
	tests := []struct {
		name   string
		req    control.Request
		setup  string
		zh, en []string
		not    string // must not be said in English
	}{
		{"damaged", control.Request{Name: "door.db.bad-20260301T080000", Text: control.Memories}, "/setup",
			[]string{"坏的文件还留在", "记忆都还在", "新的设置码", "存储卡上的 setup-code.txt"},
			[]string{"damaged file is kept", "memories are still there", "new setup code", "setup-code.txt on the card"}, "bad-"},
		{"gone, on a computer", control.Request{Text: control.Memories}, "",
			[]string{"不见了", "记忆都还在", "数据文件夹里的 setup-code.txt"}, []string{"is gone", "memories are still there", "in the data folder"}, "kept"},
		{"and all else with it", control.Request{Name: "x"}, "", []string{"坏了"}, []string{"is damaged"}, "memories"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := New(Options{DataDir: dir, ConfigPath: filepath.Join(dir, "config.yaml"), SetupDir: tt.setup, Output: io.Discard})
			s.secrets = secretStore{filepath.Join(dir, "secrets")}
			s.agent = newChild(spec{name: "agent"}, s.log, s.ring)
			tt.req.Cmd = control.AccountsLost
			kicked := func() bool {
				select {
				case <-s.agent.kick:
					return true
				default:
					return false
				}
			}
			handed := func() []note.Note {
				h, err := s.agentHandover()
				if err != nil {
					t.Fatal(err)
				}
				return h.Notes
			}
			if n := handed(); len(n) != 0 {
				t.Fatalf("handed over %+v", n)
			}
			for i := range 2 { // however often the door says it
				if _, err := s.Handle(t.Context(), control.Peer{UID: os.Getuid()}, tt.req); err != nil {
					t.Fatal(err)
				}
				if got := kicked(); got != (i == 0) {
					t.Errorf("word %d: the agent is started anew: %t", i+1, got)
				}
			}
			n := handed()
			if len(n) != 1 || !n[0].Say {
				t.Fatalf("handed over %+v", n)
			}
			for _, p := range tt.zh {
				if !strings.Contains(n[0].ZH, p) {
					t.Errorf("%q lacks %q", n[0].ZH, p)
				}
			}
			for _, p := range tt.en {
				if !strings.Contains(n[0].EN, p) {
					t.Errorf("%q lacks %q", n[0].EN, p)
				}
			}
			if strings.Contains(n[0].EN, tt.not) {
				t.Errorf("%q has %q", n[0].EN, tt.not)
			}
		})
	}
}

// TestLostBeforeTheAgentStarts: what has not begun is not started anew.
func TestLostBeforeTheAgentStarts(t *testing.T) {
	s := New(Options{DataDir: t.TempDir(), Output: io.Discard})
	s.agent = newChild(spec{name: "agent"}, s.log, s.ring)
	s.accountsLost(false, true)
	if len(s.agent.kick) != 0 {
		t.Error("the agent is started anew before it is started")
	}
}

// TestOnlyTheDoorLearnsWhetherTheFolderIsUsed, and only what was there before
// the processes began counts.
func TestOnlyTheDoorLearnsWhetherTheFolderIsUsed(t *testing.T) {
	for _, used := range []bool{false, true} {
		dir := t.TempDir()
		if used {
			if err := os.WriteFile(filepath.Join(dir, "state.db"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		h := start(t, dir)
		h.status("both to run", running)
		if err := os.WriteFile(filepath.Join(dir, "state.db"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, handover := range map[string]func() (config.Handover, error){"door": h.doorHandover, "agent": h.agentHandover} {
			if got, err := handover(); err != nil || got.Used != (used && name == "door") {
				t.Errorf("used %t, %s: %t, %v", used, name, got.Used, err)
			}
		}
		h.cancel()
		h.done <- <-h.done
	}
}
