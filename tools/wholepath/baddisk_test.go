package wholepath

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// mounted is a small file system in memory, or a skip where it cannot be made.
func mounted(t testing.TB, size string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("skipped: no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// remount changes how it is mounted.
func remount(t testing.TB, dir, how string) {
	t.Helper()
	flags := uintptr(unix.MS_REMOUNT)
	if how == "ro" {
		flags |= unix.MS_RDONLY
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", flags, ""); err != nil {
		t.Skipf("skipped: a file system cannot be mounted %s here: %v", how, err)
	}
}

// fill takes all the space there is; the result gives it back.
func fill(t testing.TB, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 64<<10)
	for {
		_, err := f.Write(block)
		if err == nil {
			continue
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		if len(block) == 1 {
			break
		}
		block = block[:max(1, len(block)/16)]
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// full is what a person must be told.
var full = regexp.MustCompile(`(?i)disk .*full|no space.*free|full.*free`)

// TestFullDisk runs out of space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	t.Run("at the first start", func(t *testing.T) {
		t.Parallel()
		dir := mounted(t, "24m")
		configure(t, dir, quiet)
		free := fill(t, dir)
		h := start(t, dir)
		// It ends and says so, or runs and says so.
		eventually(t, startWait, "somebody is told", func() bool { return full.MatchString(h.log.String()) })
		if ended(h) {
			t.Log(tail(h.log.String(), 1))
			free()
			h = start(t, dir)
		} else {
			h.told(t)
			free()
		}
		h.ready()
		h.unhurt(h.pids())
	})
	t.Run("at a later start", func(t *testing.T) {
		t.Parallel()
		dir := mounted(t, "24m")
		configure(t, dir, quiet)
		h := start(t, dir)
		h.ready()
		h.say("turn on the bedroom lamp")
		h.say("remember that my passport is in the drawer")
		h.stop()
		free := fill(t, dir)
		h = start(t, dir)
		if waited(startWait/6, func() bool { _, err := h.trySay("what time is it"); return err == nil }) {
			t.Log("it runs on the full disk")
		} else {
			h.told(t)
		}
		free()
		h.homectl(turnWait, "restart", "agent") // need not wait out the pause between starts
		h.ready()
		if !h.lamps()["bedroom_lamp"] || !strings.Contains(h.say("where is my passport"), "drawer") {
			t.Error("something was lost")
		}
		h.unhurt(h.pids())
	})
	t.Run("during a turn", func(t *testing.T) {
		t.Parallel()
		dir := mounted(t, "24m")
		configure(t, dir, quiet)
		h := start(t, dir)
		h.ready()
		h.say("turn on the bedroom lamp")
		h.say("remember that my passport is in the drawer")
		before := h.pids()
		free := fill(t, dir)
		for _, text := range []string{"turn on the kitchen lamp", "remember that my key is under the mat", "set a timer for two hours", "turn off the bedroom lamp"} {
			out, bad, code := h.homectl(turnWait, "say", text)
			t.Logf("%s: exit %d, %s %s", text, code, strings.TrimSpace(out), strings.TrimSpace(bad))
			if code == -1 {
				t.Errorf("%s: the turn is stuck", text)
			}
			// What could not be kept must not be claimed.
			if code == 0 && !full.MatchString(out+bad) && !h.kept(text) {
				t.Errorf("%q is answered with %q, and it is not so", text, out)
			}
			if code != 0 && !full.MatchString(out+bad) {
				t.Errorf("%q: what to do is not said: %q %q", text, out, bad)
			}
		}
		free()
		h.unhurt(before)
		if !strings.Contains(h.say("where is my passport"), "drawer") {
			t.Error("the passport is lost")
		}
		if got := h.say("turn on the living room lamp"); !strings.Contains(got, "on") || !h.lamps()["living_room_lamp"] {
			t.Errorf("afterwards: %q", got)
		}
	})
}

// kept reports whether what a text asked for is so.
func (h *house) kept(text string) bool {
	switch {
	case strings.Contains(text, "on the kitchen lamp"):
		return h.lamps()["kitchen_lamp"]
	case strings.Contains(text, "off the bedroom lamp"):
		return !h.lamps()["bedroom_lamp"]
	case strings.Contains(text, "timer"):
		a, err := h.trySay("what timers are running")
		return err != nil || strings.Contains(a.Text, "left")
	default:
		a, err := h.trySay("where is my key")
		return err != nil || strings.Contains(a.Text, "mat")
	}
}

func ended(h *house) bool {
	select {
	case <-h.homed.ended:
		return true
	default:
		return false
	}
}

// told checks that `homectl status` says that the disk is full.
func (h *house) told(t *testing.T) {
	t.Helper()
	said := ""
	if !waited(startWait, func() bool {
		out, bad, _ := h.homectl(turnWait, "status")
		said = out + bad
		return full.MatchString(said)
	}) {
		t.Errorf("homectl status does not tell that the disk is full:\n%s", said)
	}
}
