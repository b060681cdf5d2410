//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"homeagent/tools/emulator"
	"homeagent/tools/fakellm"
)

// TestHouse boots one box on QEMU's virt and goes through its first day. Its clock
// goes with its work, a processor of 1000 MIPS, so that a busy computer makes it
// slow but never late for its own sound card.
func TestHouse(t *testing.T) {
	disk := card(t, 2<<30)
	m := newModel(t, scripted)
	b := newBox(t, emulator.Config{Board: emulator.Virt, Disk: disk, Watchdog: true, Instructions: 1, CPUs: 1},
		"host_name=kitchenbox", "llm_url="+m.url, "llm_key=e2e-secret-key", "time_zone=Europe/London")
	b.start()
	b.answers()
	t.Run("the page is claimed with the code from the serial console", func(t *testing.T) { b.in(t).firstVisit() })
	if t.Failed() {
		return
	}
	b.claim()
	b.ready()
	b.sshIsUp()
	t.Run("the settings file", func(t *testing.T) { b.in(t).settingsTaken() })
	t.Run("SSH takes keys only", func(t *testing.T) { b.in(t).keysOnly() })
	t.Run("control groups", func(t *testing.T) { b.in(t).cgroup2() })
	t.Run("homectl inside and the page outside agree", func(t *testing.T) { b.in(t).agree(m) })
	t.Run("spoken", func(t *testing.T) { b.in(t).spokenCommand(m) })
	t.Run("data grows once", func(t *testing.T) { b.growth(t) })
	if v := m.Violations(); len(v) > 0 {
		t.Errorf("the language model complains: %q", v)
	}
}

// lampWords is what a recogniser must make of lampCommand; it may take the d of
// "turned" from nothing.
var lampWords = regexp.MustCompile(`(?i)turn(ed)? on\b.*\b(lamp|light)`)

// lampAnswer is what the language model says when the lamp is on.
const lampAnswer = "Okay, the lamp in the living room is switched on now."

// scripted turns the living room lamp on when it is told to, and repeats
// everything else.
func scripted(r fakellm.Request) fakellm.Reply {
	text := r.Last("user")
	switch {
	case lampWords.MatchString(text) && acted(r):
		return fakellm.Reply{Text: lampAnswer}
	case lampWords.MatchString(text):
		return fakellm.Reply{Calls: []fakellm.Call{{ID: "call_" + strconv.Itoa(len(r.Messages)), Name: "virtual_set", Args: `{"name":"living_room_lamp","state":"on"}`}}}
	}
	return fakellm.Reply{Text: "You said: " + text}
}

// acted reports whether a tool has answered since the household spoke last. What
// the mind adds behind its answer is not looked at.
func acted(r fakellm.Request) bool {
	for _, m := range slices.Backward(r.Messages) {
		switch m.Role {
		case "tool":
			return true
		case "user":
			return false
		}
	}
	return false
}

// firstVisit looks at an unclaimed box as a stranger and as the owner.
func (b *box) firstVisit() {
	t := b.t
	code := b.code()
	// The copy for people without a serial cable lies on the setup partition; the
	// machine runs, so it is only read.
	b.eventually(turnWait, "setup-code.txt lies on the setup partition", func() bool {
		text, err := b.disk.ReadFile(t.Context(), b.disk.Layout.Setup, "setup-code.txt")
		return err == nil && strings.Contains(string(text), code)
	})
	r, err := b.http.Get(b.page() + "/")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Errorf("the page: status %d", r.StatusCode)
	}
	if status, _ := b.post("chat", map[string]string{"text": "hello"}, nil, nil); status != http.StatusForbidden {
		t.Errorf("a stranger may talk: status %d", status)
	}
	if status, _ := b.post("claim", map[string]string{"code": "AAAA-AAAA", "password": password}, nil, nil); status != http.StatusForbidden {
		t.Errorf("a wrong code: status %d", status)
	}
}

// settingsTaken looks at what became of homeagent.txt.
func (b *box) settingsTaken() {
	t := b.t
	if got := b.run("hostname"); got != "kitchenbox" {
		t.Errorf("host name %q", got)
	}
	if got := b.run("readlink -f /etc/localtime"); !strings.Contains(got, "Europe/London") {
		t.Errorf("time zone %q", got)
	}
	text := b.run("cat /setup/homeagent.txt")
	for _, secret := range []string{"e2e-secret-key"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q still stands in homeagent.txt", secret)
		}
		if strings.Contains(b.m.Log().String(), secret) {
			t.Errorf("%q is in the serial log", secret)
		}
	}
	for _, want := range []string{"host_name=kitchenbox", "llm_key=\n"} {
		if !strings.Contains(strings.ReplaceAll(text, "\r", "")+"\n", want) {
			t.Errorf("homeagent.txt lacks %q:\n%s", want, text)
		}
	}
	if got := b.say("are you there"); got != "You said: are you there" {
		t.Errorf("the language model of homeagent.txt is not asked: %q", got)
	}
}

