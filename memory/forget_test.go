package memory_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/memory"
	"homeagent/memory/graph"
)

// secretive fills every layer with a word: the live conversation, pruned events,
// documents, the journal's outbox and files, facts, pages, the index.
func secretive(t testing.TB, a *memory.Memory) {
	t.Helper()
	ctx := t.Context()
	for n := range 80 {
		text := fmt.Sprintf("remark %d about nothing in particular", n)
		if n%9 == 0 {
			text = fmt.Sprintf("My sister lives in Xylophone4711, house %d", n)
		}
		have(t, a, talk(n, text))
		if n == 60 {
			settle(t, a)
		}
	}
	use := func(name, args string) {
		if _, err := handler(t, a, name)(ctx, call(name, args)); err != nil {
			t.Fatal(err)
		}
	}
	use("doc_commit", `{"title":"About xylophone4711","content":"how to get to XYLOPHONE4711"}`)
	use("memory_commit", `{"triples":[{"subject":"xylophone4711","relation":"is","object":"a town"},{"subject":"Nora","relation":"likes","object":"plums"},
		{"subject":"Nora","relation":"stays at","object":"hotel-xylophone4711-north"}]}`)
}

const secretWord = "lophone4711" // no word of its own: it stands within others

// gone checks that nothing holds the word, and that the rest is there.
func gone(t *testing.T, m *memory.Memory, dir string) {
	t.Helper()
	for _, l := range content(t, m) {
		if strings.Contains(strings.ToLower(l), secretWord) {
			t.Errorf("left: %.300s", l)
		}
	}
	for _, q := range []string{"xylophone4711", "where does my sister live?", "About xylophone4711"} {
		for _, text := range found(t, m, q) {
			if strings.Contains(strings.ToLower(text), secretWord) {
				t.Errorf("found: %q", text)
			}
		}
	}
	if !holds(found(t, m, "what does Nora like"), "plums") || !holds(found(t, m, "remark 31"), "remark 31") {
		t.Error("other things went too")
	}
	for _, word := range []string{secretWord, strings.ToUpper(secretWord)} {
		if files := holding(t, dir, word); len(files) > 0 {
			t.Errorf("%q is written in %q", word, files)
		}
	}
}

func TestForgetHard(t *testing.T) {
	a := newAgent(t, t.TempDir(), answers("ok"), nil, memory.Options{})
	secretive(t, a.mem)
	tidied(t, a.mem)                                              // pages, and facts of all turns but the newest
	have(t, a.mem, talk(90, "My brother lives in Xylophone4711")) // not distilled yet
	files := holding(t, a.dir, secretWord)
	for _, must := range []string{"state.db", "memory/raw/", "memory/documents/"} {
		if !holds(files, must) {
			t.Errorf("the test proves nothing: the word is not in %s but in %q", must, files)
		}
	}
	f, err := a.mem.Forget(t.Context(), graph.Criteria{Query: secretWord}, true)
	if err != nil {
		t.Fatal(err)
	}
	if f.Turns != 10 || f.Events == 0 || f.Documents == 0 || len(f.Facts) < 2 {
		t.Errorf("forgotten: %d turns, %d events, %d documents, %d facts", f.Turns, f.Events, f.Documents, len(f.Facts))
	}
	gone(t, a.mem, a.dir)
	// Nothing of it comes back.
	settle(t, a.mem)
	tidied(t, a.mem)
	gone(t, a.mem, a.dir)
	if f, err := a.mem.Forget(t.Context(), graph.Criteria{Query: secretWord}, true); err != nil || f.Turns+f.Events+f.Documents+len(f.Facts) != 0 {
		t.Errorf("a second time %+v, %v", f, err)
	}
	if err := a.mem.Close(); err != nil {
		t.Fatal(err)
	}
	m := open(t, a.dir)
	gone(t, m, a.dir)
	have(t, m, talk(91, "and life goes on"))
}

