package debian

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

const sum = "21dbfd7fe193b127636814284b109382589eaa544a159d4b73b1cdae20a0094f"

func pin(name string) string {
	return "root " + name + " 1.0-1 bookworm pool/main/x/" + name + ".deb 10 " + sum + "\n"
}

func TestParseLock(t *testing.T) {
	rows := []struct{ name, text, fails string }{
		{"empty", "", ""},
		{"two in order", pin("a") + pin("b"), ""},
		{"comment", "# words\n\n" + pin("a"), ""},
		{"out of order", pin("b") + pin("a"), "line 2"},
		{"twice", pin("a") + pin("a"), "twice"},
		{"half a line", "root a 1.0\n", "3 words"},
		{"unknown purpose", strings.Replace(pin("a"), "root", "boot", 1), "purpose"},
		{"no size", strings.Replace(pin("a"), " 10 ", " ten ", 1), "size"},
		{"negative size", strings.Replace(pin("a"), " 10 ", " -1 ", 1), "size"},
		{"short sum", strings.Replace(pin("a"), sum, sum[1:], 1), "SHA-256"},
		{"sum in capitals", strings.Replace(pin("a"), sum, strings.ToUpper(sum), 1), "SHA-256"},
		{"path leaves the pool", strings.Replace(pin("a"), "pool/main", "pool/../..", 1), "path"},
		{"absolute path", strings.Replace(pin("a"), "pool/", "/pool/", 1), "path"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := ParseLock([]byte(row.text))
			if (err != nil) != (row.fails != "") || err != nil && !strings.Contains(err.Error(), row.fails) {
				t.Errorf("error %v, want one with %q", err, row.fails)
			}
			var le *LockError
			if err != nil && !errors.As(err, &le) {
				t.Errorf("%T is no LockError", err)
			}
		})
	}
}

func TestTheLockItself(t *testing.T) {
	text, err := os.ReadFile("../debian.lock")
	if err != nil {
		t.Fatal(err)
	}
	l, err := ParseLock(text)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(l.Bytes(), text) {
		t.Error("the lock is not as image-lock writes it")
	}
	for _, name := range []string{"busybox-static", "raspi-firmware", "u-boot", "libc6"} {
		if len(l.Package(name)) == 0 {
			t.Errorf("%s is not pinned", name)
		}
	}
}

// FuzzLock holds the law that what parses prints back to what parses the same.
func FuzzLock(f *testing.F) {
	f.Add([]byte(pin("a") + pin("b")))
	f.Add([]byte("# x\nroot a\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ParseLock(b)
		if err != nil {
			return
		}
		again, err := ParseLock(l.Bytes())
		if err != nil || !bytes.Equal(again.Bytes(), l.Bytes()) {
			t.Errorf("%q does not come back: %v", b, err)
		}
	})
}