// keysOnly tries to get in without the key.
func (b *box) keysOnly() {
	t := b.t
	for _, user := range []string{"root", "homeagent", "pi"} {
		conf := &ssh.ClientConfig{User: user, HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: turnWait, HostKeyAlgorithms: []string{ssh.KeyAlgoED25519}, Auth: []ssh.AuthMethod{
			ssh.Password(""), ssh.Password("raspberry"), ssh.Password("root"),
			ssh.KeyboardInteractive(func(_, _ string, q []string, _ []bool) ([]string, error) { return make([]string, len(q)), nil }),
		}}
		c, err := ssh.Dial("tcp", b.m.Address(22), conf)
		if err == nil {
			c.Close()
			t.Errorf("%s got in without a key", user)
		} else if strings.Contains(err.Error(), "attempted methods") && strings.Contains(err.Error(), "password") {
			t.Errorf("%s was asked for a password: %v", user, err)
		}
	}
	if got := b.run("sed -n 's/^root:\\([^:]*\\):.*/\\1/p' /etc/shadow"); got == "" || !strings.ContainsAny(got[:1], "*!") {
		t.Errorf("root's password field is %q", got)
	}
}

// cgroup2 looks for the controllers that limits need.
func (b *box) cgroup2() {
	got := b.run("mount -t cgroup2 >/dev/null 2>&1; grep cgroup2 /proc/mounts; cat /sys/fs/cgroup/cgroup.controllers")
	for _, want := range []string{"cgroup2", "memory", "pids", "cpu"} {
		if !strings.Contains(got, want) {
			b.t.Errorf("no %s in %q", want, got)
		}
	}
}

// agree asks the same of homectl on the box and of the page outside.
func (b *box) agree(m *model) {
	t := b.t
	type supervisor struct {
		Version   string
		Processes []struct {
			Name string
			PID  int
		}
	}
	var inside, outside struct{ Supervisor supervisor }
	if err := json.Unmarshal([]byte(b.run("homectl --lang en status --json")), &inside); err != nil {
		t.Fatal(err)
	}
	b.get("status", &outside)
	if in, out := fmt.Sprint(inside.Supervisor), fmt.Sprint(outside.Supervisor); in != out || len(inside.Supervisor.Processes) < 2 {
		t.Errorf("status inside %s, outside %s", in, out)
	}
	t.Logf("both say: version %s, %d processes", outside.Supervisor.Version, len(outside.Supervisor.Processes))
	if got := b.run("homectl --lang en say remember the blue umbrella"); !strings.Contains(got, "remember the blue umbrella") {
		t.Errorf("homectl say printed %q", got)
	}
	b.say("and the red one")
	var texts []string
	for _, it := range b.history() {
		texts = append(texts, string(it.Role)+" "+it.Text)
	}
	for _, want := range []string{"user remember the blue umbrella", "agent You said: remember the blue umbrella", "user and the red one"} {
		if !slices.Contains(texts, want) {
			t.Errorf("%q is not in the page's history %q", want, texts)
		}
	}
	if asked := m.asked(); !slices.Contains(asked, "remember the blue umbrella") {
		t.Errorf("the model was asked %q", asked)
	}
	var config struct{ Text string }
	b.get("config", &config)
	if got := b.run("homectl --lang en config show"); strings.TrimSpace(got) != strings.TrimSpace(config.Text) && config.Text != "" {
		t.Errorf("config inside:\n%s\noutside:\n%s", got, config.Text)
	}
}

// growth looks at the data partition, which filled the card at the first boot, and
// at a second boot, which has nothing to grow.
func (b *box) growth(t *testing.T) {
	b = b.in(t)
	size := func() int {
		n, err := strconv.Atoi(b.run("df -Pk /data | awk 'NR==2{print $2}'"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	// Growing runs beside the page.
	b.eventually(turnWait, "the data partition has grown", func() bool { return size() > 1500<<10 })
	first := size()
	t.Logf("on a card of 2 GiB the data partition has %d MiB", first>>10)
	table, err := b.disk.Partitions()
	if err != nil {
		t.Fatal(err)
	}
	data, err := b.disk.Partition(b.disk.Layout.Data)
	if err != nil || data.Offset+data.Bytes < 2<<30-8<<20 {
		t.Errorf("the partition table: %+v, %v", table, err)
	}
	b.powerOff()
	b.start()
	b.answers()
	b.sshIsUp()
	if again := size(); again != first {
		t.Errorf("after a second boot %d KiB instead of %d", again, first)
	}
	after, err := b.disk.Partitions()
	if err != nil || fmt.Sprint(after) != fmt.Sprint(table) {
		t.Errorf("the second boot changed the table from %v to %v, %v", table, after, err)
	}
	if got := b.run("dmesg | grep -i 'ext4.*\\(error\\|recovery\\)' || true"); got != "" {
		t.Errorf("after a proper shutdown: %s", got)
	}
	texts := fmt.Sprint(b.history())
	if !strings.Contains(texts, "blue umbrella") {
		t.Error("the history did not outlive the restart")
	}
}
