package house

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoRegistryIsNamed: packages come by their ordinary clients, from wherever
// the computer's own settings say; a host name in the tree would go past them.
func TestNoRegistryIsNamed(t *testing.T) {
	// In halves, so that this file is no find of its own.
	hosts := []string{"registry." + "npmjs", "proxy." + "golang", "pypi." + "org", "pythonhosted." + "org", "deb." + "debian.org",
		"security." + "debian.org", "snapshot." + "debian.org", "crates" + ".io"}
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the tree's files: %v", err)
	}
	n := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
		for _, host := range hosts {
			if i := bytes.Index(text, []byte(host)); i >= 0 {
				t.Errorf("%s, line %d, names %s", name, 1+bytes.Count(text[:i], []byte("\n")), host)
			}
		}
	}
	if n < 100 {
		t.Fatalf("only %d files were looked at", n)
	}
}
