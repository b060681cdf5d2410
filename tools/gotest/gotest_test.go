package gotest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const lines = `{"Action":"start","Package":"homeagent/a"}
{"Action":"output","Package":"homeagent/a","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"homeagent/b","Test":"TestA","Output":"    b_test.go:1: other package\n"}
{"Action":"output","Package":"homeagent/a","Test":"TestA","Output":"    a_test.go:1: a log\n"}
{"Action":"output","Package":"homeagent/a","Test":"TestA","Output":"    a_test.go:9: skipped: no recordings at ../shared/audio/wake\n"}
{"Action":"output","Package":"homeagent/a","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"homeagent/a","Test":"TestA"}
{"Action":"output","Package":"homeagent/a","Test":"TestB","Output":"    a_test.go:2: of no interest\n"}
{"Action":"pass","Package":"homeagent/a","Test":"TestB"}
not json
{"Action":"output","Package":"homeagent/a","Output":"PASS\n"}
{"Action":"output","Package":"homeagent/a","Output":"ok  \thomeagent/a\t0.1s\n"}
{"Action":"pass","Package":"homeagent/a"}
{"Action":"skip","Package":"homeagent/empty"}
{"Action":"output","Package":"homeagent/b","Test":"TestA/one","Output":"    b_test.go:3: sox is not installed\n"}
{"Action":"skip","Package":"homeagent/b","Test":"TestA/one"}
{"Action":"output","Package":"homeagent/b","Test":"TestA/two","Output":"    b_test.go:4: broken\n"}
{"Action":"fail","Package":"homeagent/b","Test":"TestA/two"}
{"Action":"fail","Package":"homeagent/b","Test":"TestA"}
{"Action":"fail","Package":"homeagent/b"}
{"Action":"output","Package":"homeagent/c","Test":"TestHangs","Output":"panic: test timed out\n"}
{"Action":"output","Package":"homeagent/c","Output":"FAIL\thomeagent/c\t540.0s\n"}
{"Action":"fail","Package":"homeagent/c"}
{"ImportPath":"homeagent/d","Action":"build-output","Output":"d.go:1:1: expected package\n"}
{"ImportPath":"homeagent/d","Action":"build-fail"}
{"Action":"fail","Package":"homeagent/d"}
`

func TestRead(t *testing.T) {
	var shown strings.Builder
	s, err := Read(strings.NewReader(lines), Options{Stdout: &shown})
	if err != nil {
		t.Fatal(err)
	}
	want := `test: skipped a TestA: no recordings at ../shared/audio/wake
test: skipped b TestA/one: sox is not installed
test: FAILED b TestA/two
test: FAILED b TestA
test: FAILED c
test: FAILED d
test: 1 passed, 4 failed, 2 skipped
`
	if got := s.Text("test"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for _, text := range []string{"not json", "ok  \thomeagent/a", "b_test.go:4: broken", "other package", "test timed out", "FAIL\thomeagent/c", "expected package"} {
		if strings.Count(shown.String(), text) != 1 {
			t.Errorf("%q is not shown once in\n%s", text, shown.String())
		}
	}
	for _, text := range []string{"of no interest", "PASS", "SKIP"} {
		if strings.Contains(shown.String(), text) {
			t.Errorf("%q is shown", text)
		}
	}
	if wrong := s.wrong(); len(wrong) != 1 || wrong[0].Test != "TestA/one" {
		t.Errorf("not to be skipped: %v", wrong)
	}
}

func TestReadAll(t *testing.T) {
	var shown strings.Builder
	if _, err := Read(strings.NewReader(lines), Options{Stdout: &shown, All: true}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"of no interest", "b_test.go:4: broken", "--- SKIP"} {
		if strings.Count(shown.String(), text) != 1 {
			t.Errorf("%q is not shown once", text)
		}
	}
}

func TestExcused(t *testing.T) {
	for reason, want := range map[string]bool{
		"the list of Buildroot's options is absent: ../shared/buildroot/options-2026.05.1.txt.xz": true,
		"root is absent; only root can be another user":                                           true,
		"mounting needs root": true,
		"no small file system can be mounted here (operation not permitted)": true,
		"a file system cannot be mounted ro here: operation not permitted":   true,
		"the right to mount is absent (operation not permitted)":             true,
		"it takes ten minutes; WHOLEPATH_LONG=1 runs it":                     true,
		"wpa_supplicant is not installed":                                    false,
		"cpio is absent":                                                     false,
		"no models folder has wake/bank.bin; tools/setup brings it":          false,
		"": false,
	} {
		if got := excused(reason); got != want {
			t.Errorf("%q: %t", reason, got)
		}
	}
}

// TestRun runs the go command over a module of its own.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module trial\n\ngo 1.24\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestSkips(t *testing.T) { t.Skip(\"flite is not installed\") }\nfunc TestPasses(t *testing.T) {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, must := range []bool{false, true} {
		s, err := Run(t.Context(), Options{Stdout: io.Discard, Stderr: io.Discard, MustRun: must}, "./...")
		var skipped *SkippedError
		if errors.As(err, &skipped) != must || !must && err != nil {
			t.Errorf("must run %t: %v", must, err)
		}
		if s.Passed != 1 || len(s.Skipped) != 1 || s.Skipped[0].Reason != "flite is not installed" {
			t.Errorf("%+v", s)
		}
	}
	if _, err := Run(t.Context(), Options{Stdout: io.Discard, Stderr: io.Discard}, "./nowhere"); err == nil {
		t.Error("a package that is not there passes")
	}
}
