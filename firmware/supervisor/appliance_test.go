package supervisor

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeagent/firmware/control"
	"homeagent/firmware/note"
)

func TestWhereThePageIsServed(t *testing.T) {
	tests := []struct{ name, flag, config, want string }{
		{"nothing said", "", "", ""},
		{"the flag", ":80", "", ":80"},
		{"the configuration goes first", ":80", "daemon: {listen_addr: ':8081'}\n", ":8081"},
		{"its default written out", ":80", "daemon:\n  listen_addr: ':8080'\n", ":8080"},
		{"another section", ":80", "agent: {max_tool_rounds: 3}\n", ":80"},
		{"a wrong address", ":80", "daemon: {listen_addr: nowhere}\n", ":80"},
		{"a broken file", ":80", "daemon: [", ":80"},
		{"a list", ":80", "daemon: {listen_addr: [1]}\n", ":80"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := New(Options{Listen: tt.flag, Output: io.Discard})
			if got := s.listen([]byte(tt.config)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestListenDefaultWithABrokenConfig: the page stays where people know it.
func TestListenDefaultWithABrokenConfig(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	s := New(Options{DataDir: dir, ConfigPath: path, Listen: ":80", Output: io.Discard})
	for _, text := range []string{"daemon: {\n", ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.loadConfig()
		if h, err := s.doorHandover(); err != nil || h.Listen != ":80" {
			t.Errorf("%q: %q, %v", text, h.Listen, err)
		}
	}
}

func TestNotesAreTold(t *testing.T) {
	dir := t.TempDir()
	notes := filepath.Join(dir, "notes.jsonl")
	for _, n := range []note.Note{{ZH: "时钟不准", EN: "the clock is wrong", Say: true}, {EN: "only English"}} {
		if err := note.Add(notes, n); err != nil {
			t.Fatal(err)
		}
	}
	s := New(Options{DataDir: dir, ConfigPath: filepath.Join(dir, "config.yaml"), NotesPath: notes, Output: io.Discard})
	s.secrets = secretStore{filepath.Join(dir, "secrets")}
	s.door = newChild(spec{name: "door"}, s.log, s.ring)
	s.agent = newChild(spec{name: "agent"}, s.log, s.ring)
	for lang, want := range map[string]string{"zh": "时钟不准\nonly English", "en": "the clock is wrong\nonly English"} {
		data, err := s.Handle(t.Context(), control.Peer{UID: os.Getuid()}, control.Request{Cmd: control.Status, Lang: lang})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(data.(control.StatusReport).Notices, "\n"); got != want {
			t.Errorf("%s: %q", lang, got)
		}
	}
	h, err := s.agentHandover()
	if err != nil || len(h.Notes) != 2 || !h.Notes[0].Say || h.Notes[1].Say {
		t.Errorf("handed to the agent: %+v, %v", h.Notes, err)
	}
	if h, err := s.doorHandover(); err != nil || h.Notes != nil || h.SocketMode != 0 {
		t.Errorf("handed to the door: %+v, %v", h.Notes, err)
	}
	if os.Getuid() == 0 { // what another user has put there is not told
		if err := os.Chown(notes, testAgent, testAgent); err != nil {
			t.Fatal(err)
		}
		s.users = testUsers
		if got := s.notes(); got != nil {
			t.Errorf("told %v", got)
		}
	}
}

// TestApplianceAsAWhole: the log goes to a file, the code to the card, and what
// keeps the house from starting stands in the log too.
func TestApplianceAsAWhole(t *testing.T) {
	dir, setup := t.TempDir(), t.TempDir()
	log := filepath.Join(t.TempDir(), "homed.log")
	c := &card{restored: make(chan struct{}, 4)}
	if err := os.WriteFile(filepath.Join(dir, setupFile), []byte("ABCD-EFGH\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := startWith(t, Options{DataDir: dir, LogPath: log, SetupDir: setup, Mounts: c, Listen: ":80"})
	h.status("both to have spoken", func(r control.StatusReport) bool {
		return running(r) && strings.Count(strings.Join(h.ring.last(0), "\n"), ": started") == 2
	})
	fmt.Fprintln(h.Log(), "beside the house")
	<-c.restored
	if got, err := os.ReadFile(filepath.Join(setup, setupFile)); err != nil || string(got) != "ABCD-EFGH\n" {
		t.Errorf("on the card: %q, %v", got, err)
	}
	if err := New(Options{DataDir: dir, LogPath: log, Output: io.Discard}).Run(t.Context()); err == nil {
		t.Error("a second one runs")
	}
	h.cancel()
	h.done <- <-h.done
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"homed: ", "door: started secrets=0", "agent: started", "homed cannot run", "beside the house", "in use by another homed", "homed ended"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the log lacks %q", part)
		}
	}
}
