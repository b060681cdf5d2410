package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestArguments(t *testing.T) {
	for _, row := range []struct {
		name string
		args []string
		code int
	}{
		{"an unknown flag", []string{"-nonsense"}, 2},
		{"help", []string{"-help"}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			if code := run(t.Context(), row.args, io.Discard, io.Discard); code != row.code {
				t.Errorf("exit code %d, want %d", code, row.code)
			}
		})
	}
}

func TestNewerThan(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name string, age time.Duration) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
	}
	if !newerThan("image") {
		t.Error("no image is newer than its sources")
	}
	write("image", time.Hour)
	write("agent/a.go", 2*time.Hour)
	if newerThan("image") {
		t.Error("an older source counts")
	}
	write("agent/a_test.go", 0)
	if newerThan("image") {
		t.Error("a test counts")
	}
	write("overlay/etc/passwd", 0)
	if !newerThan("image") {
		t.Error("a newer source does not count")
	}
}
