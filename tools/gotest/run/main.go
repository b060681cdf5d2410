// Command run is what `make test` runs: go test with the arguments that it is
// given, each skipped test named at the end. With HOMEAGENT_MUST_RUN=1 a skip
// that tools/setup could have spared is a failure.
//
// Exit codes: 0 all is well; 1 something failed or was skipped that must run.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"homeagent/tools/gotest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := gotest.Options{Stdout: os.Stdout, Stderr: os.Stderr, MustRun: os.Getenv(gotest.MustRun) == "1"}
	s, err := gotest.Run(ctx, o, os.Args[1:]...)
	fmt.Print(s.Text("test"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "test:", err)
		stop()
		os.Exit(1)
	}
}
