package distill_test

import (
	"bufio"
	"context"
	"errors"
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

	bolt "go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"homeagent/memory/disk/disktest"
	"homeagent/memory/distill"
	"homeagent/memory/graph"
	"homeagent/memory/journal"
	"homeagent/memory/state"
)

// childEnv makes the test binary the program that is killed.
const childEnv = "HOMEAGENT_DISTILL_CHILD"

var (
	seed  = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the kills")
	kills = flag.Int("kills", 6, "how often the program is killed")
	every = flag.Bool("every", false, "let each call of the file layer fail, not each third")
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		child(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// house is the stores a distiller works on.
type house struct {
	db *state.DB
	j  *journal.Journal
	g  *graph.Graph
	w  *distill.Worker
}

func openHouse(dir string, fs journal.FS) (*house, error) {
	h := &house{}
	raw := filepath.Join(dir, "raw")
	if err := os.MkdirAll(raw, 0o700); err != nil {
		return nil, err
	}
	var err error
	var sn *state.Notice
	if h.db, sn, err = state.Open(filepath.Join(dir, "state.db")); err != nil || sn != nil {
		return nil, fmt.Errorf("state: %v, %w", sn, err)
	}
	if h.j, err = journal.Open(h.db, raw, journal.Options{MaxFile: 3000, FS: fs}); err != nil {
		return h, err
	}
	var gn *graph.Notice
	if h.g, gn, err = graph.Open(filepath.Join(dir, "graph.db"), graph.Options{}); err != nil || gn != nil {
		return h, fmt.Errorf("graph: %v, %w", gn, err)
	}
	h.w, err = distill.New(distill.Options{Journal: h.j, Cursor: distill.StateCursor{DB: h.db}, Sink: distill.GraphSink{Graph: h.g}, Batch: 7, Log: quiet})
	return h, err
}

func (h *house) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	if h.w != nil {
		errs = append(errs, h.w.Close(ctx))
	}
	if h.j != nil {
		errs = append(errs, h.j.Close())
	}
	if h.g != nil {
		errs = append(errs, h.g.Close())
	}
	return errors.Join(append(errs, h.db.Close())...)
}

// say journals a turn: one fact of its own, and one that every third turn
// repeats, and one that contradicts what was said two turns before.
func (h *house) say(n int) error {
	t := talk(n, monday.Add(time.Duration(n)*time.Minute))
	text := fmt.Sprintf("The thing%d is in the box%d.", n, n)
	switch n % 3 {
	case 1:
		text += " The wandering lamp is in the hall."
	case 2:
		text += " The wandering lamp is in the attic."
	}
	t.Messages[0].Content = text
	var done func()
	err := h.db.Update(func(tx *bolt.Tx) error {
		added, d, err := h.j.AddTx(tx, t)
		if err == nil && !added {
			err = fmt.Errorf("turn %d was there", n)
		}
		done = d
		return err
	})
	if err == nil {
		done()
	}
	return err
}

// child says things and distils them until it is killed.
func child(dir string) {
	fail := func(err error) {
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	h, err := openHouse(dir, nil)
	fail(err)
	from, _ := strconv.Atoi(os.Getenv(childEnv + "_FROM"))
	fmt.Println("open")
	for n := from; ; n++ {
		fmt.Println("begin", n)
		fail(h.say(n))
		fmt.Println("turn", n)
		if n%4 == 3 {
			fail(h.j.Flush())
		}
		if n%5 == 4 {
			_, err := h.w.Distil(context.Background(), true)
			fail(err)
			fmt.Println("distilled", n)
		}
	}
}

// TestKilledAgainAndAgain: journal, cursor and graph agree after each kill -9.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Logf("seed %d (repeat with -seed)", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 4))
	dir := t.TempDir()
	begun := -1
	acked := map[int]bool{}
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
		for left := 1 + rnd.IntN(40); lines.Scan(); left-- {
			what, num, _ := strings.Cut(lines.Text(), " ")
			n, _ := strconv.Atoi(num)
			switch what {
			case "begin":
				begun = n
			case "turn":
				acked[n] = true
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
		if kill%5 == 4 || kill == *kills-1 {
			h, err := openHouse(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := h.w.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			h.check(t, fmt.Sprintf("kill %d", kill), begun, acked)
			if err := h.close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(acked) < *kills {
		t.Fatalf("only %d turns: the kills come before the work", len(acked))
	}
}

// check compares the journal with the graph.
func (h *house) check(t *testing.T, where string, begun int, acked map[int]bool) {
	t.Helper()
	ids, last := map[string]bool{}, uint64(0)
	for {
		lines, err := h.j.After(context.Background(), last, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) == 0 {
			break
		}
		for _, l := range lines {
			if ids[l.ID] {
				t.Fatalf("%s: %s is there twice", where, l.ID)
			}
			ids[l.ID], last = true, l.Seq
		}
	}
	p, err := distill.StateCursor{DB: h.db}.Get()
	if err != nil || p.Seq != last || len(p.Pending) > 0 {
		t.Fatalf("%s: position %+v, %v, the journal ends at %d", where, p, err, last)
	}
	facts := map[string]int{}
	moves := 0
	for r, err := range h.g.Export(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Fact == nil {
			continue
		}
		f := *r.Fact
		if strings.HasPrefix(f.Subject, "thing") {
			facts[f.Turn]++
			if f.Heard != 1 || f.Status != graph.Active {
				t.Fatalf("%s: counted twice: %+v", where, f)
			}
		} else {
			moves += f.Heard
		}
	}
	wantMoves := 0
	for n := 0; n <= begun; n++ {
		id := fmt.Sprintf("t%04d", n)
		if acked[n] && !ids[id] {
			t.Fatalf("%s: turn %d was acknowledged and is lost", where, n)
		}
		want := 0
		if ids[id] {
			want = 1
			if n%3 != 0 {
				wantMoves++
			}
		}
		if facts[id] != want {
			t.Fatalf("%s: %d facts of turn %d, want %d", where, facts[id], n, want)
		}
	}
	if moves != wantMoves {
		t.Fatalf("%s: the lamp moved %d times, want %d", where, moves, wantMoves)
	}
}

// TestEveryCallMayFail distils on a folder that fails or loses power at each
// call, then goes on with what is left of it.
func TestEveryCallMayFail(t *testing.T) {
	const turns = 8
	run := func(h *house) (acked map[int]bool) {
		acked = map[int]bool{}
		for n := range turns {
			if h.say(n) == nil {
				acked[n] = true
			}
			if n%3 == 2 {
				h.j.Flush() // a failed one is tried again by the next
			}
			if n%4 == 3 {
				h.w.Run(context.Background()) // so is a failed round
			}
		}
		return acked
	}
	clean := disktest.New()
	h, err := openHouse(t.TempDir(), clean)
	if err != nil {
		t.Fatal(err)
	}
	run(h)
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	step := 3
	if *every {
		step = 1
	}
	for i, fault := range disktest.Faults {
		// Each fault begins at another call, so that together they meet them all.
		for n := 1 + i%step; n <= clean.Calls(); n += step {
			dir, fs := t.TempDir(), disktest.New()
			h, err := openHouse(dir, fs)
			if err != nil {
				t.Fatal(err)
			}
			fs.FaultAt(n, fault)
			acked := run(h)
			h.close() // fails where the disk does
			h, err = openHouse(dir, fs.Reboot(disktest.Keeps[n%len(disktest.Keeps)]))
			if err != nil {
				t.Fatalf("%v at %d: %v", fault, n, err)
			}
			if err := h.w.Run(context.Background()); err != nil {
				t.Fatalf("%v at %d: %v", fault, n, err)
			}
			h.check(t, fmt.Sprintf("%v at %d", fault, n), turns-1, acked)
			if err := h.close(); err != nil {
				t.Fatalf("%v at %d: %v", fault, n, err)
			}
		}
	}
}
