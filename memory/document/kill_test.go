package document_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"homeagent/memory/document"
)

// childEnv makes the test binary the program that is killed.
const childEnv = "HOMEAGENT_DOCUMENT_CHILD"

var (
	seed  = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the kills")
	kills = flag.Int("kills", 8, "how often the program is killed")
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := child(dir); err != nil {
			fmt.Println("error", err)
		}
		os.Exit(1)
	}
	flag.Parse()
	os.Exit(m.Run())
}

// child moves events and rewrites pages, saying so once each is durable, until
// it is killed. It begins with the move before the last, as a house does that
// does not know whether it was done.
func child(dir string) error {
	ctx := context.Background()
	s, notices, err := document.Open(dir, document.Options{})
	if err != nil || len(notices) > 0 {
		return fmt.Errorf("%v %v", err, notices)
	}
	from, err := strconv.Atoi(os.Getenv(childEnv + "_FROM"))
	if err != nil {
		return err
	}
	for n := max(0, from-2); ; n++ {
		fmt.Println("begin", n)
		if _, err := s.PutEvents(ctx, events("voice", n*3, 3)); err != nil {
			return err
		}
		fmt.Println("moved", n)
		if _, err := s.ForEntity(ctx, int64(n%5+1), "page", fmt.Sprintf("version %d", n)); err != nil {
			return err
		}
		if _, err := s.Get(ctx, document.EntityID(int64(n%5+1))); err != nil {
			return err
		}
		fmt.Println("page", n)
		if n%7 == 0 {
			if err := s.Flush(ctx); err != nil {
				return err
			}
		}
	}
}

// TestKilledAgainAndAgain: after each kill -9 the store opens without a notice,
// and every acknowledged event is there, once.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Logf("seed %d (repeat with -seed)", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 3))
	dir := t.TempDir()
	begun, moved, page := -1, -1, -1
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
		lines := bufio.NewScanner(out)
		for left := 1 + rnd.IntN(30); lines.Scan(); left-- {
			what, num, _ := strings.Cut(lines.Text(), " ")
			n, _ := strconv.Atoi(num)
			switch what {
			case "begin":
				begun = max(begun, n)
			case "moved":
				moved = max(moved, n)
			case "page":
				page = max(page, n)
			default:
				t.Fatalf("the child: %s", lines.Text())
			}
			if left == 0 {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		cmd.Wait() // killed: its error is the wish
		s := openAt(t, dir, document.Options{})
		ids := eventIDs(all(t, s))
		slices.Sort(ids)
		if n := len(ids); len(slices.Compact(ids)) != n {
			t.Fatalf("kill %d: an event is there twice", kill)
		}
		for _, e := range events("voice", 0, 3*(moved+1)) {
			if _, ok := slices.BinarySearch(ids, e.ID); !ok {
				t.Fatalf("kill %d: %s is lost", kill, e.ID)
			}
		}
		if page >= 0 {
			d, err := s.Peek(context.Background(), document.EntityID(int64(page%5+1)))
			var n int
			if _, serr := fmt.Sscanf(d.Text, "version %d", &n); err != nil || serr != nil || n < page {
				t.Fatalf("kill %d: page %d says %q, %v", kill, page, d.Text, err)
			}
		}
		if r, err := s.Reindex(context.Background()); err != nil || len(r.Changed)+len(r.Gone) > 0 {
			t.Fatalf("kill %d: the index differed: %+v, %v", kill, r, err)
		}
		closeStore(t, s)
	}
	if moved < *kills {
		t.Fatalf("only %d moves: the kills come before the work", moved)
	}
}
