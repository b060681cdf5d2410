package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/memory"
	"homeagent/memory/recall"
)

// talk is a turn in which something is told once.
func talk(n int, text string) mind.Turn {
	id := fmt.Sprintf("t%04d", n)
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)
	return mind.Turn{ID: id, Lang: "en", Outcome: mind.Answered, Final: "noted", Started: at, Ended: at,
		Input: plugin.Input{ID: id, Source: "console", Type: plugin.Text, Payload: text, UserID: "Anna"},
		Messages: []provider.Message{
			{ID: id + "/u", Time: at, Role: provider.User, Content: text, Source: "console", User: "Anna"},
			{ID: id + "/a", Time: at, Role: provider.Assistant, Content: fmt.Sprintf("noted, number %d", n)},
		}}
}

// have plays a turn as the mind does.
func have(t testing.TB, m *memory.Memory, turn mind.Turn) {
	t.Helper()
	m.Append(turn.Messages[0])
	if err := m.Prune(t.Context(), turn.Messages[0].Content); err != nil {
		t.Fatal(err)
	}
	if err := m.EndTurn(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
}

// TestThroughTheLayers: of 200 turns every event is in exactly one place, in
// order, under its id, and an old one is found, in an index that is lost too.
func TestThroughTheLayers(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	const turns, secret = 200, "My sister Beatrix lives in Lisbon, behind the lighthouse"
	for n := range turns {
		text := fmt.Sprintf("remark %d about nothing in particular", n)
		if n == 17 {
			text = secret
		}
		have(t, m, talk(n, text))
		if n%50 == 49 {
			settle(t, m)
		}
		if got := len(m.Window()); n > 25 && (got < 30 || got > 45) {
			t.Fatalf("%d events are live after turn %d", got, n)
		}
	}
	settle(t, m)
	checkEvents(t, m, dir, turns)
	checkFound(t, "at first", m)

	lose := []struct {
		name string
		do   func(index string) error
	}{
		{"the index deleted", func(p string) error { return os.Remove(p) }},
		{"the index is garbage", func(p string) error { return os.WriteFile(p, []byte("garbage garbage"), 0o600) }},
		{"the index is empty", func(p string) error { return os.WriteFile(p, nil, 0o600) }},
		{"the index is older", func(p string) error { return version(p, 0, "UPDATE meta SET value = '0' WHERE key = 'token_version'") }},
		{"the index is newer", func(p string) error { return version(p, 99, "") }},
		{"the documents' index deleted", func(p string) error { return os.Remove(filepath.Join(filepath.Dir(p), "documents", "index.db")) }},
		{"the documents' index is garbage", func(p string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(p), "documents", "index.db"), []byte("garbage"), 0o600)
		}},
	}
	for _, l := range lose {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{"-wal", "-shm"} {
			os.Remove(filepath.Join(dir, "memory", "index.db"+end))
		}
		if err := l.do(filepath.Join(dir, "memory", "index.db")); err != nil {
			t.Fatalf("%s: %v", l.name, err)
		}
		var err error
		if m, _, err = memory.Open(dir, memory.Options{}); err != nil {
			t.Fatalf("%s: %v", l.name, err)
		}
		defer m.Close()
		settle(t, m)
		checkFound(t, l.name, m)
		checkEvents(t, m, dir, turns)
	}
}

func checkEvents(t *testing.T, m *memory.Memory, dir string, turns int) {
	t.Helper()
	live := ids(m.Window())
	if gone, err := m.Pruned(); err != nil || len(gone) != 0 {
		t.Fatalf("%d events wait, %v", len(gone), err)
	}
	docs := documented(t, dir)
	if !slices.IsSorted(halves(live)) {
		t.Fatalf("the context is out of order: %q", live)
	}
	for n := range turns {
		for _, end := range []string{"/u", "/a"} {
			id := fmt.Sprintf("t%04d%s", n, end)
			if in := slices.Contains(live, id); in == (docs[id] != nil) {
				t.Fatalf("event %s: live %v, in a document %v", id, in, !in)
			}
			if e := docs[id]; e != nil && (e.Turn != id[:5] || e.Text == "" || e.Speaker != "" != (end == "/u")) {
				t.Fatalf("event %s is %+v", id, e)
			}
		}
	}
	if len(live)+len(docs) != 2*turns {
		t.Fatalf("%d live, %d in documents", len(live), len(docs))
	}
	// Order within the documents is that of the talk.
	for n := 1; n < turns; n++ {
		a, b := docs[fmt.Sprintf("t%04d/u", n-1)], docs[fmt.Sprintf("t%04d/u", n)]
		if a != nil && b != nil && a.Seq >= b.Seq {
			t.Fatalf("turn %d stands behind turn %d", n-1, n)
		}
	}
}

// halves are ids that sort as the talk goes.
func halves(list []string) (out []string) {
	for _, id := range list {
		out = append(out, id[:5]+map[string]string{"/u": "0", "/a": "1"}[id[5:]])
	}
	return out
}

// checkFound finds what was told in turn 17: the event, whose document is known,
// and the fact, each with where it comes from.
func checkFound(t *testing.T, when string, m *memory.Memory) {
	t.Helper()
	items, err := m.RecallItems(t.Context(), "where does Beatrix live?", 10)
	if err != nil {
		t.Fatal(err)
	}
	// The fact of a turn that is told already would say the same again.
	ok := slices.ContainsFunc(items, func(i recall.Item) bool {
		return i.Kind == recall.Event && i.ID == "t0017/u" && slices.Equal(i.From, []string{"t0017/u", "t0017"}) && i.Time.Day() == 2
	})
	if !ok {
		t.Fatalf("%s: %+v", when, items)
	}
	told, err := handler(t, m, "memory_recall")(t.Context(), call("memory_recall", `{"query":"where does Beatrix live?"}`))
	if err != nil || !strings.Contains(told.Text, "- Beatrix lives in Lisbon, behind the lighthouse\t(noted ") || !strings.Contains(told.Text, "t0017/u") {
		t.Fatalf("%s: memory_recall says %q, %v", when, told.Text, err)
	}
	from := 0
	for _, e := range exported(t, m) {
		if g := e.Graph; g != nil && g.Fact != nil && g.Fact.Subject == "Beatrix" && (g.Fact.Turn == "t0017" || slices.Equal(g.Fact.Turns, []string{"t0017"})) {
			from++
		}
	}
	if from != 1 {
		t.Fatalf("%s: %d facts of Beatrix come from the turn", when, from)
	}
	res, err := handler(t, m, "doc_query")(t.Context(), call("doc_query", `{"query":"Beatrix lighthouse Lisbon"}`))
	if err != nil || !strings.Contains(res.Text, "behind the lighthouse\t(2026-03-02, document c20260302-") {
		t.Fatalf("%s: doc_query says %q, %v", when, res.Text, err)
	}
}
