package card

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeagent/memory/disk/disktest"
)

const authorized = "system/ssh/authorized_keys"

// TestSSHOff: none takes the keys away for as long as it stands there, and a key
// in its place is taken again.
func TestSSHOff(t *testing.T) {
	for _, off := range []string{"none", "None", "off", "无", "关"} {
		t.Run(off, func(t *testing.T) {
			b := newBox(t, map[string]string{FileName: "ssh_key=" + sshKey + "\n"})
			b.run()
			if b.file(authorized) != sshKey+"\n" {
				t.Fatalf("no key to begin with: %q", b.file(authorized))
			}
			b.edit("ssh_key="+sshKey, "ssh_key="+off)
			r := b.run()
			if b.file(authorized) != "" || len(r.Notes) != 0 || len(r.Done) != 1 || !strings.Contains(r.Done[0], "SSH is off") {
				t.Errorf("%q, %+v", b.file(authorized), r)
			}
			if r := b.run(); len(r.Done)+len(r.Notes) != 0 {
				t.Errorf("the next boot says %+v", r)
			}
			b.write(authorized, sshKey+"\n") // somebody else's doing
			if b.run(); b.file(authorized) != "" {
				t.Error("a key that came later stays")
			}
			b.edit("ssh_key="+off, "ssh_key=")
			if b.run(); b.file(authorized) != "" {
				t.Error("an empty line brings the key back")
			}
			b.edit("ssh_key=", "ssh_key="+sshKey)
			if b.run(); b.file(authorized) != sshKey+"\n" {
				t.Error("the key is not taken again")
			}
		})
	}
}

// TestSSHOffGoesBeforeImager: its keys are taken away too, and that it asks for
// SSH is no reason for a note.
func TestSSHOffGoesBeforeImager(t *testing.T) {
	custom := "[ssh]\nenabled = true\nauthorized_keys = [\"" + sshKey + "\"]\n"
	b := newBox(t, map[string]string{"custom.toml": custom, "ssh": ""})
	b.run()
	if b.file(authorized) == "" {
		t.Fatal("Imager's key is not taken")
	}
	b.put(FileName, "ssh_key=none\n")
	if r := b.run(); b.file(authorized) != "" || len(r.Notes) != 0 {
		t.Errorf("%q, %+v", b.file(authorized), r.Notes)
	}
}

// TestSSHOffCut: after a cut at any step the next boot ends without keys, and a
// key that cannot be removed is told.
func TestSSHOffCut(t *testing.T) {
	for n := 0; ; n++ {
		b := newBox(t, map[string]string{FileName: "ssh_key=" + sshKey + "\n"})
		b.run()
		b.put(FileName, "ssh_key=none\n")
		o := b.options()
		fs := &disktest.Cut{Left: n, Err: errors.New("power is gone")}
		o.FS = fs
		r := Run(o)
		if n == 0 && (len(r.Notes) != 1 || !r.Notes[0].Say) {
			t.Errorf("not told: %+v", r.Notes)
		}
		b.run()
		if _, err := os.Lstat(filepath.Join(b.data, authorized)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("cut at %d: %v", n, err)
		}
		if fs.Left >= 0 {
			if n < 3 {
				t.Errorf("only %d steps were cut", n)
			}
			return
		}
	}
}
