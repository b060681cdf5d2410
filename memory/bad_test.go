package memory_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"homeagent/agent/plugin"
	"homeagent/memory"
)

func args(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestOddTexts go through the tools and are found again, or are refused in words.
func TestOddTexts(t *testing.T) {
	big := strings.Repeat("很长 long ", 90_000)
	rows := []struct{ name, object, refused string }{
		{"1 MB", big, "4096"},
		{"empty", "", ""},
		{"blank", " \t\n", ""},
		{"quotes", `"; DROP TABLE relations; --'`, ""},
		{"emoji", "a 🦄👩‍👩‍👧 unicorn", ""},
		{"NUL", "before\x00after", ""},
		{"right to left", "مفتاح \u202egarage\u202c שלום", ""},
		{"broken UTF-8", "caf\xff\xfe bar", ""},
		{"controls", "a\x01\x02\x1b[31mred", ""},
		{"percent", "100% _ * ? [a-z] \\", ""},
	}
	m := open(t, t.TempDir())
	ctx := t.Context()
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			subject := fmt.Sprint("gizmo", i)
			res, err := handler(t, m, "memory_commit")(ctx, call("memory_commit", args(t, map[string]any{"triples": []plugin.Triple{{Subject: subject, Relation: "says", Object: row.object}}})))
			if row.refused != "" {
				if err == nil || !strings.Contains(err.Error(), row.refused) || len(err.Error()) > 300 {
					t.Fatalf("got %q, %.300v", res.Text, err)
				}
			} else if err != nil {
				t.Fatal(err)
			} else if told, err := handler(t, m, "memory_recall")(ctx, call("memory_recall", args(t, map[string]string{"query": subject}))); err != nil || !strings.Contains(told.Text, subject+" says") {
				t.Fatalf("recalled %q, %v", told.Text, err)
			}
			turn := talk(i, "contraption says "+row.object)
			have(t, m, turn)
			for _, tool := range []string{"memory_recall", "doc_query", "knowledge_search"} {
				if tool == "doc_query" && len(row.object) > 1_000_000 {
					continue // memory_recall asks the same index
				}
				if _, err := handler(t, m, tool)(ctx, call(tool, args(t, map[string]string{"query": row.object}))); err != nil {
					t.Errorf("%s: %.300v", tool, err)
				}
			}
			if _, err := handler(t, m, "doc_commit")(ctx, call("doc_commit", args(t, map[string]string{"title": "about " + row.name, "content": "x " + row.object}))); err != nil {
				t.Errorf("doc_commit: %.300v", err)
			}
			if w := m.Window(); w[len(w)-2].Content != "contraption says "+row.object {
				t.Error("the text has changed")
			}
		})
	}
	settle(t, m)
	if !holds(found(t, m, "contraption unicorn"), "🦄") {
		t.Error("the unicorn is not found")
	}
	m2 := open(t, t.TempDir())
	mustImport(t, m2, export(t, m))
	if d := differ(content(t, m), content(t, m2)); len(d) > 0 {
		t.Errorf("an export does not take it along:\n%.2000s", strings.Join(d, "\n"))
	}
}

// TestQueriesOfSyntax are words and nothing else.
func TestQueriesOfSyntax(t *testing.T) {
	m := open(t, t.TempDir())
	have(t, m, talk(1, "the key is under the mat"))
	settle(t, m)
	for _, q := range []string{`key"`, `"key`, `key*`, `key AND`, `NOT key`, `key NEAR/2 mat`, `text:key`, `(key`, `{key}`, `^key`, `key' OR 1=1; DROP TABLE passages; --`,
		`key + mat - x`, `%key%`, `_key_`, "key\x00", "\xffkey", strings.Repeat("key ", 50_000), strings.Repeat(`("`, 100) + "key"} {
		if got := found(t, m, q); !holds(got, "under the mat") {
			t.Errorf("%.40q finds %q", q, got)
		}
		if _, _, err := m.Recall(t.Context(), q, "en"); err != nil {
			t.Errorf("%.40q: %v", q, err)
		}
	}
}

// TestTheSameFactTwentyTimes is one row, and told once.
func TestTheSameFactTwentyTimes(t *testing.T) {
	m := open(t, t.TempDir())
	ways := []plugin.Triple{{Subject: "Nora", Relation: "likes", Object: "plums"}, {Subject: " nora", Relation: "Likes", Object: "Plums "}, {Subject: "ＮＯＲＡ", Relation: "likes", Object: "plums"}}
	for n := range 20 {
		if err := m.Commit(t.Context(), ways[n%len(ways):n%len(ways)+1], fmt.Sprint("talk", n)); err != nil {
			t.Fatal(err)
		}
		have(t, m, talk(n, "My sister lives in Lisbon."))
	}
	settle(t, m)
	rows := map[string]int{}
	for _, e := range exported(t, m) {
		if g := e.Graph; g != nil && g.Fact != nil {
			rows[g.Fact.Object]++
		}
	}
	if rows["plums"] != 1 || rows["Lisbon"] != 1 {
		t.Errorf("rows %v", rows)
	}
	if got := found(t, m, "where does my sister live"); len(got) > 2 {
		t.Errorf("told %d times: %q", len(got), got)
	}
}

