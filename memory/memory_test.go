package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory"
	"homeagent/memory/graph"
	"homeagent/memory/journal"
	"homeagent/memory/state"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if os.Getenv(childEnv+"_FORGETS") != "" {
			forgetter(dir)
		}
		child(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, dir string) *memory.Memory {
	t.Helper()
	m, notices, err := memory.Open(dir, memory.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if len(notices) > 0 {
		t.Fatalf("notices %v", notices)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// turn is the n-th turn: a question and its answer.
func turn(n int) mind.Turn {
	id := fmt.Sprintf("t%04d", n)
	return mind.Turn{ID: id, Lang: "en", Outcome: mind.Answered, Final: "answer",
		Input: plugin.Input{ID: id, Source: "console", Type: plugin.Text, Payload: fmt.Sprintf("question %d", n)},
		Messages: []provider.Message{
			{ID: id + "/u", Role: provider.User, Content: fmt.Sprintf("question %d", n)},
			{ID: id + "/a", Role: provider.Assistant, Content: "answer"},
		}}
}

// play runs a turn as the mind does.
func play(m *memory.Memory, n int) error {
	ctx := context.Background()
	t := turn(n)
	m.Append(t.Messages[0])
	if err := m.Prune(ctx, t.Messages[0].Content); err != nil {
		return err
	}
	if _, _, err := m.Recall(ctx, t.Messages[0].Content, "en"); err != nil {
		return err
	}
	return m.EndTurn(ctx, t)
}

func ids(msgs []provider.Message) (out []string) {
	for _, m := range msgs {
		out = append(out, m.ID)
	}
	return out
}

// journaled reads the ids of the turns in the files of a data folder.
func journaled(t testing.TB, dir string) (out []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "memory", "raw", "raw_*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			l, err := journal.Decode([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, l.ID)
		}
	}
	return out
}

func TestATurnCostsTwoSyncs(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	ctx := context.Background()
	if err := m.Commit(ctx, []plugin.Triple{{Subject: "question 7", Relation: "is", Object: "answered"}}, "test"); err != nil {
		t.Fatal(err)
	}
	const n = 100 // more than two prunes
	syncs, commits := m.Syncs(), m.Commits()
	for i := range n {
		if err := play(m, i); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.Syncs() - syncs; got != 2*n || m.Commits()-commits != n {
		t.Fatalf("%d syncs, %d transactions for %d turns", got, m.Commits()-commits, n)
	}
	if got := len(m.Window()); got >= 45 {
		t.Fatalf("%d events live", got)
	}
	before := ids(m.Window())
	if err := m.EndTurn(ctx, turn(n-1)); err != nil {
		t.Fatal(err)
	}
	if m.Commits()-commits != n || !slices.Equal(ids(m.Window()), before) {
		t.Fatal("a turn was closed twice")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir)
	if !slices.Equal(ids(again.Window()), before) {
		t.Fatalf("the context has become %q, was %q", ids(again.Window()), before)
	}
	if err := again.EndTurn(ctx, turn(n-1)); err != nil {
		t.Fatal(err)
	}
	if again.Commits() != 0 {
		t.Fatal("a turn was closed twice, after a restart")
	}
	if got := journaled(t, dir); len(got) != n || !slices.IsSorted(got) {
		t.Fatalf("journal %q", got)
	}
}

func TestATurnWithoutMemoryLeavesNoTrace(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	secret := turn(1)
	secret.Input.NoMemory = true
	secret.Messages[0].Content = "xylophone4711"
	if err := m.EndTurn(context.Background(), secret); err != nil {
		t.Fatal(err)
	}
	ctx := plugin.WithInput(context.Background(), secret.Input)
	if _, err := handler(t, m, "memory_commit")(ctx, call("memory_commit", `{"triples":[{"subject":"xylophone4711","relation":"is","object":"secret"}]}`)); err == nil {
		t.Fatal("a turn without memory committed a fact")
	}
	if len(m.Window()) != 0 || m.Commits() != 0 || m.Waiting() != 0 {
		t.Fatal("something was kept")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(data), "xylophone4711") {
			t.Errorf("%s holds it", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRecallLine(t *testing.T) {
	m := open(t, t.TempDir())
	ctx := context.Background()
	if line, items, err := m.Recall(ctx, "钥匙在哪", "zh"); line != "" || items != nil || err != nil {
		t.Fatalf("of nothing: %q, %v, %v", line, items, err)
	}
	err := m.Commit(ctx, []plugin.Triple{
		{Subject: "钥匙", Relation: "在", Object: "门垫下面"}, {Subject: "钥匙", Relation: "属于", Object: "小明"}, {Subject: "我", Relation: "配了", Object: "两把钥匙"},
		{Subject: "the key", Relation: "is under", Object: "the mat"},
	}, "test")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, query, lang, line, first string
	}{
		{"Chinese", "钥匙在哪", "zh", "【记忆索引】关联 5 个实体，高频 钥匙、门垫下面、小明，细节用 memory_recall", "钥匙在门垫下面"},
		{"English", "where is the key", "en", "[Memory index] 2 related entities, most frequent: the key, the mat; details by memory_recall", "the key is under the mat"},
		{"English about Chinese", "钥匙", "en", "[Memory index] 5 related entities, most frequent: 钥匙, 门垫下面, 小明; details by memory_recall", ""},
		{"nothing known", "明天下雨吗", "zh", "", ""},
		{"no words", "???", "en", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line, items, err := m.Recall(ctx, tt.query, tt.lang)
			if err != nil || line != tt.line {
				t.Fatalf("line %q, want %q, %v", line, tt.line, err)
			}
			if (line == "") != (len(items) == 0) || tt.first != "" && items[0].Text != tt.first {
				t.Fatalf("items %+v", items)
			}
			if tt.first == "" || items[0].Score <= 0 || !strings.HasPrefix(items[0].ID, "fact:") {
				if tt.first != "" {
					t.Fatalf("item %+v", items[0])
				}
			}
		})
	}
	items, err := m.Plugin().Recall(ctx, "钥匙", 2)
	if err != nil || len(items) != 2 {
		t.Fatalf("a plugin's recall: %+v, %v", items, err)
	}
	if items, err := m.Plugin().Recall(ctx, "钥匙", 0); err != nil || len(items) != 0 {
		t.Fatalf("of none: %+v, %v", items, err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := m.Recall(done, "钥匙", "zh"); !errors.Is(err, context.Canceled) {
		t.Fatalf("after its end: %v", err)
	}
}

// tools is a ToolInfo.
type tools struct{ silent []string }

func (tools) ToolDefCleaner(name string) func(string) string {
	if name != "noisy" {
		return nil
	}
	return func(s string) string { return strings.ReplaceAll(s, "key", "") }
}
func (x tools) NoMemoryToolNames() []string { return x.silent }

func TestToolsDecideWhatIsComputedOn(t *testing.T) {
	for _, name := range []string{"plain", "noisy", "silent"} {
		t.Run(name, func(t *testing.T) {
			m := open(t, t.TempDir())
			m.UseTools(tools{silent: []string{"silent"}})
			m.Append(provider.Message{ID: "a", Role: provider.Assistant, Calls: []tool.Call{{ID: "c", Name: name}}},
				provider.Message{ID: "r", Role: provider.Tool, CallID: "c", Name: name, Content: "the key is under the mat"})
			for i := range 50 {
				m.Append(provider.Message{ID: fmt.Sprint(i), Role: provider.User, Content: "weather"})
			}
			if err := m.Prune(context.Background(), "key"); err != nil {
				t.Fatal(err)
			}
			if got := slices.Contains(ids(m.Window()), "r"); got != (name == "plain") {
				t.Fatalf("kept: %v", got)
			}
		})
	}
}

// TestTheJournalIsWrittenWhenIdle: half a minute after the last turn, by the
// fake clock of synctest.
func TestTheJournalIsWrittenWhenIdle(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		m, _, err := memory.Open(dir, memory.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for i := range 3 {
			if err := play(m, i); err != nil {
				t.Fatal(err)
			}
			<-time.After(29 * time.Second) // of the fake clock
			synctest.Wait()
			if got := m.Waiting(); got != i+1 {
				t.Fatalf("%d wait after turn %d", got, i)
			}
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if got := journaled(t, dir); m.Waiting() != 0 || len(got) != 3 {
			t.Fatalf("%d wait, journal %q", m.Waiting(), got)
		}
	})
}

// TestOpenSetsAsideWhatIsNoFile: a folder or a pipe in a store's place, as a
// broken copy leaves it, must not keep the agent from starting.
func TestOpenSetsAsideWhatIsNoFile(t *testing.T) {
	folder := func(path string) error { return os.MkdirAll(filepath.Join(path, "inside"), 0o700) }
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	tests := []struct {
		name, file string
		put        func(path string) error
		zh, en     string
	}{
		{"state, folder", "state.db", folder, "state.db 已损坏", "state.db was damaged"},
		{"state, pipe", "state.db", pipe, "state.db 已损坏", "state.db was damaged"},
		{"graph, folder", "memory/graph.db", folder, "graph.db 已损坏", "graph.db was damaged"},
		{"graph, pipe", "memory/graph.db", pipe, "graph.db 已损坏", "graph.db was damaged"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, tt.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tt.put(path); err != nil {
				t.Fatal(err)
			}
			m, notices, err := memory.Open(dir, memory.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if len(notices) != 1 || !strings.Contains(notices[0].Text("zh"), tt.zh) || !strings.Contains(notices[0].Text("en"), tt.en) {
				t.Fatalf("notices %v", notices)
			}
			if info, err := os.Lstat(notices[0].Aside); err != nil || info.Mode().IsRegular() {
				t.Errorf("kept aside: %v, %v", info, err)
			}
			if err := play(m, 1); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestOpenSaysWhatWasDamaged(t *testing.T) {
	tests := []struct {
		name, file string
		data       []byte
		zh, en     string
		cause      error
	}{
		{"state, garbage", "state.db", []byte("garbage"), "state.db 已损坏", "state.db was damaged", state.ErrDamaged},
		{"state, empty", "state.db", nil, "state.db 已损坏", "state.db was damaged", state.ErrDamaged},
		{"graph, garbage", "memory/graph.db", []byte("garbage"), "graph.db 已损坏", "graph.db was damaged", graph.ErrDamaged},
		{"graph, empty", "memory/graph.db", nil, "graph.db 已损坏", "graph.db was damaged", graph.ErrDamaged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			m := open(t, dir)
			for i := range 3 {
				if err := play(m, i); err != nil {
					t.Fatal(err)
				}
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, tt.file)
			if err := os.WriteFile(path, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			m, notices, err := memory.Open(dir, memory.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if len(notices) != 1 {
				t.Fatalf("notices %v", notices)
			}
			n := notices[0]
			if !strings.Contains(n.Text("zh"), tt.zh) || !strings.Contains(n.Text("en"), tt.en) || !errors.Is(n.Err, tt.cause) || !strings.Contains(n.String(), filepath.Base(n.Aside)) {
				t.Fatalf("notice %+v", n)
			}
			if kept, err := os.ReadFile(n.Aside); err != nil || string(kept) != string(tt.data) {
				t.Fatalf("kept %q, %v", kept, err)
			}
			if err := play(m, 10); err != nil {
				t.Fatal(err)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			if got := journaled(t, dir); !slices.Equal(got, []string{"t0000", "t0001", "t0002", "t0010"}) {
				t.Fatalf("journal %q", got)
			}
		})
	}
	t.Run("two at once", func(t *testing.T) {
		dir := t.TempDir()
		open(t, dir)
		_, _, err := memory.Open(dir, memory.Options{})
		if !errors.Is(err, state.ErrLocked) {
			t.Fatalf("got %v", err)
		}
		if !strings.Contains(memory.Explain(err, "zh"), "另一个") || !strings.Contains(memory.Explain(err, "en"), "Another") {
			t.Fatalf("said %q", memory.Explain(err, "en"))
		}
	})
	t.Run("a file in the place of the folder", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "memory"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := memory.Open(dir, memory.Options{}); err == nil {
			t.Fatal("opened")
		}
	})
}

func call(name, args string) tool.Call {
	return tool.Call{ID: "1", Name: name, Args: json.RawMessage(args)}
}

func handler(t testing.TB, m *memory.Memory, name string) tool.Handler {
	t.Helper()
	for _, r := range m.Tools() {
		if r.Def.Name == name {
			return r.Handler
		}
	}
	t.Fatalf("no tool %s", name)
	return nil
}
