package supervisor

import (
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/account"
)

var testUsers = &users{
	agent: &account.User{Name: "agent", UID: testAgent, GID: testAgent},
	door:  &account.User{Name: "door", UID: testDoor, GID: testAgent},
	group: testAgent,
}

func TestOwnerOf(t *testing.T) {
	tests := []struct {
		name    string
		uid     int
		known   bool
		private bool
	}{
		{"config.yaml", 0, true, false},
		{"config.yaml.new", 0, true, false},
		{"config.good.yaml", 0, true, false},
		{"secrets", 0, true, true},
		{"homed.lock", 0, true, false},
		{"door.db", testDoor, true, false},
		{"setup-code.txt", testDoor, true, false},
		{"setup-code.txt.new", testDoor, true, false},
		{"state.db", testAgent, true, false},
		{"queue.log.tail", testAgent, true, false},
		{"memory", testAgent, true, false},
		{"workspace", testAgent, true, false},
		{"personal.md", testAgent, true, false},
		{"door.db.bad-20260101T000000", 0, false, false},
		{"memorygame", 0, false, false},
		{"lost+found", 0, false, false},
		{"run", 0, false, false},
		{"backup.tar", 0, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, ok := testUsers.ownerOf(tt.name)
			if o.uid != tt.uid || ok != tt.known || o.private != tt.private {
				t.Errorf("got %+v, %v", o, ok)
			}
		})
	}
	if o, ok := (&users{agent: testUsers.agent}).ownerOf("door.db"); !ok || o.uid != 0 {
		t.Errorf("without a user for the door: %+v, %v", o, ok)
	}
}

