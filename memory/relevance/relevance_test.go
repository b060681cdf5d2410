package relevance_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory/relevance"
	"homeagent/memory/state"
)

func user(id, text string) provider.Message {
	return provider.Message{ID: id, Role: provider.User, Content: text}
}

// calls is an assistant message asking for n calls, and results their answers.
func calls(id string, n int) provider.Message {
	m := provider.Message{ID: id, Role: provider.Assistant}
	for i := range n {
		m.Calls = append(m.Calls, tool.Call{ID: fmt.Sprintf("%s.%d", id, i), Name: "look", Args: json.RawMessage(`{}`)})
	}
	return m
}

func result(call tool.Call, text string) provider.Message {
	return provider.Message{ID: "r" + call.ID, Role: provider.Tool, CallID: call.ID, Name: call.Name, Content: text}
}

func ids(msgs []provider.Message) []string {
	var out []string
	for _, m := range msgs {
		out = append(out, m.ID)
	}
	return out
}

// chat appends n short events about nothing.
func chat(c *relevance.Context, from, n int) {
	for i := range n {
		c.Append(user(fmt.Sprintf("chat%d", from+i), fmt.Sprintf("weather talk number %d", from+i)))
	}
}

func TestPruneKeepsWhatMatters(t *testing.T) {
	tests := []struct {
		name, event, query string
		opts               relevance.Options
		mark               func(*provider.Message)
		want               bool
	}{
		{name: "asked about, Chinese", event: "备用钥匙放在门垫下面", query: "钥匙在哪", want: true},
		{name: "asked about, English", event: "the spare keys are under the mat", query: "where is the key?", want: true},
		{name: "not asked about", event: "备用钥匙放在门垫下面", query: "明天天气怎么样", want: false},
		{name: "no query", event: "the spare keys are under the mat", query: "", want: false},
		{name: "message with NoMemory", event: "the spare keys are under the mat", query: "where is the key?",
			mark: func(m *provider.Message) { m.NoMemory = true }, want: false},
		{name: "tool with NoMemory", event: "the spare keys are under the mat", query: "where is the key?",
			mark: func(m *provider.Message) { m.Role, m.Name = provider.Tool, "look" },
			opts: relevance.Options{NoMemory: func(n string) bool { return n == "look" }}, want: false},
		{name: "cleaner leaves the matter", event: "<<key>>", query: "where is the key?",
			mark: func(m *provider.Message) { m.Role, m.Name = provider.Tool, "look" },
			opts: relevance.Options{Cleaner: func(string) func(string) string {
				return func(s string) string { return strings.Trim(s, "<>") }
			}}, want: true},
		{name: "cleaner takes all", event: "the spare keys are under the mat", query: "where is the key?",
			mark: func(m *provider.Message) { m.Role, m.Name = provider.Tool, "look" },
			opts: relevance.Options{Cleaner: func(string) func(string) string { return func(string) string { return "" } }}, want: false},
		{name: "cleaner of a tool leaves the user's words alone", event: "the spare keys are under the mat", query: "where is the key?",
			opts: relevance.Options{Cleaner: func(string) func(string) string { return func(string) string { return "" } }}, want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := relevance.New(tt.opts)
			m := user("it", tt.event)
			if tt.mark != nil {
				tt.mark(&m)
			}
			c.Append(m)
			chat(c, 0, 44)
			before := c.Window()
			if n := c.Prune(tt.query); n != 15 {
				t.Fatalf("%d went", n)
			}
			after := c.Window()
			if got := slices.Contains(ids(after), "it"); got != tt.want {
				t.Fatalf("kept: %v, want %v", got, tt.want)
			}
			for _, m := range after {
				i := slices.Index(ids(before), m.ID)
				if i < 0 || !reflect.DeepEqual(m, before[i]) {
					t.Fatalf("event %s was altered: %+v", m.ID, m)
				}
			}
		})
	}
}

