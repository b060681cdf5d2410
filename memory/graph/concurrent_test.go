package graph_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"homeagent/memory/graph"
)

// TestReadersBesideAWriter: eight readers see each fact whole from the moment
// its commit has returned, while another program holds a long transaction.
func TestReadersBesideAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.db")
	g := openAt(t, path, nil)
	commit(t, g, "1", household...)
	other, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	long, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer long.Rollback()
	count := func() (n int) {
		t.Helper()
		if err := long.QueryRow("SELECT count(*) FROM relations").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()

	const facts, readers = 60, 8
	var mu sync.Mutex
	acked := 0
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for {
				mu.Lock()
				n := acked
				mu.Unlock()
				if n > 0 {
					q := graph.Query{Text: fmt.Sprintf("gadget%d", n), Depth: 2}
					r, err := g.Recall(context.Background(), q)
					if err != nil || len(r.Facts) == 0 || r.Facts[0].Text() != fmt.Sprintf("gadget%d lies on shelf%d", n, n) {
						t.Errorf("fact %d: %+v, %v", n, r.Facts, err)
						return
					}
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for n := 1; n <= facts; n++ {
		commit(t, g, "", fmt.Sprintf("gadget%d/lies on/shelf%d", n, n))
		mu.Lock()
		acked = n
		mu.Unlock()
		if n%20 == 0 {
			if _, err := g.Purge(context.Background(), graph.Criteria{Subject: "Bob", Object: "black coffee"}, n == 40); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(done)
	wg.Wait()
	if n := count(); n != before {
		t.Fatalf("the long transaction saw %d rows, then %d", before, n)
	}
}

func TestAnotherProgramHoldsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.db")
	openAt(t, path, nil).Close()
	g, _, err := graph.Open(path, graph.ImpatientOptions(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	other, err := sql.Open("sqlite3", path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	hold, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Commit(context.Background(), facts("a/likes/b"), graph.Origin{}); !errors.Is(err, graph.ErrBusy) {
		t.Fatalf("got %v", err)
	}
	if _, err := g.Recall(context.Background(), graph.Query{Text: "a likes"}); err != nil {
		t.Fatalf("reading waits too: %v", err)
	}
	if err := hold.Rollback(); err != nil {
		t.Fatal(err)
	}
	commit(t, g, "1", "a/likes/b")
}

func TestAContextEndsACall(t *testing.T) {
	g := open(t)
	commit(t, g, "1", household...)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.Recall(ctx, graph.Query{Text: "Bob"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("recall: %v", err)
	}
	if _, err := g.Commit(ctx, facts("a/likes/b"), graph.Origin{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("commit: %v", err)
	}
	if got, _ := recall(t, g, graph.Query{Text: "a likes b"}); len(got) > 0 && got[0] == "a likes b" {
		t.Fatal("an ended commit stayed")
	}
}
