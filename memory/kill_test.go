package memory_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"homeagent/agent/plugin"
	"homeagent/agent/tool"
	"homeagent/memory"
	"homeagent/memory/document"
	"homeagent/memory/journal"
)

// childEnv makes the test binary the program that is killed.
const childEnv = "HOMEAGENT_MEMORY_CHILD"

var (
	seed  = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the kills")
	kills = flag.Int("kills", 8, "how often the program is killed")
	// forgets is how often it is killed while it forgets.
	forgets = flag.Int("forgets", 3, "how often the program is killed while it forgets")
)

// quiet is a house in which nothing waits and no model is.
type quiet struct{}

func (quiet) Busy() bool  { return false }
func (quiet) Model() bool { return false }
func (quiet) InjectInput(context.Context, plugin.Input) (string, error) {
	return "", errors.New("no model")
}

// childKeeps is how the child opens memory: it prunes at each turn, and distils
// and tidies all the time.
func childKeeps() memory.Options {
	return memory.Options{Keep: 6, DistillInterval: 20 * time.Millisecond, Batch: 5, TidyInterval: 30 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

// child plays turns, commits facts and documents, saying so on standard output
// once each is durable, until it is killed. Turns are distilled, events moved,
// documents indexed and pages written beside that.
func child(dir string) {
	fail := func(what ...any) {
		fmt.Println(append([]any{"error"}, what...)...)
		os.Exit(1)
	}
	m, notices, err := memory.Open(dir, childKeeps())
	if err == nil && len(notices) == 0 {
		err = m.Start(quiet{}, nil)
	}
	if err != nil || len(notices) > 0 {
		fail(err, notices)
	}
	from, _ := strconv.Atoi(os.Getenv(childEnv + "_FROM"))
	ctx := context.Background()
	var commit tool.Handler
	for _, r := range m.Tools() {
		if r.Def.Name == "doc_commit" {
			commit = r.Handler
		}
	}
	fmt.Println("open")
	for n := from; ; n++ {
		fmt.Println("begin", n)
		if err := playKilled(m, n); err != nil {
			fail(err)
		}
		fmt.Println("turn", n)
		if err := m.Commit(ctx, []plugin.Triple{{Subject: fmt.Sprintf("thing%d", n), Relation: "is in", Object: fmt.Sprintf("box%d", n)}}, "kill"); err != nil {
			fail(err)
		}
		fmt.Println("fact", n)
		if n%3 == 0 {
			if _, err := commit(ctx, call("doc_commit", fmt.Sprintf(`{"title":"paper%d","content":"of paper%d"}`, n, n))); err != nil {
				fail(err)
			}
			fmt.Println("paper", n)
		}
		if n%4 == 0 {
			if err := m.Settle(ctx); err != nil {
				fail(err)
			}
			fmt.Println("settled", n)
		}
		if n%10 == 9 {
			if r, err := m.Tidy(ctx); err != nil || len(r.Failed()) > 0 {
				fail(r, err)
			}
			fmt.Println("tidied", n)
		}
	}
}

// playKilled is a turn with a fact in it.
func playKilled(m *memory.Memory, n int) error {
	ctx := context.Background()
	t := talk(n, fmt.Sprintf("My cousin lives in Town%d.", n))
	m.Append(t.Messages[0])
	if err := m.Prune(ctx, t.Messages[0].Content); err != nil {
		return err
	}
	return m.EndTurn(ctx, t)
}

// TestKilledAgainAndAgain: after each kill -9 everything opens without a
// notice, and every acknowledged turn and fact is there, once.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Logf("seed %d (repeat with -seed)", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 2))
	dir := t.TempDir()
	begun := -1 // the highest turn that was begun
	turns, things, papers := map[int]bool{}, map[int]bool{}, map[int]bool{}
	for kill := range *kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+dir, fmt.Sprintf("%s_FROM=%d", childEnv, begun+1))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The kill falls somewhere behind a line of the child's.
		lines := bufio.NewScanner(out)
		for left := 1 + rnd.IntN(40); lines.Scan(); left-- {
			what, num, _ := strings.Cut(lines.Text(), " ")
			n, _ := strconv.Atoi(num)
			switch what {
			case "begin":
				begun = n
			case "turn":
				turns[n] = true
			case "fact":
				things[n] = true
			case "paper":
				papers[n] = true
			case "error":
				t.Fatalf("the child: %s", lines.Text())
			}
			if left == 0 {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		cmd.Wait() // killed: its error is the wish
		// Looking for every fact after every kill would take longer than the
		// kills; a few do, and all of them after the last.
		some := slices.Sorted(maps.Keys(things))
		if kill < *kills-1 {
			rnd.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
			some = append(some[:min(len(some), 10)], newest(things)...)
		}
		checkKilled(t, fmt.Sprintf("kill %d", kill), dir, begun, turns, some)
	}
	checkLast(t, dir, turns, papers)
	t.Logf("%d kills, %d turns, %d facts, %d documents", *kills, len(turns), len(things), len(papers))
	if len(turns) < *kills || len(things) < *kills {
		t.Fatalf("only %d turns and %d facts: the kills come before the work", len(turns), len(things))
	}
}

// checkLast looks at what all kills have left: each turn's fact is there, heard
// once, and found by its event; each document is there once.
func checkLast(t *testing.T, dir string, turns, papers map[int]bool) {
	t.Helper()
	m := open(t, dir)
	if err := m.Start(quiet{}, nil); err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	tidied(t, m)
	heard, titles := map[string]int{}, map[string]int{}
	for _, e := range exported(t, m) {
		if g := e.Graph; g != nil && g.Fact != nil && strings.HasPrefix(g.Fact.Object, "Town") {
			heard[g.Fact.Object] += g.Fact.Heard
		}
		if e.Document != nil && e.Document.Origin == document.Commit {
			titles[e.Document.Title]++
		}
	}
	for n := range turns {
		if town := fmt.Sprint("Town", n); heard[town] != 1 {
			t.Errorf("the fact of turn %d was heard %d times", n, heard[town])
		}
		if n%5 == 0 && !holds(found(t, m, fmt.Sprintf("Town%d", n)), fmt.Sprintf("Town%d.", n)) {
			t.Errorf("turn %d is not found", n)
		}
	}
	for n := range papers {
		if title := fmt.Sprint("paper", n); titles[title] != 1 || !holds(found(t, m, title), "of "+title) {
			t.Errorf("document %s is there %d times, found %q", title, titles[title], found(t, m, title))
		}
	}
}

// newest is the highest number of a set, if it has one.
func newest(set map[int]bool) []int {
	all := slices.Sorted(maps.Keys(set))
	return all[max(0, len(all)-1):]
}

func checkKilled(t *testing.T, where, dir string, begun int, turns map[int]bool, things []int) {
	t.Helper()
	m, notices, err := memory.Open(dir, childKeeps())
	if err != nil || len(notices) > 0 {
		t.Fatalf("%s: %v, %v", where, notices, err)
	}
	gone, err := m.Pruned()
	if err != nil {
		t.Fatal(err)
	}
	events := append(ids(gone), ids(m.Window())...)
	for id := range documented(t, dir) {
		// A kill between the two leaves an event in both until it is moved again.
		if !slices.Contains(ids(gone), id) {
			events = append(events, id)
		}
	}
	for _, n := range things {
		items, err := m.Plugin().Recall(context.Background(), fmt.Sprintf("thing%d", n), 3)
		if err != nil || len(items) == 0 || items[0].Text != fmt.Sprintf("thing%d is in box%d", n, n) {
			t.Fatalf("%s: fact %d: %+v, %v", where, n, items, err)
		}
	}
	recent := map[string]bool{}
	last, err := m.Recent(context.Background(), journal.MaxRecent, "")
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	for _, tn := range last {
		if recent[tn.ID] {
			t.Fatalf("%s: turn %s is recent twice", where, tn.ID)
		}
		recent[tn.ID] = true
	}
	// A kill between a document and the removal here is finished by a round.
	if err := m.Settle(context.Background()); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	live := ids(m.Window())
	for id := range documented(t, dir) {
		if slices.Contains(live, id) {
			t.Fatalf("%s: event %s is live and in a document", where, id)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	journaled := journaled(t, dir)
	if want := min(len(journaled), journal.MaxRecent); len(last) != want {
		t.Fatalf("%s: %d turns are recent of %d in the journal", where, len(last), want)
	}
	for list, name := range map[*[]string]string{&events: "the layers", &journaled: "the journal"} {
		sorted := slices.Sorted(slices.Values(*list))
		if len(slices.Compact(sorted)) != len(*list) {
			t.Fatalf("%s: %s has something twice: %q", where, name, *list)
		}
	}
	for n := 0; n <= begun; n++ {
		id := fmt.Sprintf("t%04d", n)
		// A turn is in both or in neither; an acknowledged one is in both.
		inContext := slices.Contains(events, id+"/u") && slices.Contains(events, id+"/a")
		inJournal := slices.Contains(journaled, id)
		if inContext != inJournal || turns[n] && !inContext {
			t.Fatalf("%s: turn %d: acknowledged %v, in the context %v, in the journal %v", where, n, turns[n], inContext, inJournal)
		}
	}
}
