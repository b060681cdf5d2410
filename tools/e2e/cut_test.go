//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"homeagent/drivers/web"
	"homeagent/tools/emulator"
	"homeagent/tools/fakellm"
)

// TestPowerCutInATurn pulls the plug while the language model is silent: what was
// acknowledged before is there, and the interrupted turn is answered after the
// restart, once.
func TestPowerCutInATurn(t *testing.T) {
	disk := card(t, 0)
	m := newModel(t, scripted)
	b := newBox(t, emulator.Config{Board: emulator.Virt, Disk: disk}, "llm_url="+m.url)
	b.start()
	b.answers()
	b.claim()
	b.ready()
	for i := range 3 {
		if want := fmt.Sprintf("turn number %d", i); b.say(want) != "You said: "+want {
			t.Errorf("the model did not answer %q", want)
		}
	}
	m.SetScript(func(fakellm.Request) fakellm.Reply { return fakellm.Reply{Hang: true} })
	asked := len(m.Requests())
	id := b.accept("tell me of the sea")
	b.eventually(turnWait, "the model is asked", func() bool { return len(m.Requests()) > asked })
	b.m.Kill()
	t.Log("QEMU was killed while the language model was silent")
	m.SetScript(scripted)
	b.start()
	b.answers()
	var items []web.Item
	b.eventually(bootWait, "the interrupted turn is answered", func() bool {
		var got struct{ Items []web.Item }
		if b.tryGet("chat/history?limit=200", &got) != nil {
			return false
		}
		items = got.Items
		return count(items, "agent", "You said: tell me of the sea") > 0
	})
	for i := range 3 {
		text := fmt.Sprintf("turn number %d", i)
		if user, agent := count(items, "user", text), count(items, "agent", "You said: "+text); user != 1 || agent != 1 {
			t.Errorf("%q stands %d times in the history, its answer %d times", text, user, agent)
		}
	}
	b.ready() // whatever comes behind it has come now
	items = b.history()
	if user, agent := count(items, "user", "tell me of the sea"), count(items, "agent", "You said: tell me of the sea"); user != 1 || agent != 1 {
		t.Errorf("the interrupted turn %s stands %d times in the history, its answer %d times", id, user, agent)
	}
	if s, err := b.status(); err != nil || strings.Contains(fmt.Sprint(s.Supervisor.Notices), "aside") {
		t.Errorf("after the cut: %q, %v", s.Supervisor.Notices, err)
	}
}

func count(items []web.Item, role, text string) (n int) {
	for _, it := range items {
		if string(it.Role) == role && it.Text == text {
			n++
		}
	}
	return n
}
