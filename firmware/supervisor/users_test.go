package supervisor

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeagent/firmware/account"
	"homeagent/firmware/control"
	"homeagent/firmware/words"
)

// Numbers that no system gives to a user.
const (
	testAgent = 65533
	testDoor  = 65532
)

// accounts writes a passwd and a group file with the two users of an appliance.
func accounts(t *testing.T, shared bool) account.Source {
	t.Helper()
	dir := t.TempDir()
	s := account.Source{Passwd: filepath.Join(dir, "passwd"), Group: filepath.Join(dir, "group")}
	doorGroup := testDoor
	if shared {
		doorGroup = testAgent
	}
	files := map[string]string{
		s.Passwd: fmt.Sprintf("root:x:0:0::/:/bin/sh\nagent:x:%[1]d:%[1]d::/:/bin/false\ndoor:x:%[2]d:%[3]d::/:/bin/false\ntwin:x:%[1]d:1::/:/bin/false\n",
			testAgent, testDoor, doorGroup),
		s.Group: "audio:x:29:agent\ngpio:x:997:agent\n",
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestFindUsers(t *testing.T) {
	source := accounts(t, false)
	tests := []struct {
		name, agent, door string
		root              bool
		zh, en            string // parts of the error
	}{
		{name: "none named", root: false},
		{name: "both", agent: "agent", door: "door", root: true},
		{name: "the agent alone", agent: "agent", root: true},
		{name: "not root", agent: "agent", zh: "只有 root 能用 -agent-user", en: "only root can give"},
		{name: "unknown agent", agent: "nobody-here", door: "door", root: true,
			zh: `没有用户 "nobody-here"（-agent-user）；请先建立它，例如 adduser --system nobody-here`, en: "make it first, for example with adduser --system nobody-here"},
		{name: "unknown door", agent: "agent", door: "x", root: true, zh: "-door-user", en: "-door-user"},
		{name: "root as a user", agent: "root", root: true, zh: "不能是 root", en: "must not be root"},
		{name: "the same twice", agent: "agent", door: "twin", root: true, zh: "必须是两个不同的用户", en: "must be two different users"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, err := findUsers(source, tt.agent, tt.door, tt.root)
			if tt.en != "" {
				if err == nil || !strings.Contains(words.In(err, "zh"), tt.zh) || !strings.Contains(words.In(err, "en"), tt.en) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || (u == nil) != (tt.agent == "") || tt.agent != "" && u.agentUID() != testAgent || tt.door == "" && u.doorUID() != -1 {
				t.Errorf("got %+v, %v", u, err)
			}
		})
	}
	if _, err := findUsers(account.Source{Passwd: filepath.Join(t.TempDir(), "none")}, "a", "", true); err == nil || !strings.Contains(err.Error(), "/etc/passwd") {
		t.Errorf("no passwd file: %v", err)
	}
}

func TestModesByTheUsersGroups(t *testing.T) {
	tests := []struct {
		name           string
		users          *users
		socket, folder os.FileMode
	}{
		{"a group for both", &users{group: 900}, 0o660, os.ModeSticky | 0o770},
		{"no group for both", &users{}, 0o666, os.ModeSticky | 0o777},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if s, f := tt.users.socketMode(), tt.users.folderMode(); s != tt.socket || f != tt.folder {
				t.Errorf("got %v, %v", s, f)
			}
		})
	}
	if m := (*users)(nil).socketMode(); m != 0o660 {
		t.Errorf("one user for all: %v", m)
	}
}

// TestWhoMayUseTheControlSocket goes through every command for every peer.
func TestWhoMayUseTheControlSocket(t *testing.T) {
	all := []control.Command{control.Status, control.Restart, control.Logs, control.ConfigGet, control.ConfigSet, control.SecretSet, control.SecretList, control.AccountsLost}
	page := []control.Command{control.Status, control.ConfigGet, control.ConfigSet, control.SecretSet, control.SecretList, control.AccountsLost}
	status := []control.Command{control.Status}
	apart := &users{agent: &account.User{UID: testAgent}, door: &account.User{UID: testDoor}}
	me := os.Getuid()
	tests := []struct {
		name  string
		users *users
		peer  control.Peer
		may   []control.Command
	}{
		{"root", apart, control.Peer{UID: 0}, all},
		{"the supervisor's user", apart, control.Peer{UID: me}, all},
		{"the agent's user", apart, control.Peer{UID: testAgent}, status},
		{"the door's user", apart, control.Peer{UID: testDoor}, page},
		{"another user", apart, control.Peer{UID: 4711}, nil},
		{"nobody", apart, control.Peer{UID: -1}, nil},
		{"one user: itself", nil, control.Peer{UID: me, PID: 1}, all},
		{"one user: the agent's process", nil, control.Peer{UID: me, PID: 77}, status},
		{"one user: another", nil, control.Peer{UID: testDoor}, nil},
		{"one user: nobody", nil, control.Peer{UID: -1}, nil},
		{"an agent's user, the door root's", &users{agent: apart.agent}, control.Peer{UID: testAgent}, status},
		{"an agent's user, nobody", &users{agent: apart.agent}, control.Peer{UID: -1}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := New(Options{Output: io.Discard})
			s.users = tt.users
			s.agent = newChild(spec{name: "agent"}, s.log, s.ring)
			s.agent.set(func(p *control.Process) { p.PID = 77 })
			for _, cmd := range all {
				if got, want := s.allowed(tt.peer, cmd), slices.Contains(tt.may, cmd); got != want {
					t.Errorf("%s: %v, want %v", cmd, got, want)
				}
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	own := []string{"PATH=/bin", "HOME=/root", "USER=root", "LOGNAME=root", "XDG_DATA_HOME=/root/x", "LANG=zh_CN.UTF-8"}
	u := &account.User{Name: "agent"}
	tests := []struct {
		name string
		user *account.User
		want []string
	}{
		{"the supervisor's own", nil, append(slices.Clone(own), "A=1")},
		{"another", u, []string{"PATH=/bin", "LANG=zh_CN.UTF-8", "HOME=/data", "USER=agent", "LOGNAME=agent", "A=1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := environment(own, tt.user, "/data", []string{"A=1"}); !slices.Equal(got, tt.want) {
				t.Errorf("got %q", got)
			}
		})
	}
	if own[1] != "HOME=/root" {
		t.Error("the supervisor's own environment was changed")
	}
}

// needRoot skips what only root can do.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("skipped: root is absent; only root can give a process another user")
	}
}

