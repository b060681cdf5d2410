package memory_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
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
	"homeagent/memory"
	"homeagent/memory/journal"
)

// childEnv makes the test binary the program that is killed.
const childEnv = "HOMEAGENT_MEMORY_CHILD"

var (
	seed  = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the kills")
	kills = flag.Int("kills", 12, "how often the program is killed")
	// forgets is how often it is killed while it forgets.
	forgets = flag.Int("forgets", 4, "how often the program is killed while it forgets")
)

// child plays turns and commits facts, saying so on standard output once each
// is durable, until it is killed.
func child(dir string) {
	m, notices, err := memory.Open(dir, memory.Options{})
	if err != nil || len(notices) > 0 {
		fmt.Println("error", err, notices)
		os.Exit(1)
	}
	from, _ := strconv.Atoi(os.Getenv(childEnv + "_FROM"))
	fmt.Println("open")
	for n := from; ; n++ {
		fmt.Println("begin", n)
		if err := play(m, n); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("turn", n)
		if err := m.Commit(context.Background(), []plugin.Triple{{Subject: fmt.Sprintf("thing%d", n), Relation: "is in", Object: fmt.Sprintf("box%d", n)}}, "kill"); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("fact", n)
		if n%7 == 0 {
			if err := m.FlushJournal(); err != nil {
				fmt.Println("error", err)
				os.Exit(1)
			}
		}
	}
}

// TestKilledAgainAndAgain: after each kill -9 everything opens without a
// notice, and every acknowledged turn and fact is there, once.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Logf("seed %d (repeat with -seed)", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 2))
	dir := t.TempDir()
	begun := -1 // the highest turn that was begun
	turns, things := map[int]bool{}, map[int]bool{}
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
	if len(turns) < *kills || len(things) < *kills {
		t.Fatalf("only %d turns and %d facts: the kills come before the work", len(turns), len(things))
	}
}

// newest is the highest number of a set, if it has one.
func newest(set map[int]bool) []int {
	all := slices.Sorted(maps.Keys(set))
	return all[max(0, len(all)-1):]
}

func checkKilled(t *testing.T, where, dir string, begun int, turns map[int]bool, things []int) {
	t.Helper()
	m, notices, err := memory.Open(dir, memory.Options{})
	if err != nil || len(notices) > 0 {
		t.Fatalf("%s: %v, %v", where, notices, err)
	}
	gone, err := m.Pruned()
	if err != nil {
		t.Fatal(err)
	}
	events := append(ids(gone), ids(m.Window())...)
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
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	journaled := journaled(t, dir)
	if want := min(len(journaled), journal.MaxRecent); len(last) != want {
		t.Fatalf("%s: %d turns are recent of %d in the journal", where, len(last), want)
	}
	for list, name := range map[*[]string]string{&events: "the context", &journaled: "the journal"} {
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
