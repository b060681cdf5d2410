package search_test

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
	"sync"
	"testing"
	"time"

	"homeagent/memory/search"
)

// childEnv makes the test binary the program that is killed.
const childEnv = "HOMEAGENT_SEARCH_CHILD"

var (
	seed  = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the kills")
	kills = flag.Int("kills", 6, "how often the program is killed")
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		if err := child(path); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child indexes, replaces and removes until it is killed.
func child(path string) error {
	x, notice, err := search.Open(path, search.Options{})
	if err != nil || notice != nil {
		return fmt.Errorf("%v, %+v", err, notice)
	}
	ctx := context.Background()
	last, _, err := x.Last(ctx, "journal")
	if err != nil {
		return err
	}
	for n := last + 1; ; n++ {
		if err := x.Put(ctx, event(fmt.Sprint("p", n), n, fmt.Sprintf("thing%d is in the box", n))); err != nil {
			return err
		}
		fmt.Println("put", n)
		if n%5 == 0 {
			if err := x.Put(ctx, event(fmt.Sprint("p", n-1), n-1, fmt.Sprintf("thing%d is on the shelf", n-1))); err != nil {
				return err
			}
			if err := x.Remove(ctx, fmt.Sprint("p", n-3)); err != nil {
				return err
			}
		}
	}
}

// TestKilledAgainAndAgain: after each kill the file opens without a notice and
// all that was put is found, each once.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Logf("seed %d (repeat with -seed)", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 3))
	path := filepath.Join(t.TempDir(), "index.db")
	done := 0
	unsure := map[int]bool{} // its removal may have been what the kill prevented
	for range *kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for left := 1 + rnd.IntN(30); lines.Scan(); left-- {
			what, num, _ := strings.Cut(lines.Text(), " ")
			if what == "error" {
				t.Fatal(lines.Text())
			}
			done, _ = strconv.Atoi(num)
			if left == 0 {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		cmd.Wait() // killed: its error is the wish
		unsure[done-3], unsure[done-2] = true, true
		x, notice, err := search.Open(path, search.Options{})
		if err != nil || notice != nil {
			t.Fatal(err, notice)
		}
		for n := max(1, done-12); n <= done; n++ {
			removed := n%5 == 2 && n+3 < done
			got := find(t, x, search.Query{Text: fmt.Sprintf("thing%d", n), Limit: 5, Without: search.Neighbours | search.Feedback})
			found := len(got) > 0 && got[0] == fmt.Sprint("p", n)
			if removed && found && !unsure[n] || !removed && n+3 < done && !found {
				t.Fatalf("of %d: %d is found: %v", done, n, got)
			}
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if done < *kills {
		t.Fatalf("only %d were put: the kills come before the work", done)
	}
}

// TestAWriterAndReaders: searches beside writing find what was there before.
func TestAWriterAndReaders(t *testing.T) {
	x := open(t)
	put(t, x, event("first", 0, "the lighthouse stands on the cliff"))
	ctx := context.Background()
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 8 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				hits, err := x.Search(ctx, search.Query{Text: "lighthouse cliff"})
				if err != nil || len(hits) == 0 || hits[0].ID != "first" {
					t.Errorf("%v, %+v", err, hits)
					return
				}
			}
		})
	}
	for n := range 60 {
		id := fmt.Sprint("p", n%20)
		put(t, x, event(id, int64(n+1), fmt.Sprintf("message number %d about a lamp", n)))
		if n%7 == 0 {
			if err := x.Remove(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	readers.Wait()
}
