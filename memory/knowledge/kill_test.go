package knowledge_test

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"homeagent/memory/knowledge"
)

// childEnv makes the test binary the program that is killed.
const childEnv = "HOMEAGENT_KNOWLEDGE_CHILD"

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

// child teaches, saying so once it is durable, and scans, until it is killed.
func child(dir string) error {
	s, notices, err := knowledge.Open(bg, filepath.Join(dir, "knowledge"), filepath.Join(dir, "knowledge.db"), knowledge.Options{})
	if err != nil || len(notices) > 0 {
		return fmt.Errorf("%v %v", err, notices)
	}
	from, err := strconv.Atoi(os.Getenv(childEnv + "_FROM"))
	if err != nil {
		return err
	}
	for n := max(0, from-1); ; n++ {
		fmt.Println("begin", n)
		if err := s.Create(bg, fmt.Sprintf("n%d", n), fmt.Sprintf("# Thing\n\nthing%d is in box%d", n, n)); err != nil {
			return err
		}
		fmt.Println("taught", n)
		if n%5 == 0 {
			if _, err := s.Scan(bg); err != nil {
				return err
			}
		}
	}
}

// TestKilledAgainAndAgain: after each kill -9 everything opens without a notice,
// and what was acknowledged can be read and is found.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Logf("seed %d (repeat with -seed)", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 4))
	dir := t.TempDir()
	begun, taught := -1, -1
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
		for left := 1 + rnd.IntN(20); lines.Scan(); left-- {
			what, num, _ := strings.Cut(lines.Text(), " ")
			n, _ := strconv.Atoi(num)
			switch what {
			case "begin":
				begun = max(begun, n)
			case "taught":
				taught = max(taught, n)
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
		h := &house{dir: filepath.Join(dir, "knowledge"), index: filepath.Join(dir, "knowledge.db"), clock: newClock()}
		s := h.quiet(t)
		have := names(s)
		for n := range taught + 1 {
			if !slices.Contains(have, fmt.Sprintf("n%d", n)) {
				t.Fatalf("kill %d: n%d is lost", kill, n)
			}
		}
		for _, n := range []int{taught, rnd.IntN(taught + 2)} {
			if n < 0 || n > taught {
				continue
			}
			if got, want := ask(t, s, fmt.Sprintf("thing%d", n)), fmt.Sprintf("n%d|Thing|thing%d is in box%d", n, n, n); got != want {
				t.Fatalf("kill %d: got %q, want %q", kill, got, want)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if taught < *kills {
		t.Fatalf("only %d taught: the kills come before the work", taught)
	}
}
