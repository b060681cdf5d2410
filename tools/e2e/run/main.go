// Command run is `make e2e`: it builds the image, runs the tests of tools/e2e on
// it, shows what they print as they go, and says at the end what passed, what
// failed and what was skipped, and why.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"homeagent/tools/gotest"
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
	o := gotest.Options{Stdout: stdout, Stderr: stderr, All: true, MustRun: os.Getenv(gotest.MustRun) == "1"}
	s, err := gotest.Run(ctx, o, "-count=1", "-tags", "sqlite_fts5 e2e", "-timeout", limit.String(), "-run", *only, "-skip", *skip, "./tools/e2e")
	left := ""
	if *skip != "" {
		left = "e2e: left out on request: " + *skip + "\n"
	}
	fmt.Fprintf(stdout, "\n%s%se2e: %.0f s in all\n", s.Text("e2e"), left, time.Since(began).Seconds())
	if err != nil {
		fmt.Fprintln(stderr, "e2e:", err)
		return 1
	}
	return 0
}
