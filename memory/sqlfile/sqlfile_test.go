package sqlfile_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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

// In a folder of one's own a file of another user's is no obstacle: one that may
// be read is copied with its log, one that may not is set aside.
func TestFilesOfAnotherUser(t *testing.T) {
	numbers := sqlfile.Layout{Version: 1, Create: func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "CREATE TABLE t(n INTEGER)")
		return err
	}}
	insert := func(f *sqlfile.File, n int) error {
		return f.Update(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.Exec("INSERT INTO t VALUES(?)", n)
			return err
		})
	}
	for _, row := range []struct {
		name string
		mode os.FileMode
		sum  int
	}{{"readable", 0o444, 3}, {"unreadable", 0, 0}} {
		t.Run(row.name, func(t *testing.T) {
			// Not t.TempDir, whose parent is closed to others.
			dir, err := os.MkdirTemp("", "another-user-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			made := filepath.Join(dir, "made.db")
			f, _, err := sqlfile.Open(made, numbers)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(insert(f, 1), insert(f, 2)); err != nil {
				t.Fatal(err)
			}
			// A copy of the running file, as a power cut leaves it: what was
			// inserted still lies in the log.
			path := filepath.Join(dir, "t.db")
			for _, end := range []string{"", "-wal"} {
				b, err := os.ReadFile(made + end)
				if err == nil {
					err = os.WriteFile(path+end, b, 0o600)
				}
				if err == nil {
					err = os.Chmod(path+end, row.mode)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(f.Close(), os.Chmod(dir, 0o777)); err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				if os.Geteuid() == 0 {
					// Root may do anything; this thread may not, and dies with
					// the goroutine.
					runtime.LockOSThread()
					if err := syscall.Setfsuid(65534); err != nil {
						t.Error(err)
						return
					}
					defer syscall.Setfsuid(0)
				}
				// SQLite's connections are opened on this goroutine.
				f, notice, err := sqlfile.Open(path, numbers)
				if err != nil {
					t.Error(err)
					return
				}
				defer f.Close()
				var sum int
				err = f.Write.QueryRow("SELECT coalesce(sum(n), 0) FROM t").Scan(&sum)
				if err != nil || sum != row.sum || (notice == nil) != (row.sum > 0) {
					t.Errorf("found %d, %v; notice %v; want %d", sum, err, notice, row.sum)
				}
				if err := insert(f, 4); err != nil {
					t.Error(err)
				}
			}()
			<-done
		})
	}
}
