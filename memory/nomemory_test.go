package memory_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory"
	"homeagent/memory/document"
)

// TestWhatToolsSay: the output of a tool with NoMemory, and what a Cleaner
// takes away, is computed on nowhere and stored everywhere, to the byte.
func TestWhatToolsSay(t *testing.T) {
	const output = "My name is Zebulon.\tquagga7731 <b>\"weather\"</b>  sunny wombat"
	rows := []struct {
		name   string
		change func(*tool.Def)
		hidden []string
		seen   []string
	}{
		{"plain", func(*tool.Def) {}, nil, []string{"quagga7731", "wombat"}},
		{"NoMemory", func(d *tool.Def) { d.NoMemory = true }, []string{"quagga7731", "wombat", "Zebulon"}, nil},
		{"Cleaner", func(d *tool.Def) {
			d.Cleaner = func(s string) string {
				return strings.ReplaceAll(strings.ReplaceAll(s, "quagga7731", ""), "My name is Zebulon.", "")
			}
		}, []string{"quagga7731", "Zebulon"}, []string{"wombat"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			ask := "what is the weather? By the way, my sister lives in Lisbon"
			asked := false
			var a *agent
			a = newAgent(t, t.TempDir(), func(ctx context.Context, req provider.Request) (provider.Response, error) {
				if last := req.Messages[len(req.Messages)-1]; last.Role == provider.User && !asked {
					asked = true
					return uses("look", `{}`, "")(ctx, req)
				}
				return provider.Response{Text: "it is fine"}, nil
			}, answers(""), memory.Options{Keep: 4}, withTool("look", output, row.change))
			turn := a.say(ask)

			// The context and, once flushed, the journal.
			var live string
			for _, msg := range a.mem.Window() {
				if msg.Role == provider.Tool {
					live = msg.Content
				}
			}
			if live != output {
				t.Fatalf("the context has %q", live)
			}
			settle(t, a.mem)
			turns, err := a.mem.Recent(t.Context(), 5, "")
			if err != nil || len(turns) != 1 || turns[0].ID != turn || len(turns[0].Messages) != 4 || turns[0].Messages[2].Content != output {
				t.Fatalf("the journal has %+v, %v", turns, err)
			}
			// The distiller was given the turn, without what is not computed on.
			given := a.dist.requests(facts)
			if len(given) == 0 {
				t.Fatal("the distiller was given nothing")
			}
			var text strings.Builder
			for _, m := range given[0].Messages {
				text.WriteString(m.Content)
			}
			if !strings.Contains(text.String(), "Lisbon") {
				t.Errorf("the turn did not reach the distiller: %q", text.String())
			}
			for _, w := range row.hidden {
				if strings.Contains(text.String(), w) {
					t.Errorf("the distiller was given %q", w)
				}
				if holds(found(t, a.mem, w), w) {
					t.Errorf("%q is found", w)
				}
			}
			for _, w := range row.seen {
				if !holds(found(t, a.mem, w), w) {
					t.Errorf("%q is not found", w)
				}
			}
			// A document, once pruned; what is computed on stays the same there.
			for range 6 {
				a.say("and now something about gardening")
			}
			settle(t, a.mem)
			if got := toolEvent(documented(t, a.dir)); got == nil || got.Text != output || got.NoMemory != (row.name == "NoMemory") {
				t.Fatalf("the document has %+v", got)
			}
			for _, w := range row.hidden {
				if holds(found(t, a.mem, w), w) {
					t.Errorf("%q is found in the document", w)
				}
			}
			for _, w := range row.seen {
				if !holds(found(t, a.mem, w), w) {
					t.Errorf("%q is not found in the document", w)
				}
			}
		})
	}
}

func toolEvent(all map[string]*document.Event) *document.Event {
	for _, e := range all {
		if e.Role == string(provider.Tool) {
			return e
		}
	}
	return nil
}

// documented are the events in the documents of a data folder; none may be in
// two of them.
func documented(t *testing.T, dir string) map[string]*document.Event {
	t.Helper()
	out := map[string]*document.Event{}
	files, err := filepath.Glob(filepath.Join(dir, "memory", "documents", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(dir, "memory", "documents", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, more...) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		d, err := document.Decode(bytes.TrimSpace(data))
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for i := range d.Events {
			if out[d.Events[i].ID] != nil {
				t.Fatalf("event %s is in two documents", d.Events[i].ID)
			}
			out[d.Events[i].ID] = &d.Events[i]
		}
	}
	return out
}

// TestInjectTextNoMemoryLeavesNoTrace: neither what was asked, nor what a tool
// said, nor the answer stands in any file of memory.
func TestInjectTextNoMemoryLeavesNoTrace(t *testing.T) {
	a := newAgent(t, t.TempDir(), uses("look", `{"note":"axolotl4713"}`, "answer axolotl4714"), answers(""), memory.Options{},
		withTool("look", "output axolotl4712", func(*tool.Def) {}))
	id, err := a.mind.InjectTextNoMemory(t.Context(), "console", "console", "question axolotl4711: my name is Axolotl4715")
	if err != nil {
		t.Fatal(err)
	}
	a.over(id)
	if sent := a.con.Sent(); len(sent) != 1 || sent[0].Text != "answer axolotl4714" {
		t.Fatalf("sent %+v", sent)
	}
	settle(t, a.mem)
	if _, err := a.mem.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(a.dist.requests(facts)) != 0 || len(a.mem.Window()) != 0 || len(found(t, a.mem, "axolotl4711")) != 0 {
		t.Error("it has left something in memory")
	}
	if files := holding(t, a.dir, "xolotl47"); len(files) != 0 {
		t.Errorf("written in %q", files)
	}
	if err := a.mem.Close(); err != nil {
		t.Fatal(err)
	}
	if files := append(holding(t, a.dir, "xolotl47"), holding(t, a.dir, id)...); len(files) != 0 {
		t.Errorf("written in %q", files)
	}
}
