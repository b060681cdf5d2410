package memory_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"homeagent/agent/plugin"
	"homeagent/memory"
	"homeagent/memory/graph"
)

// replied is plugin.Reply in memory.
type replied struct {
	status int
	kind   string
	writes int
	bytes.Buffer
}

func (r *replied) Status(code int, kind string) {
	if r.status == 0 {
		r.status, r.kind = code, kind
	}
}

func (r *replied) Write(p []byte) (int, error) {
	r.Status(200, "application/json")
	r.writes++
	return r.Buffer.Write(p)
}

// ask calls the endpoint as the door does; the status of a fault comes with its words.
func ask(t testing.TB, m *memory.Memory, method, address, body, lang string) (int, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	out := &replied{}
	err = m.Serve(context.Background(), &plugin.Request{Method: method, Path: u.Path, Query: u.Query(), Body: strings.NewReader(body), Lang: lang}, out)
	var f *plugin.Fault
	switch {
	case errors.As(err, &f):
		return f.Status, f.Title
	case err != nil:
		t.Fatalf("%s %s: an error without words: %v", method, address, err)
	}
	return out.status, out.String()
}

// quietHouse is a house in which nobody speaks and no model is.
type quietHouse struct{}

func (quietHouse) Busy() bool  { return false }
func (quietHouse) Model() bool { return false }
func (quietHouse) InjectInput(context.Context, plugin.Input) (string, error) {
	return "", errors.New("nobody is here")
}

