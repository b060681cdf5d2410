package gotest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
)

// MustRun is the environment variable that, set to 1, makes a skip a failure.
const MustRun = "HOMEAGENT_MUST_RUN"

// Options say how a run is shown and judged.
type Options struct {
	// Stdout takes what the tests print, Stderr what the go command says.
	Stdout, Stderr io.Writer
	// All shows every line as it comes; else a test's lines are shown when it fails.
	All bool
	// MustRun makes a skip that is not allowed a failure.
	MustRun bool
}

// Run runs `go test -json` with the arguments. The error is that of the go
// command, a stream that cannot be read, or a *SkippedError; the Summary is
// filled as far as the run came.
func Run(ctx context.Context, o Options, args ...string) (Summary, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = o.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return Summary{}, fmt.Errorf("go test: %w", err)
	}
	s, err := Read(out, o)
	if err != nil {
		// A command that nobody reads would wait for ever.
		_, drain := io.Copy(io.Discard, out)
		err = errors.Join(err, drain)
	}
	if werr := cmd.Wait(); werr != nil {
		err = errors.Join(err, fmt.Errorf("go test: %w", werr))
	}
	if wrong := s.wrong(); o.MustRun && len(wrong) > 0 {
		err = errors.Join(err, &SkippedError{wrong})
	}
	return s, err
}

// SkippedError names tests that were skipped and must not be.
type SkippedError struct{ Tests []Skip }

// Error lists them with their reasons.
func (e *SkippedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tests were skipped that must run; tools/setup brings what they lack:", len(e.Tests))
	for _, t := range e.Tests {
		b.WriteString("\n  " + t.String())
	}
	return b.String()
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// where is a test of a package; the empty name is the package itself.
type where struct{ pkg, test string }

// Read reads the lines of go test -json and shows them as o says.
func Read(r io.Reader, o Options) (Summary, error) {
	var s Summary
	lines := map[where][]string{} // of tests that have not ended
	in := bufio.NewScanner(r)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var e event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			fmt.Fprintln(o.Stdout, in.Text()) // what the go command itself prints
			continue
		}
		at := where{e.Package, e.Test}
		switch e.Action {
		case "build-output":
			io.WriteString(o.Stdout, e.Output)
		case "output":
			if e.Test != "" {
				lines[at] = append(lines[at], e.Output)
			}
			if o.All || e.Test == "" && e.Output != "PASS\n" {
				io.WriteString(o.Stdout, e.Output)
			}
		case "pass", "skip", "fail":
			s.end(e, lines[at])
			if e.Action == "fail" && !o.All {
				show(o.Stdout, lines, at)
			}
			delete(lines, at)
		}
	}
	return s, in.Err()
}

// show prints what a test that failed has said. A package that failed has
// perhaps ended in the middle of tests, which get no end of their own.
func show(w io.Writer, lines map[where][]string, at where) {
	for other, text := range lines {
		if other == at || at.test == "" && other.pkg == at.pkg {
			io.WriteString(w, strings.Join(text, ""))
			delete(lines, other)
		}
	}
}

// Skip is a test that was skipped.
type Skip struct{ Package, Test, Reason string }

// String is one line.
func (s Skip) String() string {
	return strings.TrimPrefix(s.Package, "homeagent/") + " " + s.Test + ": " + s.Reason
}

// Summary is how the tests ended; a test and each of its subtests count.
type Summary struct {
	Passed int
	// Failed are the names of tests, with the package before them; a package
	// that does not build or ends outside its tests is named alone.
	Failed  []string
	Skipped []Skip
}

func (s *Summary) end(e event, lines []string) {
	name := strings.TrimPrefix(e.Package, "homeagent/")
	switch {
	case e.Action == "fail" && e.Test != "":
		s.Failed = append(s.Failed, name+" "+e.Test)
	case e.Action == "fail":
		for _, f := range s.Failed {
			if strings.HasPrefix(f, name+" ") {
				return // said by the test
			}
		}
		s.Failed = append(s.Failed, name)
	case e.Test == "": // a package: its tests are counted
	case e.Action == "pass":
		s.Passed++
	default:
		s.Skipped = append(s.Skipped, Skip{e.Package, e.Test, reason(lines)})
	}
}

// message is the first line of what a test says: "    file_test.go:12: text".
var message = regexp.MustCompile(`^\s+\S+\.go:\d+: (.*)`)

// reason is the last message among a test's lines.
func reason(lines []string) string {
	last := ""
	for _, l := range lines {
		if m := message.FindStringSubmatch(l); m != nil {
			last = m[1]
		}
	}
	return strings.TrimPrefix(last, "skipped: ")
}

// Text is the summary for people; each line begins with the prefix.
func (s Summary) Text(prefix string) string {
	var b strings.Builder
	for _, t := range s.Skipped {
		fmt.Fprintf(&b, "%s: skipped %s\n", prefix, t)
	}
	for _, name := range s.Failed {
		fmt.Fprintf(&b, "%s: FAILED %s\n", prefix, name)
	}
	fmt.Fprintf(&b, "%s: %d passed, %d failed, %d skipped\n", prefix, s.Passed, len(s.Failed), len(s.Skipped))
	return b.String()
}
