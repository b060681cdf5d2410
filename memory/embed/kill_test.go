package embed

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
)

const (
	// childEnv makes the test binary the program that is killed; its value is the
	// file.
	childEnv = "HOMEAGENT_VECTORS_CHILD"
	// killsEnv is how often it is killed, 8 by default.
	killsEnv = "HOMEAGENT_VECTORS_KILLS"
)

var killSeed = flag.Uint64("killseed", uint64(time.Now().UnixNano()), "seed of the kills")

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		child(path)
	}
	goleak.VerifyTestMain(m)
}

// child puts vectors from the mark on and says each mark once it is durable.
func child(path string) {
	ctx := context.Background()
	x, notice, err := Open(path, 64, "test/1")
	for n := int64(0); err == nil; {
		if n == 0 {
			n = x.Mark()
			fmt.Println("open", n, notice != nil)
		}
		n++
		err = x.Put(ctx, Entry{ID: fmt.Sprint(n), Sum: uint64(n), Vector: point(rand.New(rand.NewPCG(uint64(n), 1)), 64, 1)})
		if err == nil && n > 3 && n%5 == 0 {
			err = x.Remove(ctx, fmt.Sprint(n-3))
		}
		if err == nil {
			err = x.Sync(ctx, n)
		}
		fmt.Println("mark", n)
	}
	fmt.Println("error", err)
	os.Exit(1)
}

// TestKilledAgainAndAgain: after each kill -9 the mark is where it was said to
// be, or one further, and all up to it is there.
func TestKilledAgainAndAgain(t *testing.T) {
	kills := 8
	if s := os.Getenv(killsEnv); s != "" {
		var err error
		if kills, err = strconv.Atoi(s); err != nil {
			t.Fatalf("%s: %v", killsEnv, err)
		}
	}
	t.Logf("seed %d (repeat with -killseed)", *killSeed)
	rnd := rand.New(rand.NewPCG(*killSeed, 9))
	path := filepath.Join(t.TempDir(), "v")
	said := int64(0)
	for range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+path)
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
			f := strings.Fields(lines.Text())
			n, _ := strconv.ParseInt(f[1], 10, 64)
			switch f[0] {
			case "error":
				t.Error(lines.Text())
			case "open":
				if n < said || f[2] == "true" {
					t.Errorf("%s after mark %d", lines.Text(), said)
				}
			case "mark":
				said = n
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
		x, notice := open(t, path, 64)
		if notice != nil || x.Mark() < said {
			t.Fatalf("%+v, mark %d, said %d", notice, x.Mark(), said)
		}
		for n := int64(1); n <= said; n++ {
			gone := n%5 == 2 && n+3 <= x.Mark()
			sum, ok, err := x.Sum(t.Context(), fmt.Sprint(n))
			if err != nil || ok == gone && !(n%5 == 2 && n+3 > x.Mark()) || ok && sum != uint64(n) {
				t.Fatalf("%d: %d, %v, %v; the mark is %d", n, sum, ok, err, x.Mark())
			}
		}
		x.Close()
	}
	if said == 0 {
		t.Fatal("it never came so far")
	}
}