// tree writes files and folders; a name that ends in "/" is a folder.
func tree(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, n := range names {
		path := filepath.Join(dir, n)
		if strings.HasSuffix(n, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte(n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func ids(t *testing.T, path string) (uid, gid int) {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		t.Fatal(err)
	}
	return int(st.Uid), int(st.Gid)
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func TestRepairGivesEachItsOwn(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	tree(t, dir, "config.yaml", "secrets/", "secrets/deepseek", "door.db", "state.db",
		"memory/", "memory/raw/", "memory/raw/a.jsonl", "other.txt", "queue.log")
	// As after an update that changed the numbers.
	if err := os.Chown(filepath.Join(dir, "state.db"), 4000, 4000); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		notes, err := repair(dir, testUsers, time.Now(), quiet())
		if err != nil || len(notes) != 0 {
			t.Fatalf("round %d: %v, %v", round, notes, err)
		}
		for name, uid := range map[string]int{
			"config.yaml": 0, "secrets": 0, "secrets/deepseek": 0, "door.db": testDoor, "state.db": testAgent,
			"memory": testAgent, "memory/raw": testAgent, "memory/raw/a.jsonl": testAgent, "other.txt": 0, "queue.log": testAgent,
		} {
			if got, _ := ids(t, filepath.Join(dir, name)); got != uid {
				t.Errorf("round %d: %s belongs to %d, want %d", round, name, got, uid)
			}
		}
		for name, mode := range map[string]fs.FileMode{"": fs.ModeDir | fs.ModeSticky | 0o770, "secrets": fs.ModeDir | 0o700, "secrets/deepseek": 0o600} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != mode {
				t.Errorf("round %d: %q is %v, %v", round, name, info.Mode(), err)
			}
		}
		if _, gid := ids(t, dir); gid != testAgent {
			t.Errorf("round %d: the folder's group is %d", round, gid)
		}
	}
}

// TestRepairGivesNothingAwayByLinks: no link leads it to what is elsewhere, and
// what has been put in another's place is set aside.
func TestRepairGivesNothingAwayByLinks(t *testing.T) {
	needRoot(t)
	outside := t.TempDir()
	tree(t, outside, "secret", "folder/", "folder/inner")
	path := func(name string) string { return filepath.Join(outside, name) }
	tests := []struct {
		name string
		put  func(dir string) error
		note string                       // part of what is said, "" for nothing
		then func(t *testing.T, d string) // what must hold
	}{
		{"a link as a file", func(d string) error { return os.Symlink(path("secret"), filepath.Join(d, "state.db")) }, "", nil},
		{"a link as a folder", func(d string) error { return os.Symlink(path("folder"), filepath.Join(d, "memory")) }, "", nil},
		{"a link deep inside", func(d string) error {
			tree(t, d, "memory/", "memory/raw/")
			return os.Symlink(path("folder"), filepath.Join(d, "memory/raw/x"))
		}, "", nil},
		{"a second name", func(d string) error {
			tree(t, d, "memory/")
			return os.Link(path("secret"), filepath.Join(d, "memory/mine"))
		}, "hard link", nil},
		{"a second name of the configuration", func(d string) error {
			tree(t, d, "memory/", "config.yaml")
			return os.Link(filepath.Join(d, "config.yaml"), filepath.Join(d, "memory/mine"))
		}, "hard link", func(t *testing.T, d string) {
			if uid, _ := ids(t, filepath.Join(d, "config.yaml")); uid != 0 {
				t.Errorf("config.yaml belongs to %d", uid)
			}
		}},
		{"a configuration by the agent", func(d string) error {
			tree(t, d, "config.yaml")
			return os.Chown(filepath.Join(d, "config.yaml"), testAgent, testAgent)
		}, "config.yaml belonged to a user that may not write it", func(t *testing.T, d string) {
			if _, err := os.Lstat(filepath.Join(d, "config.yaml")); !os.IsNotExist(err) {
				t.Errorf("it still stands there: %v", err)
			}
		}},
		{"secrets as a link by the agent", func(d string) error {
			if err := os.Symlink(path("folder"), filepath.Join(d, "secrets")); err != nil {
				return err
			}
			return os.Lchown(filepath.Join(d, "secrets"), testAgent, testAgent)
		}, "secrets belonged", nil},
		{"accounts by the agent", func(d string) error {
			tree(t, d, "door.db")
			return os.Chown(filepath.Join(d, "door.db"), testAgent, testAgent)
		}, "door.db belonged", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := tt.put(dir); err != nil {
				t.Fatal(err)
			}
			notes, err := repair(dir, testUsers, time.Now(), quiet())
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, n := range notes {
				if n.ZH == "" {
					t.Errorf("no Chinese beside %q", n.EN)
				}
				said += n.EN + "\n"
			}
			if tt.note == "" && said != "" || !strings.Contains(said, tt.note) {
				t.Errorf("said %q, want %q", said, tt.note)
			}
			for _, n := range []string{"secret", "folder", "folder/inner"} {
				if uid, gid := ids(t, path(n)); uid != 0 || gid != 0 {
					t.Errorf("%s outside went to %d:%d", n, uid, gid)
				}
			}
			if tt.then != nil {
				tt.then(t, dir)
			}
			if notes, err := repair(dir, testUsers, time.Now(), quiet()); err != nil || len(notes) > 0 && !strings.Contains(tt.note, "hard link") {
				t.Errorf("the second time: %v, %v", notes, err)
			}
		})
	}
}

// TestOwnFilesAreNotWrittenThrough: what stands at the temporary name is
// removed, not followed.
func TestOwnFilesAreNotWrittenThrough(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(outside, []byte("whole"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(tmp string) error{
		"link":         func(tmp string) error { return os.Symlink(outside, tmp) },
		"second name":  func(tmp string) error { return os.Link(outside, tmp) },
		"pipe":         func(tmp string) error { return unix.Mkfifo(tmp, 0o600) },
		"empty folder": func(tmp string) error { return os.Mkdir(tmp, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := put(path + ".new"); err != nil {
				t.Fatal(err)
			}
			if err := writeOwn(path, []byte("mine")); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != "mine" {
				t.Errorf("written %q, %v", got, err)
			}
			if got, err := os.ReadFile(outside); err != nil || string(got) != "whole" {
				t.Errorf("outside stands %q, %v", got, err)
			}
		})
	}
}

func TestConfigOfAnotherUserIsNotRead(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	s := New(Options{DataDir: dir, ConfigPath: path, Output: io.Discard})
	s.users = testUsers
	for name, put := range map[string]func() error{
		"another user's": func() error {
			if err := os.WriteFile(path, []byte("agent: {max_tool_rounds: 3}\n"), 0o600); err != nil {
				return err
			}
			return os.Chown(path, testAgent, testAgent)
		},
		"a link": func() error { return os.Symlink("/etc/hostname", path) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := put(); err != nil {
				t.Fatal(err)
			}
			s.loadConfig()
			if len(s.text) != 0 || len(s.notices) != 1 {
				t.Errorf("read %q, %v", s.text, s.notices)
			}
		})
	}
}