func TestForgetSoftAndRestore(t *testing.T) {
	m := open(t, t.TempDir())
	ctx := t.Context()
	have(t, m, talk(1, "My sister lives in Lisbon"))
	settle(t, m)
	before := content(t, m)
	f, err := m.Forget(ctx, graph.Criteria{Query: "sister lives in Lisbon"}, false)
	if err != nil || len(f.Facts) != 1 || f.Turns+f.Events+f.Documents != 0 {
		t.Fatalf("forgotten %+v, %v", f, err)
	}
	if items, err := m.Plugin().Recall(ctx, "sister Lisbon", 5); err != nil || len(items) != 0 {
		t.Fatalf("still recalled: %+v, %v", items, err)
	}
	get(t, m, "POST", "restore", fmt.Sprintf(`{"facts":[%d]}`, f.Facts[0].ID), nil)
	if items, err := m.Plugin().Recall(ctx, "sister Lisbon", 5); err != nil || len(items) != 1 {
		t.Fatalf("not restored: %+v, %v", items, err)
	}
	if d := differ(before, content(t, m)); len(d) > 0 {
		t.Errorf("not as before:\n%s", strings.Join(d, "\n"))
	}
	if _, err := m.Forget(ctx, graph.Criteria{Query: "a"}, true); !errors.Is(err, memory.ErrShort) {
		t.Errorf("one letter: %v", err)
	}
	if _, err := m.Forget(ctx, graph.Criteria{}, true); !errors.Is(err, graph.ErrNoCriteria) {
		t.Errorf("nothing: %v", err)
	}
	if d := differ(before, content(t, m)); len(d) > 0 {
		t.Errorf("a refusal has changed:\n%s", strings.Join(d, "\n"))
	}
}

// TestForgetWhileDistilling: the model answers with what was forgotten in
// between; the fact does not come.
func TestForgetWhileDistilling(t *testing.T) {
	reached, release := make(chan struct{}, 8), make(chan struct{})
	asked := 0 // one request at a time
	a := newAgent(t, t.TempDir(), answers("ok"), func(ctx context.Context, _ provider.Request) (provider.Response, error) {
		reached <- struct{}{}
		select {
		case <-release: // late, and as if the end of ctx had not been seen
		case <-ctx.Done():
		}
		if asked++; asked > 1 {
			return provider.Response{Text: `{"facts":[]}`}, nil
		}
		return provider.Response{Text: `{"facts":[{"turn":1,"subject":"my sister","relation":"lives in","object":"Xylophone4711"}]}`}, nil
	}, memory.Options{})
	a.say("My sister lives in Xylophone4711")
	if err := a.mem.Commit(t.Context(), []plugin.Triple{{Subject: "Nora", Relation: "likes", Object: "plums"}}, ""); err != nil {
		t.Fatal(err)
	}
	have(t, a.mem, talk(31, "remark 31"))
	done := make(chan error, 1)
	go func() { done <- a.mem.Settle(context.Background()) }()
	<-reached
	if _, err := a.mem.Forget(t.Context(), graph.Criteria{Query: secretWord}, true); err != nil {
		t.Fatal(err)
	}
	close(release)
	<-done // interrupted: its error is the wish
	settle(t, a.mem)
	gone(t, a.mem, a.dir)
}

// forgetter is the child that forgets until it is killed.
func forgetter(dir string) {
	m, _, err := memory.Open(dir, memory.Options{})
	if err == nil {
		fmt.Println("open")
		_, err = m.Forget(context.Background(), graph.Criteria{Query: secretWord}, true)
	}
	fmt.Println("done", err)
	select {}
}

// TestForgetIsKilled: at whatever step, all opens, and forgetting again makes
// the word go everywhere.
func TestForgetIsKilled(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	secretive(t, m)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for n := range *forgets {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+dir, childEnv+"_FORGETS=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "done") {
				break
			}
			// The kill falls a little later each time; no more is claimed of it.
			go func() {
				for range n * 20 {
					if len(holding(t, dir, secretWord)) == 0 {
						break
					}
				}
				cmd.Process.Kill()
			}()
		}
		cmd.Process.Kill()
		cmd.Wait() // killed: its error is the wish
		m, notices, err := memory.Open(dir, memory.Options{})
		if err != nil || len(notices) > 0 {
			t.Fatalf("kill %d: %v, %v", n, notices, err)
		}
		if n < *forgets-1 {
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		defer m.Close()
		if _, err := m.Forget(t.Context(), graph.Criteria{Query: secretWord}, true); err != nil {
			t.Fatal(err)
		}
		settle(t, m)
		gone(t, m, dir)
	}
}
