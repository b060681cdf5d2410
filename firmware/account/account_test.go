package account

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	passwd = `root:x:0:0:root:/root:/bin/sh
# homeagent:x:1:1::/:/bin/false
broken
homeagent:x:nine:900::/:/bin/false
homeagent:x:900:900:HomeAgent:/var/lib/homeagent:/bin/false
homeagent-door:x:901:900::/:/bin/false
alone:x:902:902::/:/bin/false
nobody:x:4294967295:1::/:/bin/false
minus:x:-1:1::/:/bin/false
`
	group = `root:x:0:
audio:x:29:pulse,homeagent
video:x:44:homeagent
broken:x
gpio:x:999: homeagent ,other
twice:x:999:homeagent
i2c:x:998:homeagent-other
homeagent:x:900:homeagent
`
)

func files(t *testing.T) Source {
	t.Helper()
	dir := t.TempDir()
	s := Source{Passwd: filepath.Join(dir, "passwd"), Group: filepath.Join(dir, "group")}
	for path, text := range map[string]string{s.Passwd: passwd, s.Group: group} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestLookup(t *testing.T) {
	s := files(t)
	tests := []struct {
		name     string
		uid, gid int
		groups   []int
		err      error
	}{
		{"root", 0, 0, nil, nil},
		{"homeagent", 900, 900, []int{29, 44, 999}, nil},
		{"homeagent-door", 901, 900, nil, nil},
		{"", 0, 0, nil, ErrUnknown},
		{"nobody", 0, 0, nil, ErrUnknown},
		{"minus", 0, 0, nil, ErrUnknown},
		{"home", 0, 0, nil, ErrUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, err := s.Lookup(tt.name)
			if !errors.Is(err, tt.err) || u.UID != tt.uid || u.GID != tt.gid || !slices.Equal(u.Groups, tt.groups) {
				t.Errorf("got %+v, %v", u, err)
			}
		})
	}
	if _, err := (Source{Passwd: filepath.Join(t.TempDir(), "none")}).Lookup("root"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no passwd: %v", err)
	}
	if u, err := (Source{Passwd: s.Passwd, Group: filepath.Join(t.TempDir(), "none")}).Lookup("homeagent"); err != nil || u.Groups != nil {
		t.Errorf("no group file: %+v, %v", u, err)
	}
}

func TestShared(t *testing.T) {
	user := func(gid int, groups ...int) User { return User{GID: gid, Groups: groups} }
	tests := []struct {
		name string
		a, b User
		gid  int
		ok   bool
	}{
		{"the same primary group", user(900, 29), user(900), 900, true},
		{"the other's group as a further one", user(900), user(901, 900), 900, true},
		{"mine as a further one", user(900, 901), user(901), 901, true},
		{"a third group", user(900, 29, 50), user(901, 50), 50, true},
		{"none", user(900, 29), user(901, 44), 0, false},
		{"only root's", user(0), user(0), 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if gid, ok := Shared(tt.a, tt.b); gid != tt.gid || ok != tt.ok {
				t.Errorf("got %d, %v", gid, ok)
			}
		})
	}
}

// Whatever the files hold, a user that is found has the name and numbers that
// a line says, and no group twice.
func FuzzLookup(f *testing.F) {
	f.Add(passwd, group, "homeagent")
	f.Add("a:x:1:2", "b:x:3:a,a", "a")
	f.Add(strings.Repeat(":", 100), "\xff", ":")
	f.Fuzz(func(t *testing.T, passwd, group, name string) {
		u, err := Find(strings.NewReader(passwd), name)
		if err != nil {
			return
		}
		if u.UID < 0 || u.GID < 0 || !strings.Contains(passwd, name+":") {
			t.Fatalf("%q found as %+v", name, u)
		}
		groups, err := Groups(strings.NewReader(group), u)
		if err != nil {
			return
		}
		if !slices.IsSorted(groups) || len(slices.Compact(slices.Clone(groups))) != len(groups) || slices.Contains(groups, u.GID) {
			t.Fatalf("groups %v of %+v", groups, u)
		}
	})
}
