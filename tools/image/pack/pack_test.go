package pack

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func archive(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	c := NewCpio(&b, 1700000000)
	for _, e := range []Entry{
		{Name: "bin", Mode: ModeDir | 0o755},
		{Name: "bin/odd", Mode: ModeFile | 0o755, Data: []byte("12345")},
		{Name: "bin/sh", Mode: ModeLink | 0o777, Data: []byte("odd")},
		{Name: "empty", Mode: ModeFile | 0o644},
	} {
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCpioForm(t *testing.T) {
	b := archive(t)
	if len(b)%512 != 0 || !bytes.HasPrefix(b, []byte("070701")) || !bytes.Contains(b, []byte(trailer)) {
		t.Errorf("%d bytes, beginning %q", len(b), b[:6])
	}
	if !bytes.Equal(b, archive(t)) {
		t.Error("two archives of the same differ")
	}
	for _, name := range []string{"", "/x", "a\x00b", trailer} {
		if err := NewCpio(io.Discard, 0).Add(Entry{Name: name, Mode: ModeFile}); err == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
}

func TestCpioIsReadByCpio(t *testing.T) {
	program, err := exec.LookPath("cpio")
	if err != nil {
		t.Skip("skipped: cpio is absent")
	}
	dir := t.TempDir()
	cmd := exec.Command(program, "-id", "--quiet", "--no-preserve-owner")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(archive(t))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "bin/sh")); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
}

// FuzzCpio holds that every archive is whole blocks that begin with a head.
func FuzzCpio(f *testing.F) {
	f.Add("a", []byte("x"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		var b bytes.Buffer
		c := NewCpio(&b, 0)
		if c.Add(Entry{Name: name, Mode: ModeFile, Data: data}) != nil {
			return
		}
		if err := c.Close(); err != nil || b.Len()%512 != 0 {
			t.Errorf("%d bytes, %v", b.Len(), err)
		}
		want := fmt.Sprintf("%08X", len(data))
		if got := b.String()[54:62]; got != want {
			t.Errorf("size %s, want %s", got, want)
		}
	})
}

func TestTar(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"b": 0o600, "a/x": 0o755} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("b", filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Tar(&b, dir, 42); err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(&b); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !h.ModTime.Equal(time.Unix(42, 0)) {
			t.Errorf("%s belongs to %d:%d at %v", h.Name, h.Uid, h.Gid, h.ModTime)
		}
		got = append(got, fmt.Sprintf("%s %o%s", h.Name, h.Mode, h.Linkname))
	}
	if s := strings.Join(got, ", "); s != "a/ 700, a/x 755, b 600, c 777b" {
		t.Error(s)
	}
}
