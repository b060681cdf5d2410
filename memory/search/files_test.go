package search_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeagent/memory/search"
	"homeagent/memory/sqlfile"
)

func TestOpenReplacesABadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	x := openAt(t, path)
	for i := range 200 {
		put(t, x, event(strings.Repeat("x", i+1), int64(i), strings.Repeat("some words of a passage ", i%9+1)))
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"empty", nil},
		{"half a header", good[:50]},
		{"garbage", bytes.Repeat([]byte("no database\n"), 1000)},
		{"zeros", make([]byte, 16<<10)},
		{"truncated", good[:len(good)-4096]},
		{"noise behind the first page", append(bytes.Clone(good[:4096]), bytes.Repeat([]byte{0xa5, 0x13}, (len(good)-4096)/2)...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "index.db")
			if err := os.WriteFile(path, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			x, notice, err := search.Open(path, search.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			if notice == nil || !errors.Is(notice.Err, sqlfile.ErrDamaged) {
				t.Fatalf("notice %+v", notice)
			}
			if _, err := os.Stat(notice.Aside); err != nil {
				t.Fatal(err)
			}
			put(t, x, event("a", 1, "the lamp is green"))
			if got := find(t, x, search.Query{Text: "lamp"}); len(got) != 1 {
				t.Fatalf("found %q", got)
			}
		})
	}
}

// Terms that were cut by other rules, and a newer program's file.
func TestOpenAfterAnotherVersion(t *testing.T) {
	for _, tt := range []struct {
		name, change string
		want         error
		aside        bool
	}{
		{"other terms", "UPDATE meta SET value = '0' WHERE key = 'token_version'", sqlfile.ErrOlder, false},
		{"newer schema", "PRAGMA user_version = 1000", sqlfile.ErrNewer, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "index.db")
			x := openAt(t, path)
			put(t, x, event("a", 1, "the lamp is green"))
			if err := x.Exec(tt.change); err != nil {
				t.Fatal(err)
			}
			x.Close()
			x, notice, err := search.Open(path, search.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			if notice == nil || !errors.Is(notice.Err, tt.want) || (notice.Aside != "") != tt.aside {
				t.Fatalf("notice %+v", notice)
			}
			if n, err := x.Len(context.Background()); n != 0 || err != nil {
				t.Fatal(n, err)
			}
		})
	}
}
