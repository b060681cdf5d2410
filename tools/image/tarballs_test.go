package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestTarballs: what lies there already is taken if it is the very one, without
// asking a mirror; what the store has is laid down under its name; packages for
// Debian's image are no concern.
func TestTarballs(t *testing.T) {
	source, cache, dir := t.TempDir(), t.TempDir(), t.TempDir()
	sum := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	lock := fmt.Sprintf("root deb 1 bookworm pool/d.deb 4 %s\ntarball kept 1 trixie pool/kept.orig.tar.gz 4 %s\ntarball stored 1 trixie pool/stored.orig.tar.gz 6 %s\n",
		sum("none"), sum("kept"), sum("stored"))
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(source, lockName), lock)
	write(filepath.Join(dir, "kept.orig.tar.gz"), "kept")
	write(filepath.Join(dir, "stored.orig.tar.gz"), "broken")
	write(filepath.Join(cache, "debian", sum("stored")[:16]+"_stored.orig.tar.gz"), "stored")
	b := builder{source: source, cache: cache, log: io.Discard}
	if err := b.tarballs(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"kept.orig.tar.gz": "kept", "stored.orig.tar.gz": "stored"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 2 {
		t.Errorf("%v, %v", names, err)
	}
}
