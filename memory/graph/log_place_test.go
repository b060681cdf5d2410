package graph_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"homeagent/memory/graph"
)

// TestSomethingInTheLogsPlace: a folder where the log or its index ought to be
// is set aside, and the facts are there.
func TestSomethingInTheLogsPlace(t *testing.T) {
	good := sound(t)
	for _, end := range []string{"-wal", "-shm"} {
		t.Run(end, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "graph.db")
			if err := os.WriteFile(path, good, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(path+end, "inside"), 0o700); err != nil {
				t.Fatal(err)
			}
			g, notice, err := graph.Open(path, graph.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if notice == nil || notice.Path != path+end || !errors.Is(notice.Err, graph.ErrDamaged) {
				t.Fatalf("notice %+v", notice)
			}
			if _, err := os.Stat(filepath.Join(notice.Aside, "inside")); err != nil {
				t.Error(err)
			}
			commit(t, g, "1", "Ann/likes/tea")
			if got := texts(t, g); len(got) != len(household)+1 {
				t.Errorf("%q", got)
			}
		})
	}
}
