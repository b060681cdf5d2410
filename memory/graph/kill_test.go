package graph_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"homeagent/memory/graph"
)

const (
	// childEnv makes the test binary the program that is killed; its value is
	// the file, and a number behind a space from where it goes on.
	childEnv = "HOMEAGENT_GRAPH_CHILD"
	// killsEnv is how often the program is killed, 8 by default. 300 take
	// about a minute.
	killsEnv = "HOMEAGENT_GRAPH_KILLS"
)

var killSeed = flag.Uint64("killseed", uint64(time.Now().UnixNano()), "seed of the kills")

func TestMain(m *testing.M) {
	if at, from, ok := strings.Cut(os.Getenv(childEnv), " "); ok {
		n, _ := strconv.Atoi(from)
		child(at, n)
		return
	}
	goleak.VerifyTestMain(m)
}

// child commits, confirms, merges, undoes, purges and restores, saying so on
// standard output once each is durable, until it is killed. Round n is about
// things of its own and one hub.
func child(path string, n int) {
	die := func(what string, err error) {
		fmt.Println("error", what, err)
		os.Exit(1)
	}
	g, notice, err := graph.Open(path, graph.Options{})
	if err != nil || notice != nil {
		die("open", fmt.Errorf("%v, %v", notice, err))
	}
	ctx := context.Background()
	find := func(name string) int64 {
		found, err := g.Find(ctx, name, 1)
		if err != nil || len(found) == 0 {
			die("find "+name, err)
		}
		return found[0].ID
	}
	fmt.Println("open")
	for ; ; n++ {
		fmt.Println("begin", n)
		a, b := fmt.Sprintf("aaa%d", n), fmt.Sprintf("bbb%d", n)
		_, err := g.Commit(ctx, facts(a+"/is in/hub", b+"/likes/hub", a+"/likes/hub", b+"/weighs/gold"+strconv.Itoa(n)),
			graph.Origin{Turn: strconv.Itoa(n)})
		if err != nil {
			die("commit", err)
		}
		fmt.Println("told", n)
		id, err := g.Merge(ctx, find(a), find(b), "")
		if err != nil {
			die("merge", err)
		}
		fmt.Println("merged", n)
		if n%3 == 0 {
			if err := g.Undo(ctx, id); err != nil {
				die("undo", err)
			}
			fmt.Println("undone", n)
		}
		if n%5 == 0 {
			if _, err := g.Purge(ctx, graph.Criteria{Object: "gold" + strconv.Itoa(n)}, n%2 == 0); err != nil {
				die("purge", err)
			}
			fmt.Println("purged", n)
		}
	}
}

// TestKilledAgainAndAgain: after each kill -9 the file opens without a notice,
// the index fits the rows, and every acknowledged step of every round has been
// taken, whole and once.
func TestKilledAgainAndAgain(t *testing.T) {
	kills := 8
	if s := os.Getenv(killsEnv); s != "" {
		var err error
		if kills, err = strconv.Atoi(s); err != nil {
			t.Fatalf("%s: %v", killsEnv, err)
		}
	}
	t.Logf("seed %d (repeat with -killseed), %d kills", *killSeed, kills)
	rnd := rand.New(rand.NewPCG(*killSeed, 9))
	path := filepath.Join(t.TempDir(), "graph.db")
	begun := -1
	acked := map[string]map[int]bool{"told": {}, "merged": {}, "undone": {}, "purged": {}}
	for kill := range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", childEnv, path, begun+1))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for left := 1 + rnd.IntN(15); lines.Scan(); left-- {
			what, num, _ := strings.Cut(lines.Text(), " ")
			n, _ := strconv.Atoi(num)
			switch {
			case what == "error":
				t.Errorf("the child: %s", lines.Text())
			case what == "begin":
				begun = n
			case acked[what] != nil:
				acked[what][n] = true
			}
			if left == 0 {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		cmd.Wait() // killed: its error is the wish
		if t.Failed() {
			return
		}
		checkKilled(t, fmt.Sprintf("kill %d", kill), path, begun, acked, kill%10 == 0 || kill == kills-1)
	}
	if len(acked["told"]) < kills || len(acked["undone"]) == 0 || len(acked["purged"]) == 0 {
		t.Fatalf("only %d rounds: the kills come before the work", len(acked["told"]))
	}
}

func checkKilled(t *testing.T, where, path string, begun int, acked map[string]map[int]bool, whole bool) {
	t.Helper()
	g, notice, err := graph.Open(path, graph.Options{})
	if err != nil || notice != nil {
		t.Fatalf("%s: %+v, %v", where, notice, err)
	}
	defer g.Close()
	has := map[string]int{}
	for _, f := range texts(t, g) {
		has[f]++
	}
	for n := range begun + 1 {
		a, b := fmt.Sprintf("aaa%d", n), fmt.Sprintf("bbb%d", n)
		in, la, lb := has[a+"/is in/hub"], has[a+"/likes/hub"], has[b+"/likes/hub"]
		gold := fmt.Sprintf("/weighs/gold%d", n)
		ga, gb := has[a+gold]+has[a+gold+" forgotten"], has[b+gold]+has[b+gold+" forgotten"]
		apart := in == 1 && la == 1 && lb == 1 && gb <= 1 && ga == 0
		joined := in == 1 && la == 1 && lb == 0 && ga <= 1 && gb == 0
		nothing := in+la+lb+ga+gb == 0
		purged := has[a+gold]+has[b+gold] == 0
		bad := ""
		switch {
		case !apart && !joined && !nothing:
			bad = "neither before nor after a step"
		case nothing && acked["told"][n]:
			bad = "told and lost"
		case acked["undone"][n] && !apart:
			bad = "undone and lost"
		case acked["merged"][n] && n%3 != 0 && !joined:
			bad = "merged and lost"
		case acked["purged"][n] && !purged:
			bad = "purged and here"
		case apart && purged && !acked["purged"][n] && n%5 != 0, joined && purged && n%5 != 0:
			bad = "here and lost without a purge"
		}
		if bad != "" {
			t.Fatalf("%s: round %d: %s: in %d, likes %d and %d, gold %d and %d, acknowledged %v %v %v %v",
				where, n, bad, in, la, lb, ga, gb,
				acked["told"][n], acked["merged"][n], acked["undone"][n], acked["purged"][n])
		}
	}
	if whole {
		graph.CheckIndex(t, g)
	}
}
