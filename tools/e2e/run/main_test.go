package main

import (
	"io"
	"testing"
)

func TestWrongUse(t *testing.T) {
	if code := run(t.Context(), []string{"-nonsense"}, io.Discard, io.Discard); code != 2 {
		t.Errorf("exit code %d", code)
	}
}
