// Command escapes tries to get out of a sandbox on this machine, in every way
// that package sandboxtest knows, and prints one JSON object for each. It fails
// if one works. As the argument it takes the folder of control groups, version 2
// (/sys/fs/cgroup); without it the limits that need one are not tried.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"homeagent/firmware/sandbox"
	"homeagent/firmware/sandbox/sandboxtest"
)

// user is whom the sandboxes run as; nobody on the machine has it.
const user = 61234

func main() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Arg {
		sandbox.Main()
	}
	sandboxtest.Main()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "escapes:", err)
		os.Exit(1)
	}
}

func run() error {
	h, err := sandboxtest.NewHouse(user)
	if err != nil {
		return err
	}
	defer h.Close()
	if len(os.Args) > 1 {
		if h.Cgroup, err = sandbox.PrepareCgroup(os.Args[1], "escapes"); err != nil {
			return err
		}
	}
	bad := 0
	for _, r := range h.Run(context.Background()) {
		line := struct {
			sandboxtest.Result
			Err string `json:"error,omitempty"`
		}{Result: r}
		if r.Err != nil {
			line.Err = r.Err.Error()
		}
		if !r.Held || r.Err != nil {
			bad++
		}
		json.NewEncoder(os.Stdout).Encode(line)
	}
	if bad > 0 {
		return fmt.Errorf("%d attempts worked, or could not be judged", bad)
	}
	return nil
}