// TestManyAtOnce: a writer, eight readers and a long transaction of somebody
// else's that reads.
func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	a := newAgent(t, dir, answers("ok"), nil, memory.Options{Keep: 6})
	have(t, a.mem, talk(0, "the first remark"))
	settle(t, a.mem)
	for _, name := range []string{"memory/graph.db", "memory/index.db"} {
		db, err := sql.Open("sqlite3", (&url.URL{Scheme: "file", Opaque: filepath.Join(dir, name), RawQuery: "_busy_timeout=5000"}).String())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		var n int
		if err := tx.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil || n == 0 {
			t.Fatal(n, err)
		}
	}
	ctx, done := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if _, err := a.mem.RecallItems(t.Context(), fmt.Sprintf("remark Town%d", i%20), 5); err != nil {
					t.Errorf("reader %d: %v", n, err)
				}
				if _, _, err := a.mem.Recall(t.Context(), "cousin", "en"); err != nil {
					t.Errorf("reader %d: %v", n, err)
				}
			}
		})
	}
	for n := 1; n <= 20; n++ {
		have(t, a.mem, talk(n, fmt.Sprintf("My cousin lives in Town%d.", n)))
		if n%10 == 0 {
			settle(t, a.mem)
			tidied(t, a.mem)
		}
	}
	done()
	wg.Wait()
	if !holds(found(t, a.mem, "Town20"), "Town20") {
		t.Error("the last turn is not found")
	}
}

// TestDamagedFiles: whatever lies in a file's place, the house starts, says what
// was lost where something was, keeps the bad file, and the rest works.
func TestDamagedFiles(t *testing.T) {
	seed := t.TempDir()
	m := open(t, seed)
	for n := range 50 {
		have(t, m, talk(n, fmt.Sprintf("My cousin lives in Town%d.", n)))
	}
	settle(t, m)
	for name, a := range map[string]string{"doc_commit": `{"title":"Pancakes","content":"flour, milk and two eggs"}`, "knowledge_create": `{"name":"boiler","content":"Press reset for five seconds."}`} {
		if _, err := handler(t, m, name)(t.Context(), call(name, a)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	// lost is what cannot be found any more; told is what a notice names.
	files := []struct {
		name, told, lost string
		cache            bool
	}{
		{"memory/graph.db", "graph.db", "", false},
		{"state.db", "state.db", "", false},
		{"memory/index.db", "", "", true},
		{"memory/documents/index.db", "documents' index", "", true},
		{"memory/knowledge.db", "", "", true},
		{"knowledge/boiler/content.md", "", "reset", false},
	}
	harm := []struct {
		name string
		do   func(path string, data []byte) error
	}{
		{"empty", func(p string, _ []byte) error { return os.WriteFile(p, nil, 0o600) }},
		{"truncated", func(p string, d []byte) error {
			n := len(d) / 2
			if strings.HasSuffix(p, "state.db") {
				n = 3 * os.Getpagesize() // most of it is a hole
			}
			return os.WriteFile(p, d[:n], 0o600)
		}},
		{"garbage", func(p string, _ []byte) error {
			return os.WriteFile(p, []byte(strings.Repeat("\xff\x00garbage", 2000)), 0o600)
		}},
		{"newer", func(p string, _ []byte) error {
			if !strings.HasSuffix(p, ".db") || strings.HasSuffix(p, "state.db") {
				return nil // they have no schema
			}
			return version(p, 999, "")
		}},
		{"a folder", func(p string, _ []byte) error {
			if err := os.Remove(p); err != nil {
				return err
			}
			return os.MkdirAll(filepath.Join(p, "inside"), 0o700)
		}},
	}
	for _, f := range files {
		for _, h := range harm {
			t.Run(f.name+" "+h.name, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(seed)); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, f.name)
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := h.do(path, data); err != nil {
					t.Fatal(err)
				}
				now, _ := os.ReadFile(path)
				same := string(now) == string(data)
				m, notices, err := memory.Open(dir, memory.Options{})
				if err != nil {
					t.Fatalf("the house does not start: %v", err)
				}
				defer m.Close()
				var said strings.Builder
				for _, n := range notices {
					said.WriteString(n.Text("en") + "\n")
					if n.Text("zh") == "" || n.Text("zh") == n.Text("en") {
						t.Errorf("notice %+v", n)
					}
					if n.Aside != "" {
						if _, err := os.Lstat(n.Aside); err != nil {
							t.Errorf("not kept aside: %v", err)
						}
					}
				}
				if f.told != "" && !same && !strings.Contains(said.String(), f.told) {
					t.Errorf("said %q", said.String())
				}
				if !f.cache && f.told != "" && !same {
					if bad, err := filepath.Glob(path + ".bad-*"); err != nil || len(bad) == 0 {
						t.Error("the bad file is not kept aside")
					}
				}
				// Everything works, and what other files hold is there.
				have(t, m, talk(500, "The ladder stands beside the glockenspiel"))
				if err := m.Commit(t.Context(), []plugin.Triple{{Subject: "Nora", Relation: "likes", Object: "plums"}}, ""); err != nil {
					t.Fatal(err)
				}
				settle(t, m)
				for query, want := range map[string]string{"ladder": "glockenspiel", "Pancakes flour": "flour", "Town3": "Town3"} {
					if !holds(found(t, m, query), want) {
						t.Errorf("%q is not found", query)
					}
				}
				res, err := handler(t, m, "knowledge_search")(t.Context(), call("knowledge_search", `{"query":"boiler reset"}`))
				if err != nil || strings.Contains(res.Text, "five seconds") != (f.lost == "" || same) && h.name != "truncated" {
					t.Errorf("knowledge says %q, %v", res.Text, err)
				}
				if items, err := m.Plugin().Recall(t.Context(), "Nora", 3); err != nil || len(items) != 1 {
					t.Errorf("a new fact: %+v, %v", items, err)
				}
			})
		}
	}
}
