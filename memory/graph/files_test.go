package graph_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeagent/agent/plugin"
	"homeagent/memory/disk"
	"homeagent/memory/graph"
)

// grep returns the first file in dir that has the word.
func grep(t *testing.T, dir, word string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(word)) {
			return e.Name()
		}
	}
	return ""
}

// sound is the bytes of a closed graph.
func sound(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graph.db")
	g := openAt(t, path, nil)
	commit(t, g, "1", household...)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// foreign is the bytes of a database that a statement has made.
func foreign(t *testing.T, statements ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOpenSetsABadFileAside(t *testing.T) {
	good := sound(t)
	tests := []struct {
		name string
		data []byte
		want error
	}{
		{"empty", nil, graph.ErrDamaged},
		{"one byte", good[:1], graph.ErrDamaged},
		{"half a header", good[:50], graph.ErrDamaged},
		{"text", []byte(strings.Repeat("this is no database\n", 500)), graph.ErrDamaged},
		{"zeros", make([]byte, 64<<10), graph.ErrDamaged},
		{"first page only", good[:4096], graph.ErrDamaged},
		{"truncated", good[:len(good)-4096], graph.ErrDamaged},
		{"cut in the middle of a page", good[:len(good)/2+100], graph.ErrDamaged},
		{"pages of noise", append(bytes.Clone(good[:8192]), bytes.Repeat([]byte{0xa5, 0x13, 0x0d},
			(len(good)-8192)/3+1)[:len(good)-8192]...), graph.ErrDamaged},
		{"another program's", foreign(t, "CREATE TABLE x(y)"), graph.ErrDamaged},
		{"our number, no tables", foreign(t, "PRAGMA user_version = 1"), graph.ErrDamaged},
		{"newer schema", foreign(t, "CREATE TABLE entities(id)", "PRAGMA user_version = 1000"), graph.ErrNewer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "graph.db")
			if err := os.WriteFile(path, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			g, notice, err := graph.Open(path, graph.Options{})
			if err != nil {
				t.Fatalf("the house does not start: %v", err)
			}
			defer g.Close()
			if notice == nil || !errors.Is(notice.Err, tt.want) || notice.Path != path {
				t.Fatalf("notice %+v", notice)
			}
			// SQLite may mark a header while it looks, nothing else may change.
			kept, err := os.ReadFile(notice.Aside)
			if err != nil || len(kept) != len(tt.data) || len(kept) > 4096 && !bytes.Equal(kept[4096:], tt.data[4096:]) {
				t.Fatalf("the bad file was not kept: %d of %d bytes, %v", len(kept), len(tt.data), err)
			}
			commit(t, g, "1", "a/likes/b")
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			if got, _ := recall(t, openAt(t, path, nil), graph.Query{Text: "likes b"}); len(got) != 1 {
				t.Fatalf("the new one keeps nothing: %q", got)
			}
		})
	}
	t.Run("its log goes with it", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "graph.db")
		for name, data := range map[string]string{path: "garbage garbage", path + "-wal": "log of the bad one", path + "-shm": "x"} {
			if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		g, notice, err := graph.Open(path, graph.Options{})
		if err != nil || notice == nil {
			t.Fatalf("%v, %v", notice, err)
		}
		defer g.Close()
		if _, err := os.Stat(notice.Aside + "-wal"); err != nil {
			t.Fatal(err)
		}
	})
}

// TestOpenSetsAFolderAside: a folder in the file's place keeps what it holds
// under another name.
func TestOpenSetsAFolderAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.db")
	if err := os.MkdirAll(filepath.Join(path, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	g, notice, err := graph.Open(path, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if notice == nil || !errors.Is(notice.Err, graph.ErrDamaged) {
		t.Fatalf("notice %v", notice)
	}
	if _, err := os.Stat(filepath.Join(notice.Aside, "inside")); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Run("no folder", func(t *testing.T) {
		_, _, err := graph.Open(filepath.Join(t.TempDir(), "no", "graph.db"), graph.Options{})
		if !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("a file that may not be written", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "graph.db")
		if err := os.WriteFile(path, sound(t), 0o444); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			if os.Geteuid() == 0 {
				// Root may write anything; a thread with another file system
				// identity may not. It dies with this goroutine.
				runtime.LockOSThread()
				if err := syscall.Setfsuid(65534); err != nil {
					done <- err
					return
				}
				defer syscall.Setfsuid(0)
			}
			_, _, err := graph.Open(path, graph.Options{})
			done <- err
		}()
		if err := <-done; !errors.Is(err, graph.ErrReadOnly) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("a path with signs of a URL", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "a?b#c d%20é")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "graph.db")
		commit(t, openAt(t, path, nil), "1", "a/likes/b")
		if _, err := os.Stat(path); err != nil {
			t.Fatal(err)
		}
	})
}