// furnished is a memory with something in every layer that the endpoint shows.
func furnished(t testing.TB, dir string) *memory.Memory {
	t.Helper()
	m := open(t, dir)
	if err := m.Start(quietHouse{}, nil); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for i := range 3 {
		if err := play(m, i); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []plugin.Triple{
		{Subject: "Bob", Relation: "lives in", Object: "Rome"}, {Subject: "Bob", Relation: "lives in", Object: "Oslo"},
		{Subject: "Bob", Relation: "likes", Object: "tea"}, {Subject: "钥匙", Relation: "在", Object: "门垫下面"},
	} {
		if err := m.Commit(ctx, []plugin.Triple{f}, "test"); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestEveryRoute(t *testing.T) {
	dir := t.TempDir()
	m := furnished(t, dir)
	tests := []struct {
		name, method, address, body string
		status                      int
		want                        string // part of the answer; of a fault the English words
		zh                          string // of a fault the Chinese ones
	}{
		{"stats", "GET", "stats", "", 200, `"facts":3,"past":1,`, ""},
		{"stats at the root", "GET", "", "", 200, `"facts":3,`, ""},
		{"facts by words", "GET", "facts?q=where+does+Bob+live", "", 200, `"text":"Bob lives in Oslo"`, ""},
		{"facts in Chinese", "GET", "facts?q=" + url.QueryEscape("钥匙在哪"), "", 200, "门垫下面", ""},
		{"facts of a subject", "GET", "facts?subject=bob&past=1", "", 200, `"status":"past"`, ""},
		{"the newest facts", "GET", "facts?limit=1", "", 200, `{"facts":[{"id":4,`, ""},
		{"search", "GET", "search?q=tea&limit=3", "", 200, `"kind":"fact"`, ""},
		{"pairs", "GET", "pairs", "", 200, `{"pairs":[]}`, ""},
		{"pairs of a state", "GET", "pairs?state=undecided", "", 200, `{"pairs":[]}`, ""},
		{"merges", "GET", "merges", "", 200, `{"merges":[]}`, ""},
		{"context", "GET", "context", "", 200, `"text":"question 2"`, ""},
		{"tools", "GET", "tools", "", 200, `"name":"memory_recall"`, ""},
		{"tidy", "POST", "tidy", "", 200, "Tidied", ""},
		{"export", "GET", "export", "", 200, `{"end":{"lines":`, ""},
		{"a dry run", "POST", "forget", `{"subject":"Bob","relation":"likes","dry":true}`, 200, `{"dry":true,"facts":[{"id":3,`, ""},

		{"no such address", "GET", "nothing", "", 404, "Memory has no such address.", "记忆没有这个地址。"},
		{"an address below another", "GET", "stats/all", "", 404, "no such address", "没有这个地址"},
		{"an address that climbs", "GET", "../state.db", "", 404, "no such address", "没有这个地址"},
		{"another method", "POST", "stats", "", 405, "This address takes GET.", "这个地址要用 GET。"},
		{"another method of a command", "GET", "forget", "", 405, "This address takes POST.", "这个地址要用 POST。"},
		{"a method nobody takes", "DELETE", "facts", "", 405, "takes GET", "要用 GET"},
		{"forget nothing", "POST", "forget", `{}`, 400, "Nothing says what to forget.", "没有说要忘掉什么"},
		{"forget hard alone", "POST", "forget", `{"hard":true}`, 400, "Nothing says what to forget.", "没有说要忘掉什么"},
		{"forget nothing, dry", "POST", "forget", `{"dry":true}`, 400, "Nothing says what to forget.", "没有说要忘掉什么"},
		{"forget what is everywhere", "POST", "forget", `{"query":"a","hard":true}`, 400, "too short", "太短"},
		{"the same, dry", "POST", "forget", `{"query":"a","hard":true,"dry":true}`, 400, "too short", "太短"},
		{"a misspelt word", "POST", "forget", `{"subject":"Bob","dyr":true}`, 400, `unknown field "dyr"`, `unknown field "dyr"`},
		{"no JSON", "POST", "forget", `hello`, 400, "The request does not fit", "请求的内容不合格式"},
		{"no body", "POST", "forget", ``, 400, "The request does not fit (EOF)", "不合格式"},
		{"half a body", "POST", "forget", `{"query":"Bob`, 400, "does not fit", "不合格式"},
		{"two bodies", "POST", "forget", `{"subject":"Bob"}{"subject":"钥匙"}`, 400, "more than one JSON value", "不合格式"},
		{"another type", "POST", "forget", `{"query":7}`, 400, "does not fit", "不合格式"},
		{"a list", "POST", "restore", `[1]`, 400, "does not fit", "不合格式"},
		{"restore nothing", "POST", "restore", `{}`, 400, "numbers of 1 to 200 facts", "1 到 200 个事实的编号"},
		{"no limit", "GET", "facts?q=Bob&limit=0", "", 400, "limit is 1 to 200.", "limit 要在 1 到 200 之间。"},
		{"too much", "GET", "merges?limit=201", "", 400, "limit is 1 to 200.", "limit 要在"},
		{"a limit in words", "GET", "pairs?limit=many", "", 400, "limit is 1 to 200.", "limit 要在"},
		{"past in words", "GET", "facts?past=maybe", "", 400, "past is 1 or 0.", "past 只能是 1 或 0。"},
		{"words and a subject", "GET", "facts?q=x&subject=y", "", 400, "q or subject, not both", "只能给一个"},
		{"search for nothing", "GET", "search?q=+", "", 400, "Nothing says what to find.", "没有说要找什么"},
		{"no such state", "GET", "pairs?state=odd", "", 400, "state is open, merged", "state 只能是"},
		{"no such pair", "POST", "pairs", `{"pair":99,"outcome":"same"}`, 404, "No such pair waits", "没有等待回答的这一对"},
		{"no such merge", "POST", "merges/undo", `{"merge":99}`, 404, "Nothing has that number", "没有这个编号"},
		{"an import that is none", "POST", "import", `hello`, 400, "no whole export", "不是完整的记忆备份"},
		{"an import of nothing", "POST", "import", ``, 400, "no whole export", "不是完整的记忆备份"},
		{"an import that was cut off", "POST", "import", `{"homeagent_memory":{"version":1,"time":"2026-01-01T00:00:00Z"}}` + "\n", 400, "no whole export", "不是完整的"},
		{"a newer import", "POST", "import", `{"homeagent_memory":{"version":9,"time":"2026-01-01T00:00:00Z"}}` + "\n", 400, "A newer version wrote", "更新版本的程序"},
	}
	before, _ := ask(t, m, "GET", "stats", "", "en")
	if before != 200 {
		t.Fatal(before)
	}
	for _, tt := range tests {
		for lang, want := range map[string]string{"en": tt.want, "zh": tt.zh} {
			t.Run(tt.name+" "+lang, func(t *testing.T) {
				if want == "" && tt.name != "tidy" {
					want = tt.want
				}
				status, text := ask(t, m, tt.method, tt.address, tt.body, lang)
				if status != 200 && status != tt.status || status == 0 || !strings.Contains(text, want) || status != tt.status {
					t.Errorf("status %d, %q", status, text)
				}
				// Where files lie is nobody's business.
				if strings.Contains(text, dir) {
					t.Errorf("the answer tells the data folder: %q", text)
				}
				if tt.status == 200 && tt.method+tt.address != "GETexport" && !json.Valid([]byte(text)) {
					t.Errorf("no JSON: %q", text)
				}
			})
		}
	}
	// None of that has changed anything.
	if _, text := ask(t, m, "GET", "stats", "", "en"); !strings.Contains(text, `"facts":3,"past":1,"archived":0,"forgotten":0,`) {
		t.Errorf("afterwards %s", text)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "memory", ".import*")); len(left) > 0 {
		t.Errorf("an import has left %q", left)
	}
}

// TestNotStarted: without the housework the rest works.
func TestNotStarted(t *testing.T) {
	m := open(t, t.TempDir())
	for _, call := range [][2]string{{"tidy", ""}, {"pairs", `{"pair":1,"outcome":"same"}`}, {"merges/undo", `{"merge":1}`}} {
		for lang, want := range map[string]string{"zh": "还没有开始", "en": "has not begun"} {
			if status, text := ask(t, m, "POST", call[0], call[1], lang); status != 503 || !strings.Contains(text, want) {
				t.Errorf("%s: %d %q", call[0], status, text)
			}
		}
	}
	if status, _ := ask(t, m, "GET", "stats", "", "en"); status != 200 {
		t.Error(status)
	}
}

// TestForgetAndRestore forgets what a dry run has shown, and takes it back.
func TestForgetAndRestore(t *testing.T) {
	m := furnished(t, t.TempDir())
	forget := func(body string) memory.ForgetRow {
		t.Helper()
		status, text := ask(t, m, "POST", "forget", body, "en")
		var f memory.ForgetRow
		if err := json.Unmarshal([]byte(text), &f); status != 200 || err != nil {
			t.Fatalf("%d %s %v", status, text, err)
		}
		return f
	}
	dry, wet := forget(`{"subject":"Bob","dry":true}`), forget(`{"subject":"Bob"}`)
	if !dry.Dry || wet.Dry || len(dry.Facts) != 3 || fmt.Sprint(dry.Facts) != fmt.Sprint(wet.Facts) {
		t.Fatalf("dry %+v, in earnest %+v", dry, wet)
	}
	if again := forget(`{"subject":"Bob"}`); len(again.Facts) != 0 {
		t.Errorf("forgotten twice: %+v", again)
	}
	if status, text := ask(t, m, "POST", "restore", fmt.Sprintf(`{"facts":[%d,%d,12345]}`, wet.Facts[0].ID, wet.Facts[1].ID), "en"); status != 200 || strings.Count(text, `"text":"Bob`) != 2 {
		t.Errorf("restored: %d %s", status, text)
	}

	// By words and for good: what was said counts, and goes.
	dry, wet = forget(`{"query":"question 1","hard":true,"dry":true}`), forget(`{"query":"question 1","hard":true}`)
	if dry.Turns != 1 || dry.Events < 1 || dry.Turns != wet.Turns || dry.Events != wet.Events || dry.Documents != wet.Documents || !wet.Hard {
		t.Errorf("dry %+v, in earnest %+v", dry, wet)
	}
	if _, text := ask(t, m, "GET", "context", "", "en"); strings.Contains(text, "question 1") || !strings.Contains(text, "question 2") {
		t.Errorf("the conversation: %s", text)
	}
	if again := forget(`{"query":"question 1","hard":true,"dry":true}`); again.Turns+again.Events+again.Documents != 0 {
		t.Errorf("left: %+v", again)
	}
}

// TestPreviewCountsDocuments: also what was pruned and written down.
func TestPreviewCountsDocuments(t *testing.T) {
	m := furnished(t, t.TempDir())
	ctx := context.Background()
	for i := 3; i < 60; i++ { // more than the context keeps
		if err := play(m, i); err != nil {
			t.Fatal(err)
		}
	}
	commit := func(title, content string) {
		t.Helper()
		args, err := json.Marshal(map[string]string{"title": title, "content": content})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := handler(t, m, "doc_commit")(ctx, call("doc_commit", string(args))); err != nil {
			t.Fatal(err)
		}
	}
	commit("minutes", "we spoke of Question 4 for long")
	commit("recipe", "flour and water")
	if err := m.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"question 4", "ＱＵＥＳＴＩＯＮ 7", "flour", "nobody ever said this"} {
		t.Run(words, func(t *testing.T) {
			c := graph.Criteria{Query: words}
			want, err := m.Preview(ctx, c, true)
			if err != nil {
				t.Fatal(err)
			}
			soft, err := m.Preview(ctx, c, false)
			if err != nil || soft.Turns+soft.Events+soft.Documents != 0 {
				t.Errorf("soft: %+v, %v", soft, err)
			}
			got, err := m.Forget(ctx, c, true)
			if err != nil {
				t.Fatal(err)
			}
			if got.Turns != want.Turns || got.Events != want.Events || got.Documents != want.Documents || len(got.Facts) != len(want.Facts) {
				t.Errorf("foretold %+v, done %+v", want, got)
			}
			if said := strings.HasPrefix(strings.ToLower(words), "question") || words[0] == 0xef; said && (got.Turns == 0 || got.Documents == 0) {
				t.Errorf("nothing was counted: %+v", got)
			}
		})
	}
}

// TestExportAndImportByTheEndpoint, in large pieces and of a known type.
func TestExportAndImportByTheEndpoint(t *testing.T) {
	m := furnished(t, t.TempDir())
	for i := 3; i < 200; i++ {
		if err := play(m, i); err != nil {
			t.Fatal(err)
		}
	}
	out := &replied{}
	if err := m.Serve(context.Background(), &plugin.Request{Method: "GET", Path: "export"}, out); err != nil {
		t.Fatal(err)
	}
	if out.status != 200 || out.kind != "application/x-ndjson" || out.writes > 2+out.Len()>>16 {
		t.Errorf("status %d, %s, %d bytes in %d pieces", out.status, out.kind, out.Len(), out.writes)
	}
	dir := t.TempDir()
	other := open(t, dir)
	for round := range 2 {
		status, text := ask(t, other, "POST", "import", out.String(), "en")
		var got memory.ImportRow
		if err := json.Unmarshal([]byte(text), &got); status != 200 || err != nil {
			t.Fatal(status, text, err)
		}
		if first := got.Facts == 4 && got.Turns == 200 && got.Events > 0; first != (round == 0) || round == 1 && got.Facts+got.Turns+got.Events != 0 {
			t.Errorf("round %d: %+v", round, got)
		}
	}
	// A body that breaks off is no export, and one that fails is a failure.
	if status, text := ask(t, open(t, t.TempDir()), "POST", "import", out.String()[:out.Len()/2], "zh"); status != 400 || !strings.Contains(text, "不是完整的") {
		t.Errorf("half an export: %d %q", status, text)
	}
	body := io.MultiReader(strings.NewReader(out.String()[:100]), iotest.ErrReader(errors.New("gone")))
	var f *plugin.Fault
	if err := other.Serve(context.Background(), &plugin.Request{Method: "POST", Path: "import", Body: body}, &replied{}); !errors.As(err, &f) || f.Status != 500 {
		t.Errorf("a broken body: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "memory")); err != nil {
		t.Error(err)
	} else {
		for _, e := range left {
			if strings.HasPrefix(e.Name(), ".import") {
				t.Errorf("%s was left", e.Name())
			}
		}
	}
}

// TestExportOfAClosedMemory is told in words, for nothing has gone out.
func TestExportOfAClosedMemory(t *testing.T) {
	m, _, err := memory.Open(t.TempDir(), memory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	out := &replied{}
	err = m.Serve(context.Background(), &plugin.Request{Method: "GET", Path: "export", Lang: "en"}, out)
	var f *plugin.Fault
	if !errors.As(err, &f) || f.Status != 500 || out.status != 0 {
		t.Errorf("status %d, %v", out.status, err)
	}
}
