// Command run is `make e2e`: it builds the image, runs the tests of tools/e2e on
// it, shows what they print as they go, and says at the end what passed, what
// failed and what was skipped, and why.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("run", "", "only the tests that fit, as with go test")
	skip := flags.String("skip", "", "leave out the tests that fit, as with go test; they are named at the end")
	keep := flags.Bool("keep", false, "take the image that is there instead of building one")
	limit := flags.Duration("timeout", 30*time.Minute, "end of the tests")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	began := time.Now()
	if !*keep {
		build := exec.CommandContext(ctx, "go", "run", "./tools/image", "-board", "rpi3-64", "-raw")
		build.Stdout, build.Stderr = stdout, stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(stderr, "e2e: build the image:", err)
			return 1
		}
		fmt.Fprintf(stdout, "e2e: the image took %.0f s\n", time.Since(began).Seconds())
	}
	test := exec.CommandContext(ctx, "go", "test", "-json", "-count=1", "-tags", "sqlite_fts5 e2e", "-timeout", limit.String(), "-run", *only, "-skip", *skip, "./tools/e2e")
	test.Stderr = stderr
	out, err := test.StdoutPipe()
	if err == nil {
		err = test.Start()
	}
	if err != nil {
		fmt.Fprintln(stderr, "e2e:", err)
		return 1
	}
	var s summary
	readErr := s.read(out, stdout)
	err = errors.Join(readErr, test.Wait())
	left := ""
	if *skip != "" {
		left = "e2e: left out on request: " + *skip + "\n"
	}
	fmt.Fprintf(stdout, "\n%s%se2e: %.0f s in all\n", s.text(), left, time.Since(began).Seconds())
	if err != nil {
		fmt.Fprintln(stderr, "e2e:", err)
		return 1
	}
	return 0
}

// event is a line of go test -json.
type event struct {
	Action, Test, Output string
	Elapsed              float64
}

// summary collects how the tests ended.
type summary struct {
	passed          int
	failed, skipped []string
	reasons         map[string]string // by test, the last line that says why it skips
}

// read shows what the tests print and remembers how they end.
func (s *summary) read(r io.Reader, show io.Writer) error {
	s.reasons = map[string]string{}
	in := bufio.NewScanner(r)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var e event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			fmt.Fprintln(show, in.Text()) // what the go command itself prints
			continue
		}
		switch e.Action {
		case "output", "build-output":
			io.WriteString(show, e.Output)
			if _, why, ok := strings.Cut(e.Output, "skipped: "); ok {
				s.reasons[e.Test] = strings.TrimSpace(why)
			}
		case "pass":
			if e.Test != "" {
				s.passed++
			}
		case "fail":
			if e.Test != "" {
				s.failed = append(s.failed, e.Test)
			}
		case "skip":
			if e.Test != "" {
				s.skipped = append(s.skipped, e.Test+": "+s.reasons[e.Test])
			}
		}
	}
	return in.Err()
}

// text is the summary for people.
func (s *summary) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "e2e: %d passed, %d failed, %d skipped\n", s.passed, len(s.failed), len(s.skipped))
	for _, name := range s.failed {
		fmt.Fprintf(&b, "e2e: FAILED %s\n", name)
	}
	for _, name := range s.skipped {
		fmt.Fprintf(&b, "e2e: skipped %s\n", name)
	}
	return b.String()
}