// open makes the folders above a test's folder passable for other users.
func open(t *testing.T, dir string) {
	t.Helper()
	for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// rights are what the kernel says of a running process.
func rights(t *testing.T, pid int) map[string]string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		k, v, _ := strings.Cut(line, ":")
		out[k] = strings.Join(strings.Fields(v), " ")
	}
	return out
}

// TestProcessesRunUnderTheirUsers starts both for real, kills one and looks at
// what the kernel knows of them.
func TestProcessesRunUnderTheirUsers(t *testing.T) {
	needRoot(t)
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprintf("shared group %v", shared), func(t *testing.T) {
			dir := t.TempDir()
			open(t, dir)
			if err := os.Mkdir(filepath.Join(dir, "memory"), 0o700); err != nil {
				t.Fatal(err)
			}
			h := startWith(t, Options{DataDir: dir, AgentUser: "agent", DoorUser: "door", Accounts: accounts(t, shared),
				NotesPath: filepath.Join(dir, "run", "notes.jsonl")})
			rep := h.status("both to run", running)
			if !strings.Contains(rep.Isolation, "a user of its own") {
				t.Errorf("isolation %q", rep.Isolation)
			}
			if err := syscall.Kill(rep.Processes[1].PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			rep = h.status("the agent to come back", func(r control.StatusReport) bool { return running(r) && r.Processes[1].Restarts == 1 })
			for i, want := range []struct {
				uid, gid int
				groups   string
				score    string
			}{{testDoor, testDoor, "", "100"}, {testAgent, testAgent, "29 997", "300"}} {
				if shared {
					want.gid = testAgent
				}
				pid := rep.Processes[i].PID
				got := rights(t, pid)
				four := func(n int) string { return strings.TrimSpace(strings.Repeat(strconv.Itoa(n)+" ", 4)) }
				none := strings.Repeat("0", 16)
				for k, v := range map[string]string{
					"Uid": four(want.uid), "Gid": four(want.gid), "Groups": want.groups, "NoNewPrivs": "1",
					"CapInh": none, "CapPrm": none, "CapEff": none, "CapBnd": none, "CapAmb": none,
				} {
					if got[k] != v {
						t.Errorf("%s: %s is %q, want %q", rep.Processes[i].Name, k, got[k], v)
					}
				}
				if score, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/oom_score_adj"); err != nil || strings.TrimSpace(string(score)) != want.score {
					t.Errorf("%s: memory priority %q, %v", rep.Processes[i].Name, score, err)
				}
			}
			if uid, _ := ids(t, h.opts.NotesPath); uid != 0 {
				t.Errorf("the file of the notes belongs to %d", uid)
			}
			h.asUser(t, testAgent, control.Status, true)
			h.asUser(t, testAgent, control.SecretList, false)
			h.asUser(t, testDoor, control.SecretList, true)
			h.asUser(t, testDoor, control.Restart, false)
			if info, err := os.Stat(filepath.Join(dir, "secrets")); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("secrets: %v, %v", info, err)
			}
		})
	}
}

// asUser asks over the socket from a process of another user.
func (h *house) asUser(t *testing.T, uid int, cmd control.Command, allowed bool) {
	t.Helper()
	out := runAs(t, h.opts.Door[0], uid, "ask", h.client.Path, string(cmd))
	var rep control.Reply
	if err := json.Unmarshal(out, &rep); err != nil {
		t.Fatalf("uid %d, %s: %v: %s", uid, cmd, err, out)
	}
	if rep.OK != allowed || !allowed && !strings.Contains(rep.Error, "not allowed") {
		t.Errorf("uid %d, %s: %+v", uid, cmd, rep)
	}
}

// TestNothingOutlivesAKilledSupervisor: the kernel ends both processes, other
// users or not. The supervisor is another process here, so that it can be killed.
func TestNothingOutlivesAKilledSupervisor(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	open(t, dir)
	self := program(t)
	source := accounts(t, true)
	cmd := exec.CommandContext(t.Context(), self, dir, source.Passwd, source.Group)
	cmd.Env = append(os.Environ(), "SUPERVISED=supervise")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	client := control.Client{Path: filepath.Join(dir, "run", "control.sock")}
	var rep control.StatusReport
	until(t, "both to run", func() bool {
		return client.Call(t.Context(), control.Request{Cmd: control.Status}, &rep) == nil && running(rep)
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, p := range rep.Processes {
		until(t, p.Name+" to end", func() bool {
			stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/stat")
			_, after, _ := strings.Cut(string(stat), ") ")
			return err != nil || strings.HasPrefix(after, "Z") // it may wait for whoever inherits it
		})
	}
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-limit:
			t.Fatalf("waited in vain for %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
