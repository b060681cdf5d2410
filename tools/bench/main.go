package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
)

// errSkip is wrapped by a measurement that cannot be made on this machine.
var errSkip = errors.New("not measured")

func main() {
	bin := flag.String("bin", "bin", "folder of homed, homed-agent and homectl")
	only := flag.String("only", "", "measure only what matches this regular expression")
	audio := flag.String("audio", "../shared/audio", "folder of recordings for the voice lines")
	flag.Parse()
	pick, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	abs, err := filepath.Abs(*bin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := newReport(os.Stdout)
	failed := false
	for _, m := range []struct {
		name string
		run  func(context.Context, string, *report) error
	}{
		{"start", benchStart},
		{"turn", benchTurn},
		{"syncs", benchSyncs},
		{"prefix", benchPrefix},
		{"stop", benchStop},
		{"pss", benchPSS},
		{"wake", func(ctx context.Context, _ string, r *report) error { return benchWake(ctx, *audio, r) }},
		{"voice", func(ctx context.Context, bin string, r *report) error { return benchVoice(ctx, bin, *audio, r) }},
	} {
		if !pick.MatchString(m.name) {
			continue
		}
		if err := m.run(ctx, abs, out); err != nil {
			fmt.Fprintf(os.Stderr, "bench %s: %v\n", m.name, err)
			failed = failed || !errors.Is(err, errSkip)
		}
	}
	if failed {
		os.Exit(1)
	}
}
