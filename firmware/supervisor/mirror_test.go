package supervisor

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"homeagent/memory/disk"
)

// card is a folder that counts how often it was made writable.
type card struct {
	writable int
	restored chan struct{}
	err      error
}

func (c *card) Writable(string) (func() error, error) {
	if c.err != nil {
		return nil, c.err
	}
	c.writable++
	return func() error {
		if c.restored != nil {
			c.restored <- struct{}{}
		}
		return nil
	}, nil
}

func TestMirrorOnce(t *testing.T) {
	const code = "ABCD-EFGH\n"
	tests := []struct {
		name       string
		from, to   string // what stands there before; "" is nothing
		want       string
		writes     int
		refused    bool
		brokenCard bool
	}{
		{name: "nothing on either side"},
		{name: "a new code", from: code, want: code, writes: 1},
		{name: "the same already", from: code, to: code, want: code},
		{name: "another code", from: code, to: "OLD2-OLD2\n", want: code, writes: 1},
		{name: "claimed", to: code, writes: 1},
		{name: "no code", from: "; reboot\n", to: code, want: code, refused: true},
		{name: "far too long", from: string(make([]byte, 5000)), to: code, want: code, refused: true},
		{name: "empty", from: "\n", to: code, want: code, refused: true},
		{name: "a card that stays read-only", from: code, refused: true, brokenCard: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &card{}
			if tt.brokenCard {
				c.err = unix.EROFS
			}
			m := mirror{from: t.TempDir(), to: t.TempDir(), mounts: c, log: quiet()}
			for dir, text := range map[string]string{m.from: tt.from, m.to: tt.to} {
				if text != "" {
					if err := os.WriteFile(filepath.Join(dir, setupFile), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := m.sync(); (err != nil) != tt.refused {
				t.Errorf("got %v", err)
			}
			got, err := os.ReadFile(filepath.Join(m.to, setupFile))
			if string(got) != tt.want || (tt.want == "") != errors.Is(err, os.ErrNotExist) {
				t.Errorf("the copy is %q, %v", got, err)
			}
			if c.writable != tt.writes {
				t.Errorf("made writable %d times, want %d", c.writable, tt.writes)
			}
			left, err := filepath.Glob(filepath.Join(m.to, "*.new"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %q, %v", left, err)
			}
		})
	}
}

// TestMirrorIsNoReaderOfLinks: the door must not have a file of the
// supervisor's put where everybody reads it.
func TestMirrorIsNoReaderOfLinks(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("ABCD-EFGH\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"link":   func(p string) error { return os.Symlink(secret, p) },
		"pipe":   func(p string) error { return unix.Mkfifo(p, 0o600) },
		"folder": func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			m := mirror{from: t.TempDir(), to: t.TempDir(), mounts: &card{}, log: quiet()}
			if err := put(filepath.Join(m.from, setupFile)); err != nil {
				t.Fatal(err)
			}
			if err := m.sync(); err == nil {
				t.Error("it was copied")
			}
			if left, _ := os.ReadDir(m.to); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// TestMirrorFollowsTheDoor: the copy comes and goes by the kernel's word, with
// no clock in between.
func TestMirrorFollowsTheDoor(t *testing.T) {
	c := &card{restored: make(chan struct{}, 8)}
	m := mirror{from: t.TempDir(), to: t.TempDir(), mounts: c, log: quiet()}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { m.run(ctx); close(done) }()
	defer func() { cancel(); <-done }()
	original, copied := filepath.Join(m.from, setupFile), filepath.Join(m.to, setupFile)
	for i, code := range []string{"AAAA-2222\n", "BBBB-3333\n", "", "CCCC-4444\n"} {
		if code == "" {
			if err := os.Remove(original); err != nil {
				t.Fatal(err)
			}
		} else if err := disk.WriteFile(original, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		select {
		case <-c.restored:
		case <-t.Context().Done():
			t.Fatalf("step %d: nothing was copied", i)
		}
		if got, err := os.ReadFile(copied); string(got) != code || (code == "") != errors.Is(err, os.ErrNotExist) {
			t.Errorf("step %d: the copy is %q, %v", i, got, err)
		}
	}
}

// TestMounted remounts a real file system.
func TestMounted(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
		t.Skipf("skipped: the right to mount is absent (%v)", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	options := func() int64 {
		var st unix.Statfs_t
		if err := unix.Statfs(dir, &st); err != nil {
			t.Fatal(err)
		}
		return int64(st.Flags) & (unix.ST_RDONLY | unix.ST_NOSUID | unix.ST_NODEV)
	}
	before := options()
	restore, err := (Mounted{}).Writable(dir)
	if err != nil {
		t.Fatal(err)
	}
	if options() != unix.ST_NOSUID|unix.ST_NODEV {
		t.Errorf("writable, the options are %x", options())
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Error(err)
	}
	if err := restore(); err != nil || options() != before {
		t.Errorf("restored to %x, was %x: %v", options(), before, err)
	}
	// What is writable anyway stays so.
	plain := t.TempDir()
	restore, err = (Mounted{}).Writable(plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := restore(); err != nil {
		t.Error(err)
	}
	if _, err := (Mounted{}).Writable(filepath.Join(plain, "none")); err == nil {
		t.Error("a folder that is not there was made writable")
	}
}

func event(mask uint32, name string, pad int) []byte {
	b := make([]byte, unix.SizeofInotifyEvent, unix.SizeofInotifyEvent+len(name)+pad)
	binary.NativeEndian.PutUint32(b[4:], mask)
	binary.NativeEndian.PutUint32(b[12:], uint32(len(name)+pad))
	return append(append(b, name...), make([]byte, pad)...)
}

func TestNamesOfEvents(t *testing.T) {
	join := func(parts ...[]byte) (out []byte) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	tests := []struct {
		name string
		buf  []byte
		want bool
	}{
		{"nothing", nil, false},
		{"it", event(unix.IN_MOVED_TO, "x.txt", 3), true},
		{"another", event(unix.IN_MOVED_TO, "y.txt", 3), false},
		{"it as the second", join(event(unix.IN_CREATE, "y", 7), event(unix.IN_DELETE, "x.txt", 11)), true},
		{"lost events", event(unix.IN_Q_OVERFLOW, "", 0), true},
		{"cut off", event(unix.IN_CREATE, "y.txt", 3)[:18], true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := names(tt.buf, "x.txt"); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func FuzzNamesOfEvents(f *testing.F) {
	f.Add(event(unix.IN_CREATE, "x.txt", 3))
	f.Add(event(unix.IN_CREATE, "", 0)[:7])
	f.Fuzz(func(t *testing.T, buf []byte) {
		names(buf, "x.txt") // must end and must not read beyond the buffer
		if !names(append(event(unix.IN_CREATE, "x.txt", 0), buf...), "x.txt") {
			t.Fatal("the first event was not seen")
		}
	})
}
