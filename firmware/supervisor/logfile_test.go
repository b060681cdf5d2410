package supervisor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRotatedStaysWithinItsBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log", "homed.log")
	r := &rotated{path: path, max: 100, keep: 3}
	for i := range 60 {
		if _, err := fmt.Fprintf(r, "line %03d\n", i); err != nil {
			t.Fatal(err)
		}
		if i == 30 { // as after a restart
			r.close()
			r = &rotated{path: path, max: 100, keep: 3}
		}
	}
	r.close()
	var all string
	for _, name := range []string{path + ".2", path + ".1", path} {
		text, err := os.ReadFile(name)
		if err != nil || len(text) > 100 || len(text) == 0 {
			t.Errorf("%s has %d bytes, %v", name, len(text), err)
		}
		all += string(text)
	}
	// The newest lines, none missing and in order.
	first := 60 - strings.Count(all, "\n")
	for i, line := range strings.Split(strings.TrimSpace(all), "\n") {
		if line != fmt.Sprintf("line %03d", first+i) {
			t.Fatalf("line %d reads %q", i, line)
		}
	}
	if files, err := filepath.Glob(path + "*"); err != nil || len(files) != 3 {
		t.Errorf("files %q, %v", files, err)
	}
}

// A full file whose number is taken by a folder cannot be moved: an error, and
// the next line is tried again.
func TestRotatedThatCannotRotate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homed.log")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path+".1", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := &rotated{path: path, max: 100, keep: 2}
	defer r.close()
	if _, err := io.WriteString(r, "lost\n"); err == nil {
		t.Fatal("a line was written beyond the bound")
	}
	if err := os.RemoveAll(path + ".1"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(r, "kept\n"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "kept\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestRotatedRefusesWhatIsNoFile(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"link":   func(p string) error { return os.Symlink(other, p) },
		"pipe":   func(p string) error { return unix.Mkfifo(p, 0o600) },
		"folder": func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "homed.log")
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			r := &rotated{path: path, max: 100, keep: 2}
			defer r.close()
			if _, err := r.Write([]byte("x\n")); err == nil {
				t.Error("it was written")
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Write([]byte("x\n")); err != nil {
				t.Errorf("with the place free again: %v", err)
			}
		})
	}
}

// TestLogOnAFullDisk fills a real file system: nothing waits, nothing ends, and
// what was lost is told once there is room.
func TestLogOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("skipped: the right to mount is absent (%v)", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	ballast := filepath.Join(dir, "ballast")
	fill, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(fill, io.LimitReader(zeros{}, 1<<20)); err == nil {
		t.Fatal("the disk is not full")
	}
	fill.Close()
	path := filepath.Join(dir, "homed.log")
	r := &rotated{path: path, max: 8 << 10, keep: 3}
	defer r.close()
	q := newLineQueue()
	for range 20 {
		q.write(r, []byte(strings.Repeat("a", 600)+"\n"))
	}
	if lost := q.lost.Load(); lost < 20 {
		t.Errorf("%d lines count as lost", lost)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	q.write(r, []byte("again\n"))
	text, err := os.ReadFile(path)
	if err != nil || !bytes.HasSuffix(text, []byte("20 lines of the log were lost here\nagain\n")) || q.lost.Load() != 0 {
		t.Errorf("the log ends in %q, %v", text[max(0, len(text)-80):], err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// gate is a writer that takes nothing until it is opened, as a console whose
// other end is stopped.
type gate struct {
	open chan struct{}
	syncBuffer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.syncBuffer.Write(p)
}

func TestAStoppedConsoleHoldsNothingUp(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	q := newLineQueue()
	ctx, cancel := context.WithCancel(t.Context())
	go q.run(ctx, g)
	const more = 50
	for i := range queuedLines + more {
		q.put(fmt.Appendf(nil, "%d\n", i)) // would hang here
	}
	if q.lost.Load() == 0 {
		t.Error("no line counts as lost")
	}
	close(g.open)
	cancel()
	<-q.done
	if text := g.String(); !strings.Contains(text, "0\n1\n") && !strings.Contains(text, "lines of the log were lost") {
		t.Errorf("written %.80q", text)
	}
}

func TestWhatTheConsoleShows(t *testing.T) {
	tests := []struct {
		line string
		want bool
	}{
		{`agent: time=x level=INFO msg="plugin runs"`, false},
		{`door: time=x level=DEBUG msg=a`, false},
		{`homed: time=x level=DEBUG msg=a`, false},
		{`homed: time=x level=INFO msg="homed runs"`, true},
		{`agent: time=x level=WARN msg="no microphone"`, true},
		{`door: time=x level=ERROR msg=a`, true},
		{`door: 首次打开时输入此码 / code for the first visit: ABCD-EFGH`, true},
		{`agent: panic: runtime error`, true},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			if got := forConsole(tt.line); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestSinkWritesBoth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homed.log")
	console := &syncBuffer{}
	s := openSink(path, console)
	for _, line := range []string{"agent: level=INFO a\n", "agent: level=INFO msg=b c\n", "door: level=WARN msg=d\n"} {
		if _, err := s.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	s.close()
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "agent: level=INFO a\nagent: level=INFO msg=b c\ndoor: level=WARN msg=d\n" {
		t.Errorf("file %q, %v", text, err)
	}
	if got := console.String(); got != "door: level=WARN msg=d\n" {
		t.Errorf("console %q", got)
	}
}
