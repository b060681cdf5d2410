package card

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"homeagent/memory/disk/disktest"
)

// TestCutAnywhere cuts the power at every step of a boot: each secret lies
// whole on the card or on the data partition, and the next boot ends as if
// nothing had happened.
func TestCutAnywhere(t *testing.T) {
	files := map[string]string{FileName: full, "userconf.txt": "anna:" + imagerHash + "\n"}
	whole := newBox(t, files)
	whole.run()
	want := whole.all()
	psk, err := Network{Name: "客厅 $HOME", Password: `it's "a" \secret!`}.psk()
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for n := 0; ; n++ {
		b := newBox(t, files)
		o := b.options()
		fs := &disktest.Cut{Left: n, Err: errors.New("power is gone")}
		o.FS = fs
		Run(o)
		// What a step after the cut left beside the files does not count.
		card := b.card(FileName)
		if card != full && card != want["/setup/"+FileName] {
			t.Fatalf("cut at %d: the card says %q", n, card)
		}
		if !strings.Contains(card, `it's "a" \secret!`) && !strings.Contains(b.file("system/wifi/wpa_supplicant.conf"), psk) {
			t.Errorf("cut at %d: the password of the Wi-Fi is lost", n)
		}
		if !strings.Contains(card, "sk-0123456789") && b.file("homeagent/secrets/openai") != "sk-0123456789" {
			t.Errorf("cut at %d: the key is lost", n)
		}
		b.run()
		got := b.all()
		maps.DeleteFunc(got, func(path, _ string) bool { return strings.HasSuffix(path, ".new") })
		if !maps.Equal(got, want) {
			for path := range want {
				if got[path] != want[path] {
					t.Errorf("cut at %d: %s is %q, want %q", n, path, got[path], want[path])
				}
			}
		}
		for path, text := range b.all() {
			if strings.HasPrefix(path, "/setup/") && strings.Contains(text, "secret!") {
				t.Errorf("cut at %d: %s holds a secret", n, path)
			}
		}
		if fs.Left >= 0 {
			break
		}
		steps++
	}
	if steps < 30 {
		t.Errorf("only %d steps were cut", steps)
	}
}

// TestFull: nothing is blanked that could not be kept, and people are told.
func TestFull(t *testing.T) {
	b := newBox(t, map[string]string{FileName: full})
	o := b.options()
	o.FS = &disktest.Cut{Err: syscall.ENOSPC}
	r := Run(o)
	if b.card(FileName) != full || b.mounts != 0 {
		t.Errorf("the card says %q", b.card(FileName))
	}
	if len(r.Notes) == 0 || !strings.Contains(r.Notes[0].EN, "partition is full") || !strings.Contains(r.Notes[0].ZH, "满了") || !r.Notes[0].Say {
		t.Errorf("%+v", r.Notes)
	}
}

// TestCardReadOnly: what was taken is used, though it cannot be blanked.
func TestCardReadOnly(t *testing.T) {
	b := newBox(t, map[string]string{FileName: full})
	o := b.options()
	o.Writable = func(func() error) error { return syscall.EROFS }
	r := Run(o)
	if b.file("homeagent/secrets/openai") == "" || b.card(FileName) != full || len(r.Notes) != 2 || !strings.Contains(r.Notes[1].EN, "could not be removed") {
		t.Errorf("%+v", r.Notes)
	}
	// At the next boot nothing is taken twice, so that a change on the page stays.
	b.write("system/wifi/wpa_supplicant.conf", "network={}\n")
	Run(o)
	if got := b.file("system/wifi/wpa_supplicant.conf"); got != "network={}\n" {
		t.Errorf("%q", got)
	}
}

// TestOldBlocks: the blocks of the old file do not keep the secret.
func TestOldBlocks(t *testing.T) {
	b := newBox(t, map[string]string{FileName: full})
	old, err := os.Open(filepath.Join(b.setup, FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	b.run()
	text := make([]byte, len(full))
	if n, err := old.Read(text); err != nil || strings.Trim(string(text[:n]), "\x00") != "" {
		t.Errorf("%q, %v", text[:n], err)
	}
}

func TestBrokenConfig(t *testing.T) {
	b := newBox(t, map[string]string{FileName: full})
	if err := os.Mkdir(filepath.Join(b.data, "homeagent"), 0o750); err != nil {
		t.Fatal(err)
	}
	b.write("homeagent/config.yaml", "a: [\n")
	r := b.run("sk-0123456789")
	if b.file("homeagent/config.yaml") != "a: [\n" || !strings.Contains(b.card(FileName), "llm_key=sk-0123456789") || strings.Contains(b.card(FileName), "secret!") || len(r.Notes) != 1 {
		t.Errorf("%s\n%+v", b.card(FileName), r.Notes)
	}
}