func TestPruneBounds(t *testing.T) {
	c := relevance.New(relevance.Options{})
	chat(c, 0, 44)
	if n := c.Prune("x"); n != 0 || c.Len() != 44 {
		t.Fatalf("pruned %d of 44", n)
	}
	chat(c, 44, 1)
	if n := c.Prune("x"); n != 15 || c.Len() != 30 || c.Moved() != 15 {
		t.Fatalf("pruned %d of 45, %d left, %d moved", n, c.Len(), c.Moved())
	}
	chat(c, 0, 1) // chat0 has just been pruned: a turn that is taken up again adds it once more
	if c.Len() != 30 {
		t.Fatal("a pruned event came back")
	}
	c.Append(provider.Message{Content: "no id"}, provider.Message{Content: "no id"})
	if c.Len() != 32 {
		t.Fatalf("%d events", c.Len())
	}
	t.Run("a unit larger than all stays where it is the newest", func(t *testing.T) {
		c := relevance.New(relevance.Options{})
		chat(c, 0, 10)
		a := calls("big", 40)
		c.Append(a)
		for _, call := range a.Calls {
			c.Append(result(call, "ok"))
		}
		c.Prune("weather")
		if got := c.Window(); len(got) != 41 || got[0].ID != "big" {
			t.Fatalf("%d events, first %s", len(got), got[0].ID)
		}
	})
	t.Run("a text of 1 MB", func(t *testing.T) {
		c := relevance.New(relevance.Options{})
		c.Append(user("big", strings.Repeat("钥匙 key \x00\xff", 100_000)))
		chat(c, 0, 44)
		c.Prune("钥匙")
		if got := c.Window(); got[0].ID != "big" || len(got[0].Content) != 1_300_000 {
			t.Fatalf("first is %s, %d bytes", got[0].ID, len(got[0].Content))
		}
	})
}

func open(t testing.TB) *state.DB {
	t.Helper()
	d, _, err := state.Open(filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func save(t testing.TB, d *state.DB, c *relevance.Context) {
	t.Helper()
	var done func()
	if err := d.Update(func(tx *bolt.Tx) (err error) { done, err = c.SaveTx(tx); return err }); err != nil {
		t.Fatal(err)
	}
	done()
}

func load(t testing.TB, d *state.DB) (c *relevance.Context, damaged int) {
	t.Helper()
	if err := d.View(func(tx *bolt.Tx) (err error) { c, damaged, err = relevance.Load(tx, relevance.Options{}); return err }); err != nil {
		t.Fatal(err)
	}
	return c, damaged
}

func pruned(t testing.TB, d *state.DB) []provider.Message {
	t.Helper()
	var out []provider.Message
	if err := d.View(func(tx *bolt.Tx) error {
		return relevance.Pruned(tx, func(m provider.Message) bool { out = append(out, m); return true })
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSaveKeepsEveryField(t *testing.T) {
	d := open(t)
	c, _ := load(t, d)
	m := calls("a", 2)
	m.Reasoning, m.Content = "because", "text \u2028 <&> 钥匙 🐶"
	m.Media = []provider.Media{{MIME: "image/png", Name: "x", Data: []byte{0, 1, 255}}}
	c.Append(m, result(m.Calls[0], "NUL \x00"))
	save(t, d, c)
	again, _ := load(t, d)
	if got, want := again.Window(), c.Window(); !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v\nwant %+v", got, want)
	}
}

func TestAFailedSaveIsRepeated(t *testing.T) {
	d := open(t)
	c, _ := load(t, d)
	chat(c, 0, 45)
	save(t, d, c)
	c.Prune("")
	chat(c, 45, 3)
	err := d.Update(func(tx *bolt.Tx) error {
		if _, err := c.SaveTx(tx); err != nil {
			return err
		}
		return fmt.Errorf("the disk is full")
	})
	if err == nil {
		t.Fatal("no error")
	}
	save(t, d, c)
	again, _ := load(t, d)
	if !slices.Equal(ids(again.Window()), ids(c.Window())) || len(pruned(t, d)) != 15 || again.Moved() != 15 {
		t.Fatalf("live %d, pruned %d, moved %d", again.Len(), len(pruned(t, d)), again.Moved())
	}
}

func TestDamagedEntriesAreSetAside(t *testing.T) {
	d := open(t)
	c, _ := load(t, d)
	chat(c, 0, 3)
	save(t, d, c)
	if err := d.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("context"))
		k, _ := b.Cursor().Last()
		if err := b.Put(k, []byte(`{"id":`)); err != nil {
			return err
		}
		return b.Put([]byte("odd key"), []byte(`{}`))
	}); err != nil {
		t.Fatal(err)
	}
	c, damaged := load(t, d)
	if damaged != 2 || c.Len() != 2 {
		t.Fatalf("%d damaged, %d live", damaged, c.Len())
	}
	if err := d.Update(relevance.SetDamagedAside); err != nil {
		t.Fatal(err)
	}
	if c, damaged = load(t, d); damaged != 0 || c.Len() != 2 {
		t.Fatalf("after setting aside: %d damaged, %d live", damaged, c.Len())
	}
}
