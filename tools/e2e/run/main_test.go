package main

import (
	"io"
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	lines := `{"Action":"output","Test":"TestA","Output":"    a_test.go:1: skipped: no recordings\n"}
{"Action":"skip","Test":"TestA"}
{"Action":"output","Test":"TestB","Output":"fine\n"}
{"Action":"pass","Test":"TestB"}
not json
{"Action":"fail","Test":"TestC/one"}
{"Action":"fail"}
`
	var shown strings.Builder
	var s summary
	if err := s.read(strings.NewReader(lines), &shown); err != nil {
		t.Fatal(err)
	}
	want := "e2e: 1 passed, 1 failed, 1 skipped\ne2e: FAILED TestC/one\ne2e: skipped TestA: no recordings\n"
	if got := s.text(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := shown.String(); !strings.Contains(got, "fine\n") || !strings.Contains(got, "not json") {
		t.Errorf("shown: %q", got)
	}
	if code := run(t.Context(), []string{"-nonsense"}, io.Discard, io.Discard); code != 2 {
		t.Errorf("exit code %d", code)
	}
}
