package document_test

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

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"homeagent/memory/document"
	"homeagent/memory/sqlfile"
)

// TestABadFileIsSetAside: whatever a document's file has become, it is kept
// under another name and named, and the others work; at a read as at a start
// whose index is lost.
func TestABadFileIsSetAside(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := openAt(t, dir, document.Options{})
	id := put(t, s, events("voice", 0, 3)...)[0].ID
	closeStore(t, s)
	good, err := os.ReadFile(paths(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		data []byte
		want error
	}{
		{"empty", nil, document.ErrDamaged},
		{"truncated", good[:len(good)/2], document.ErrDamaged},
		{"garbage", bytes.Repeat([]byte{0xa5, 0x13, 0}, 100), document.ErrDamaged},
		{"zeros", make([]byte, 4096), document.ErrDamaged},
		{"two at once", append(bytes.Clone(good), good...), document.ErrDamaged},
		{"a list", []byte(`[]`), document.ErrDamaged},
		{"null", []byte(`null`), document.ErrDamaged},
		{"no version", []byte(`{"id":"` + id + `","origin":"commit"}`), document.ErrDamaged},
		{"another's", bytes.Replace(good, []byte(id), []byte("other"), 1), document.ErrDamaged},
		{"an event twice", []byte(strings.ReplaceAll(string(good), "voice-t0001/u", "voice-t0002/u")), document.ErrDamaged},
		{"newer", bytes.Replace(good, []byte(`"v": 1`), []byte(`"v": 2`), 1), document.ErrNewer},
	}
	for _, tt := range tests {
		for _, when := range []string{"at a read", "at a move", "at a start without an index"} {
			t.Run(tt.name+" "+when, func(t *testing.T) {
				dir := t.TempDir()
				var heard []document.Notice
				opts := document.Options{Notify: func(n document.Notice) { heard = append(heard, n) }}
				s := openAt(t, dir, opts)
				put(t, s, events("voice", 0, 3)...)
				if _, err := s.Put(ctx, document.Document{ID: "fine", Origin: document.Commit, Text: "x"}); err != nil {
					t.Fatal(err)
				}
				path := paths(t, dir)[0]
				if filepath.Base(path) != id+".json" {
					path = paths(t, dir)[1]
				}
				if err := os.WriteFile(path, tt.data, 0o600); err != nil {
					t.Fatal(err)
				}
				switch when {
				case "at a read":
					if _, err := s.Get(ctx, id); !errors.Is(err, tt.want) {
						t.Fatal(err)
					}
				case "at a move":
					put(t, s, events("voice", 10, 1)...)
				default:
					closeStore(t, s)
					if err := os.Remove(filepath.Join(dir, "index.db")); err != nil {
						t.Fatal(err)
					}
					s = openAt(t, dir, opts)
				}
				if len(heard) != 1 || heard[0].Path != path || !errors.Is(heard[0].Err, tt.want) || heard[0].Index {
					t.Fatalf("heard %+v", heard)
				}
				if kept, err := os.ReadFile(heard[0].Aside); err != nil || !bytes.Equal(kept, tt.data) {
					t.Fatalf("not kept: %v", err)
				}
				if d, err := s.Get(ctx, "fine"); err != nil || d.Text != "x" {
					t.Fatal(err)
				}
				if _, err := s.Get(ctx, id); when != "at a move" && !errors.Is(err, document.ErrNotFound) {
					t.Fatal(err)
				}
				// Its events may come again.
				put(t, s, events("voice", 0, 3)...)
				once(t, all(t, s))
				acknowledgedEvents(t, s, events("voice", 0, 3))
			})
		}
	}
	t.Run("a folder in its place", func(t *testing.T) {
		dir := t.TempDir()
		s := openAt(t, dir, document.Options{})
		put(t, s, event("voice", 0))
		path := paths(t, dir)[0]
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(ctx, strings.TrimSuffix(filepath.Base(path), ".json")); !errors.Is(err, document.ErrDamaged) {
			t.Fatal(err)
		}
	})
}

func acknowledgedEvents(t *testing.T, s *document.Store, evs []document.Event) {
	t.Helper()
	var ids []string
	for _, e := range evs {
		ids = append(ids, e.ID)
	}
	held, err := s.Has(context.Background(), ids...)
	if err != nil || len(held) != len(evs) {
		t.Fatalf("%d of %d events, %v", len(held), len(evs), err)
	}
}

// TestABadIndexIsMadeAnew: everything is there again, and nothing is cold at once.
func TestABadIndexIsMadeAnew(t *testing.T) {
	ctx := context.Background()
	foreign := func(statements ...string) []byte {
		path := filepath.Join(t.TempDir(), "x.db")
		db, err := sql.Open("sqlite3", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, q := range statements {
			if _, err := db.Exec(q); err != nil {
				t.Fatal(err)
			}
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	tests := []struct {
		name   string
		data   []byte
		remove bool
		want   error // nil: nothing is said
	}{
		{"missing", nil, true, nil},
		{"empty", nil, false, sqlfile.ErrDamaged},
		{"garbage", bytes.Repeat([]byte("garbage "), 1000), false, sqlfile.ErrDamaged},
		{"another program's", foreign("CREATE TABLE x(y)"), false, sqlfile.ErrDamaged},
		{"our number, no tables", foreign("CREATE TABLE x(y)", "PRAGMA user_version = 1"), false, sqlfile.ErrDamaged},
		{"newer", foreign("CREATE TABLE docs(id)", "PRAGMA user_version = 1000"), false, sqlfile.ErrNewer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			c := &clock{noon}
			s := openAt(t, dir, document.Options{Now: c.now})
			put(t, s, events("voice", 0, 30)...)
			if _, err := s.ForEntity(ctx, 3, "x", "y"); err != nil {
				t.Fatal(err)
			}
			before := titles(t, s)
			closeStore(t, s)
			path := filepath.Join(dir, "index.db")
			var err error
			if tt.remove {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, tt.data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			c.t = noon.Add(1000 * 24 * 0) // the clock stands
			s, notices := openNotices(t, dir, document.Options{Now: c.now})
			if (tt.want == nil) != (len(notices) == 0) || tt.want != nil && (!errors.Is(notices[0].Err, tt.want) || !notices[0].Index || notices[0].Aside == "") {
				t.Fatalf("notices %+v", notices)
			}
			if got := titles(t, s); strings.Join(got, "|") != strings.Join(before, "|") {
				t.Fatalf("got %q, want %q", got, before)
			}
			put(t, s, events("voice", 0, 30)...)
			once(t, all(t, s))
			if cold, err := s.Cold(ctx, c.t, 0, 2); err != nil || len(cold) > 0 {
				t.Fatalf("cold at once: %v, %v", cold, err)
			}
		})
	}
}

// TestAFolderThatMayNotBeWritten: what is there can be read, a write says why not.
func TestAFolderThatMayNotBeWritten(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, document.Options{})
	put(t, s, event("voice", 0))
	id := all(t, s)[0].ID
	errs := make(chan error, 3)
	go func() {
		if os.Geteuid() == 0 {
			// Root may write anything; a thread with another file system identity
			// may not. It dies with this goroutine.
			runtime.LockOSThread()
			if err := os.Chmod(dir, 0o755); err != nil {
				errs <- err
			}
			if err := syscall.Setfsuid(65534); err != nil {
				errs <- err
			}
		}
		_, err := s.PutEvents(context.Background(), []document.Event{event("voice", 1)})
		errs <- err
		_, _, err = document.Open(filepath.Join(dir, "below"), document.Options{})
		errs <- err
		errs <- nil
	}()
	if err := <-errs; !errors.Is(err, os.ErrPermission) {
		t.Fatalf("write: %v", err)
	}
	if err := <-errs; !errors.Is(err, sqlfile.ErrReadOnly) {
		t.Fatalf("open: %v", err)
	}
	if err := <-errs; err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	put(t, s, event("voice", 1), event("voice", 2))
	once(t, all(t, s))
	acknowledgedEvents(t, s, events("voice", 0, 3))
}

// FuzzDecode: what is read can be written and read again, the same.
func FuzzDecode(f *testing.F) {
	good, err := document.Encode(document.Document{ID: "a", Origin: document.Context, Created: noon, Events: events("voice", 0, 2)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"v":1,"id":"a","origin":"graph","text":"\u0000\ud800"}`))
	f.Add([]byte(`{"v":99}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := document.Decode(data)
		if err != nil {
			if !errors.Is(err, document.ErrDamaged) && !errors.Is(err, document.ErrNewer) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		first, err := document.Encode(d)
		if err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		d, err = document.Decode(first)
		if err != nil {
			t.Fatalf("written but not read: %v", err)
		}
		second, err := document.Encode(d)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%v\n%s\n%s", err, first, second)
		}
		document.Passages(d, nil)
	})
}
