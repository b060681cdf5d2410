package memory_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory"
	"homeagent/memory/graph"
	"homeagent/memory/tidy"
)

// counts are the rows of every table and the files of a data folder.
func counts(t *testing.T, dir string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, name := range []string{"memory/graph.db", "memory/index.db", "memory/documents/index.db", "memory/knowledge.db"} {
		u := url.URL{Scheme: "file", Opaque: filepath.Join(dir, name), RawQuery: "mode=ro&_busy_timeout=5000"}
		db, err := sql.Open("sqlite3", u.String())
		if err != nil {
			t.Fatal(err)
		}
		var tables []string
		rows, err := db.Query("SELECT name FROM sqlite_schema WHERE type = 'table'")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var table string
			if err := rows.Scan(&table); err != nil {
				t.Fatal(err)
			}
			tables = append(tables, table)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		rows.Close()
		for _, table := range tables {
			var n int
			if err := db.QueryRow(`SELECT count(*) FROM "` + table + `"`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			out[name+" "+table] = n
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, "-shm") && !strings.HasSuffix(path, "-wal") {
			out["files"]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tidied does a round in which nothing fails.
func tidied(t *testing.T, m *memory.Memory) tidy.Report {
	t.Helper()
	r, err := m.Tidy(t.Context())
	if err != nil || len(r.Failed()) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	return r
}

// judge answers every question about a pair by memory_pair, and else says ok.
func judge(outcome string) think {
	return func(_ context.Context, req provider.Request) (provider.Response, error) {
		last := req.Messages[len(req.Messages)-1]
		var pair int
		if req.Source != tidy.Source || last.Role != provider.User {
			return provider.Response{Text: "ok"}, nil
		}
		if _, err := fmt.Sscanf(last.Content, "[pair %d]", &pair); err != nil {
			return provider.Response{}, err
		}
		args, err := json.Marshal(map[string]any{"pair": pair, "outcome": outcome, "reason": "the facts say so"})
		return provider.Response{Calls: []tool.Call{{Name: "memory_pair", Args: args}}}, err
	}
}

// alike are facts of two who may be one.
func alike(t *testing.T, m *memory.Memory) {
	t.Helper()
	err := m.Commit(t.Context(), []plugin.Triple{
		{Subject: "Robert Smith", Relation: "works at", Object: "the bakery"}, {Subject: "Robert Smith", Relation: "likes", Object: "tea"},
		{Subject: "Robert J. Smith", Relation: "likes", Object: "tea"}, {Subject: "Robert J. Smith", Relation: "plays", Object: "chess"},
	}, "test")
	if err != nil {
		t.Fatal(err)
	}
}

// TestAHundredTidies: without anything new they write nothing and ask nobody.
func TestAHundredTidies(t *testing.T) {
	a := newAgent(t, t.TempDir(), judge("undecided"), answers(""), memory.Options{})
	for n := range 50 {
		have(t, a.mem, talk(n, fmt.Sprintf("remark %d: my cousin lives in Town%d", n, n%5)))
	}
	alike(t, a.mem)
	settle(t, a.mem)
	first := tidied(t, a.mem)
	if s := first.Sum(); s.Nominated == 0 || s.Asked == 0 || s.Documents == 0 {
		t.Fatalf("the first round found nothing to do: %+v", s)
	}
	a.b.WaitEvent("the answer about the pair", func(e event.Event) bool { return e.State == "turn_end" })
	waitAsked(t, a, first.Sum().Asked)
	tidied(t, a.mem) // takes in what the answers have changed
	settle(t, a.mem)
	asked := len(a.llm.requests(inner))
	rows, syncs, all := counts(t, a.dir), a.mem.Syncs(), len(a.dist.requests(facts))
	for n := range 100 {
		if s := tidied(t, a.mem).Sum(); s.Facts+s.Documents+s.Merged+s.Nominated+s.Asked != 0 {
			t.Fatalf("round %d did %+v", n, s)
		}
	}
	now := counts(t, a.dir)
	for name, n := range now {
		if rows[name] != n {
			t.Errorf("%s: %d, was %d", name, n, rows[name])
		}
	}
	if len(now) != len(rows) || a.mem.Syncs() != syncs || len(a.llm.requests(inner)) != asked || len(a.dist.requests(facts)) != all {
		t.Errorf("%d syncs, %d questions, %d requests for facts", a.mem.Syncs()-syncs, len(a.llm.requests(inner))-asked, len(a.dist.requests(facts))-all)
	}
}

// waitAsked waits until n turns of the housework have ended.
func waitAsked(t *testing.T, a *agent, n int) {
	t.Helper()
	ended := map[string]bool{}
	a.b.WaitEvent(fmt.Sprintf("the end of %d turns of housework", n), func(e event.Event) bool {
		if e.State == "turn_end" {
			ended[e.Input] = true
		}
		return len(ended) >= n
	})
}

// TestLookAlikes: asked once, merged by the model's call, undone by a person.
func TestLookAlikes(t *testing.T) {
	merge := func(_ context.Context, req provider.Request) (provider.Response, error) {
		if last := req.Messages[len(req.Messages)-1]; req.Source == tidy.Source && last.Role == provider.User {
			return provider.Response{Calls: []tool.Call{{Name: "memory_merge", Args: json.RawMessage(`{"keep":"Robert Smith","drop":"Robert J. Smith"}`)}}}, nil
		}
		return provider.Response{Text: "done"}, nil
	}
	rows := []struct {
		name           string
		think          think
		merges, people int
		left           graph.PairState // of the pair
	}{
		{"same, by memory_pair", judge("same"), 1, 1, "merged"},
		{"same, by memory_merge", merge, 1, 1, "merged"},
		{"different", judge("different"), 0, 2, graph.PairDifferent},
		{"undecided", judge("undecided"), 0, 2, graph.PairUndecided},
		{"talk without a call", answers("They might be different, but I am not sure"), 0, 2, graph.PairUndecided},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			a := newAgent(t, t.TempDir(), row.think, answers(""), memory.Options{})
			alike(t, a.mem)
			r := tidied(t, a.mem)
			if r.Sum().Asked != 1 {
				t.Fatalf("asked %+v", r.Sum())
			}
			waitAsked(t, a, 1)
			for range 3 {
				if s := tidied(t, a.mem).Sum(); s.Asked != 0 {
					t.Fatalf("asked again: %+v", s)
				}
			}
			var pairs struct {
				Pairs []struct {
					State graph.PairState `json:"state"`
				} `json:"pairs"`
			}
			var merges struct {
				Merges []struct {
					ID     int64 `json:"id"`
					Undone bool  `json:"undone"`
				} `json:"merges"`
			}
			get(t, a.mem, "GET", "pairs", "", &pairs)
			get(t, a.mem, "GET", "merges", "", &merges)
			if got := pairs.Pairs; len(got) != 1 || got[0].State != row.left {
				t.Errorf("pairs %+v", got)
			}
			if len(merges.Merges) != row.merges || people(t, a.mem) != row.people {
				t.Fatalf("merges %+v, %d people", merges, people(t, a.mem))
			}
			if sent := a.con.Sent(); len(sent) != 0 {
				t.Errorf("sent %+v", sent)
			}
			if row.merges == 0 {
				return
			}
			get(t, a.mem, "POST", "merges/undo", fmt.Sprintf(`{"merge":%d}`, merges.Merges[0].ID), nil)
			if people(t, a.mem) != 2 {
				t.Fatal("the merge is not undone")
			}
			if s := tidied(t, a.mem).Sum(); s.Asked+s.Merged != 0 {
				t.Errorf("what a person has parted is put together again: %+v", s)
			}
		})
	}
}

// get calls the endpoint and reads its answer.
func get(t *testing.T, m *memory.Memory, method, path, body string, into any) {
	t.Helper()
	status, text := ask(t, m, method, path, body, "en")
	if status >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

// people is how many are called Smith.
func people(t *testing.T, m *memory.Memory) (n int) {
	t.Helper()
	for _, e := range exported(t, m) {
		if e.Graph != nil && e.Graph.Entity != nil && strings.HasSuffix(e.Graph.Entity.Name, "Smith") {
			n++
		}
	}
	return n
}

// TestPairsWaitWithoutAModel: they are listed, and asked about when there is one.
func TestPairsWaitWithoutAModel(t *testing.T) {
	dir := t.TempDir()
	a := newAgent(t, dir, judge("different"), nil, memory.Options{})
	alike(t, a.mem)
	if s := tidied(t, a.mem).Sum(); s.Asked != 0 || s.Waiting != 1 || s.Nominated != 1 {
		t.Fatalf("offline: %+v", s)
	}
	if len(a.llm.requests(inner)) != 0 {
		t.Fatal("asked without a model")
	}
	a.dist = &model{do: answers("")} // the house has one now
	if s := tidied(t, a.mem).Sum(); s.Asked != 1 || s.Waiting != 0 {
		t.Fatalf("online: %+v", s)
	}
	waitAsked(t, a, 1)
}

// TestUsersAreAnsweredMeanwhile: the distiller's model hangs within a tidying,
// the model hangs over a pair; a user is answered each time.
func TestUsersAreAnsweredMeanwhile(t *testing.T) {
	distils, pairs := make(chan struct{}, 1), make(chan struct{}, 1)
	release := make(chan struct{})
	hang := func(reached chan struct{}) think {
		return func(ctx context.Context, _ provider.Request) (provider.Response, error) {
			select {
			case reached <- struct{}{}:
			default:
			}
			select {
			case <-ctx.Done():
				return provider.Response{}, ctx.Err()
			case <-release:
				return provider.Response{Text: "undecided"}, nil
			}
		}
	}
	over := hang(pairs)
	a := newAgent(t, t.TempDir(), func(ctx context.Context, req provider.Request) (provider.Response, error) {
		if inner(req) {
			return over(ctx, req)
		}
		return provider.Response{Text: "here I am"}, nil
	}, hang(distils), memory.Options{})
	a.say("My aunt lives in Bergen.")
	alike(t, a.mem)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() {
		_, err := a.mem.Tidy(ctx)
		done <- err
	}()
	<-distils // the tidying waits for the distiller's model now
	a.say("are you there?")
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if sent := a.con.Sent(); len(sent) != 2 || sent[1].Text != "here I am" {
		t.Fatalf("sent %+v", sent)
	}
}

// TestUsersBeforePairs: a model that thinks about a pair for ever holds no user up.
func TestUsersBeforePairs(t *testing.T) {
	began := make(chan struct{}, 64)
	a := newAgent(t, t.TempDir(), func(ctx context.Context, req provider.Request) (provider.Response, error) {
		if !inner(req) {
			return provider.Response{Text: "here I am"}, nil
		}
		began <- struct{}{}
		<-ctx.Done()
		return provider.Response{}, ctx.Err()
	}, answers(""), memory.Options{})
	alike(t, a.mem)
	if s := tidied(t, a.mem).Sum(); s.Asked != 1 {
		t.Fatalf("%+v", s)
	}
	<-began
	a.say("are you there?")
	<-began // and the question is taken up again
	if sent := a.con.Sent(); len(sent) != 1 || sent[0].Text != "here I am" {
		t.Fatalf("sent %+v", sent)
	}
	if s := tidied(t, a.mem).Sum(); s.Asked != 0 {
		t.Errorf("asked a second time while the first waits: %+v", s)
	}
}

// TestTheGraphIsLost: new facts get their pages, whatever marks were kept.
func TestTheGraphIsLost(t *testing.T) {
	dir := t.TempDir()
	a := newAgent(t, dir, answers("ok"), nil, memory.Options{Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }})
	for n := range 30 {
		if err := a.mem.Commit(t.Context(), []plugin.Triple{{Subject: fmt.Sprint("thing", n), Relation: "is in", Object: fmt.Sprint("box", n)}}, ""); err != nil {
			t.Fatal(err)
		}
	}
	tidied(t, a.mem)
	if err := a.mem.Close(); err != nil {
		t.Fatal(err)
	}
	if err := version(filepath.Join(dir, "memory", "graph.db"), 999, ""); err != nil {
		t.Fatal(err)
	}
	m, notices, err := memory.Open(dir, memory.Options{})
	if err != nil || len(notices) != 1 {
		t.Fatal(notices, err)
	}
	defer m.Close()
	if err := m.Start(a, nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Commit(t.Context(), []plugin.Triple{{Subject: "Ophelia", Relation: "likes", Object: "gherkins"}}, ""); err != nil {
		t.Fatal(err)
	}
	if s := tidied(t, m).Sum(); s.Documents == 0 {
		t.Fatalf("no page is written: %+v", s)
	}
}
