package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"homeagent/firmware/config"
	"homeagent/firmware/supervisor"
)

var version = "dev" // set by the linker

func main() {
	if len(os.Args) > 1 && os.Args[1] == "door" {
		os.Exit(doorMain())
	}
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	flags := flag.NewFlagSet("homed", flag.ContinueOnError)
	cfg := flags.String("config", "", "config.yaml; default: the one in the data folder")
	data := flags.String("data", "", "data folder; default: /var/lib/homeagent for root, ~/.local/share/homeagent else")
	show := flags.Bool("version", false, "print the version")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if *show {
		fmt.Println(version)
		return 0
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "homed: %q is not understood; usage: homed [-config FILE] [-data FOLDER]\n", flags.Arg(0))
		return 2
	}
	if *data == "" && *cfg != "" {
		*data = configured(*cfg)
	}
	if *data == "" {
		*data = defaultData()
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "homed:", err)
		return 1
	}
	agent := filepath.Join(filepath.Dir(self), "homed-agent")
	if _, err := os.Stat(agent); err != nil {
		fmt.Fprintf(os.Stderr, "homed: homed-agent must lie beside homed (%v); `make build` makes both\n", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := supervisor.New(supervisor.Options{
		ConfigPath: *cfg, DataDir: *data, Version: version, Output: os.Stderr,
		Door: []string{self, "door"}, Agent: []string{agent},
	})
	if err := s.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "homed:", err)
		return 1
	}
	return 0
}

// configured is the data folder that a configuration names, "" if it names none.
// A file that cannot be read is the supervisor's to report.
func configured(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	c, _, _ := config.Parse(text)
	return c.Daemon.DataDir
}

// defaultData is where an installed system keeps its data.
func defaultData() string {
	if os.Getuid() == 0 {
		return "/var/lib/homeagent"
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "homeagent")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "data"
	}
	return filepath.Join(home, ".local", "share", "homeagent")
}