// TestDamageInALargeFile: it is not read whole at the start; damage met while
// running is, at the next.
func TestDamageInALargeFile(t *testing.T) {
	good := sound(t)
	path := filepath.Join(t.TempDir(), "graph.db")
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	var page int
	err = db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'postings'").Scan(&page)
	db.Close()
	if err != nil {
		t.Fatal(err)
	}
	spoiled := bytes.Clone(good)
	for at := (page - 1) * 4096; at < page*4096; at++ {
		spoiled[at] ^= 0x5a
	}
	if err := os.WriteFile(path, spoiled, 0o600); err != nil {
		t.Fatal(err)
	}
	g, notice, err := graph.Open(path, graph.LargeOptions())
	if err != nil || notice != nil {
		t.Fatalf("at first: %+v, %v", notice, err)
	}
	if _, err = g.Recall(context.Background(), graph.Query{Text: "Bob", Depth: 1}); !errors.Is(err, graph.ErrDamaged) {
		t.Fatalf("recall from noise: %v", err)
	}
	g.Close()
	g, notice, err = graph.Open(path, graph.LargeOptions())
	if err != nil || notice == nil || !errors.Is(notice.Err, graph.ErrDamaged) {
		t.Fatalf("%+v, %v", notice, err)
	}
	g.Close()
	if g, notice, err = graph.Open(path, graph.LargeOptions()); err != nil || notice != nil {
		t.Fatalf("the new one: %+v, %v", notice, err)
	}
	g.Close()
	t.Run("truncated", func(t *testing.T) {
		if err := os.WriteFile(path, good[:len(good)-4096], 0o600); err != nil {
			t.Fatal(err)
		}
		g, notice, err := graph.Open(path, graph.LargeOptions())
		if err != nil || notice == nil {
			t.Fatalf("%+v, %v", notice, err)
		}
		g.Close()
	})
}

// TestAFullFile: SQLite's own full is the one that disk.IsFull knows, and what
// was there stays readable.
func TestAFullFile(t *testing.T) {
	g := open(t)
	commit(t, g, "1", "a/likes/b")
	if err := g.LimitPages(8); err != nil {
		t.Fatal(err)
	}
	var err error
	for i := 0; err == nil && i < 100; i++ {
		_, err = g.Commit(context.Background(), facts("a/says/"+strings.Repeat("word ", 500)+time.Duration(i).String()), graph.Origin{})
	}
	if !disk.IsFull(err) {
		t.Fatalf("got %v", err)
	}
	if got, _ := recall(t, g, graph.Query{Text: "likes b"}); len(got) == 0 || got[0] != "a likes b" {
		t.Fatalf("recalled %q", got)
	}
}

// TestAnotherVersionOfTerms: the index is made anew and finds the same.
func TestAnotherVersionOfTerms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.db")
	g := openAt(t, path, nil)
	commit(t, g, "1", household...)
	if err := g.AddAlias(context.Background(), "李华", "妈妈"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Purge(context.Background(), graph.Criteria{Subject: "WiFi"}, false); err != nil {
		t.Fatal(err)
	}
	queries := []string{"钥匙在哪", "妈妈生日", "where is the car", "wifi密码", "Bob"}
	var before [][]string
	for _, q := range queries {
		got, _ := recall(t, g, graph.Query{Text: q, Depth: 2})
		before = append(before, got)
	}
	if err := g.SpoilIndex(); err != nil {
		t.Fatal(err)
	}
	g.Close()
	g = openAt(t, path, nil)
	for i, q := range queries {
		got, _ := recall(t, g, graph.Query{Text: q, Depth: 2})
		if strings.Join(got, "|") != strings.Join(before[i], "|") {
			t.Fatalf("%s: %q, before %q", q, got, before[i])
		}
	}
}

// What a creation has left behind that a power cut ended is no damage.
func TestOpenAfterACreationThatWasCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.db")
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.WriteFile(path+".new"+end, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g, notice, err := graph.Open(path, graph.Options{})
	if err != nil || notice != nil {
		t.Fatalf("%v, %+v", err, notice)
	}
	defer g.Close()
	if _, err := g.Commit(t.Context(), []plugin.Triple{{Subject: "Anna", Relation: "likes", Object: "tea"}}, graph.Origin{}); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(path + ".new*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
