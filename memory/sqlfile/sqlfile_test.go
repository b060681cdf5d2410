package sqlfile_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	sqlite "github.com/mattn/go-sqlite3"

	"homeagent/memory/disk"
	"homeagent/memory/sqlfile"
)

func layout(version int, cache bool) sqlfile.Layout {
	return sqlfile.Layout{Version: version, Cache: cache, Create: func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "CREATE TABLE t(x)")
		return err
	}}
}

func insert(t *testing.T, f *sqlfile.File, x string) {
	t.Helper()
	err := f.Update(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO t VALUES(?)", x)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, f *sqlfile.File) (n int) {
	t.Helper()
	if err := f.Read.QueryRow("SELECT count(*) FROM t").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestVersions(t *testing.T) {
	for _, tt := range []struct {
		name     string
		from, to int
		cache    bool
		want     error
		rows     int
		aside    bool
	}{
		{name: "the same", from: 2, to: 2, rows: 1},
		{name: "a newer one", from: 3, to: 2, want: sqlfile.ErrNewer, aside: true},
		{name: "an older cache", from: 1, to: 2, cache: true, want: sqlfile.ErrOlder},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			f, notice, err := sqlfile.Open(path, layout(tt.from, tt.cache))
			if err != nil || notice != nil {
				t.Fatal(err, notice)
			}
			insert(t, f, "a")
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			f, notice, err = sqlfile.Open(path, layout(tt.to, tt.cache))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if (notice == nil) != (tt.want == nil) || notice != nil && (!errors.Is(notice.Err, tt.want) || (notice.Aside != "") != tt.aside) {
				t.Fatalf("notice %+v", notice)
			}
			if n := count(t, f); n != tt.rows {
				t.Fatalf("%d rows", n)
			}
			if f.Commits() > 1 {
				t.Fatalf("%d commits", f.Commits())
			}
		})
	}
}

// TestAFailedUpdateIsUndone, and a full file is the one that disk.IsFull knows.
func TestAFailedUpdateIsUndone(t *testing.T) {
	f, _, err := sqlfile.Open(filepath.Join(t.TempDir(), "x.db"), layout(1, false))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	wish := errors.New("no")
	err = f.Update(context.Background(), func(tx *sql.Tx) error {
		if _, err := tx.Exec("INSERT INTO t VALUES(1)"); err != nil {
			return err
		}
		return wish
	})
	if !errors.Is(err, wish) || count(t, f) != 0 {
		t.Fatal(err)
	}
	var pages int
	if err := f.Write.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write.Exec("PRAGMA max_page_count = " + strconv.Itoa(pages+2)); err != nil {
		t.Fatal(err)
	}
	err = f.Update(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO t VALUES(?)", strings.Repeat("x", 100_000))
		return err
	})
	if !disk.IsFull(err) {
		t.Fatalf("got %v", err)
	}
}

func TestPlain(t *testing.T) {
	for _, tt := range []struct {
		err, want error
	}{
		{sqlite.Error{Code: sqlite.ErrCorrupt}, sqlfile.ErrDamaged},
		{sqlite.Error{Code: sqlite.ErrNotADB}, sqlfile.ErrDamaged},
		{sqlite.Error{Code: sqlite.ErrReadonly}, sqlfile.ErrReadOnly},
		{sqlite.Error{Code: sqlite.ErrBusy}, sqlfile.ErrBusy},
		{sqlite.Error{Code: sqlite.ErrFull}, syscall.ENOSPC},
		{sqlite.Error{Code: sqlite.ErrIoErr, SystemErrno: syscall.ENOSPC}, syscall.ENOSPC},
		{os.ErrPermission, sqlfile.ErrReadOnly},
		{fmt.Errorf("again: %w", sqlfile.ErrDamaged), sqlfile.ErrDamaged},
		{context.Canceled, context.Canceled},
	} {
		if got := sqlfile.Plain(tt.err); !errors.Is(got, tt.want) {
			t.Errorf("%v became %v", tt.err, got)
		}
	}
	if sqlfile.Plain(nil) != nil {
		t.Error("nil became an error")
	}
}
