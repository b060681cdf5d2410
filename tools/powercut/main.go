package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"homeagent/tools/emulator"
	"homeagent/tools/figure"
)

// options are the flags.
type options struct {
	image, layout, overlay, work string
	booted, replayed             int
	seed                         uint64
	use                          time.Duration
	keep                         bool
	recorded                     string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	fs := flag.NewFlagSet("powercut", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.image, "image", "", "image of the board rpi3-64 (default: the newest in out/rpi3-64)")
	fs.StringVar(&o.layout, "layout", "board/common/layout.env", "where the partitions are written down")
	fs.StringVar(&o.overlay, "overlay", "overlay", "root file system whose script mends the partition table")
	fs.StringVar(&o.work, "work", "", "folder for cards and records (default: a new one)")
	fs.IntVar(&o.booted, "booted", 50, "how often QEMU is killed")
	fs.IntVar(&o.replayed, "replayed", 950, "how many moments of the recorded run are made again")
	fs.Uint64Var(&o.seed, "seed", 0, "seed of everything that is drawn (default: a new one)")
	fs.DurationVar(&o.use, "use", 10*time.Minute, "how long the recorded house is used")
	fs.BoolVar(&o.keep, "keep", false, "keep the folder, and each copy in which something was lost")
	fs.StringVar(&o.recorded, "recorded", "", "folder of a run that was recorded and kept, to replay it again")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()>>16 + 1
	}
	fmt.Fprintf(stderr, "powercut: seed %d\n", o.seed)
	bad, err := measure(ctx, o, figure.New(stdout, ""), stderr)
	if err != nil {
		fmt.Fprintln(stderr, "powercut:", err)
		return 1
	}
	if bad > 0 {
		return 1
	}
	return 0
}

// tally is what came out of a number of cuts.
type tally struct{ cuts, writes, lost, damaged int }

// measure does both kinds of cuts, prints the lines and returns how much was lost
// or damaged.
func measure(ctx context.Context, o options, r *figure.Printer, stderr io.Writer) (bad int, err error) {
	b, err := newBench(o, stderr)
	if err != nil {
		return 0, err
	}
	defer b.close()
	var sum tally
	if o.booted > 0 {
		t, err := b.cutBooted(ctx)
		if err != nil {
			return 0, fmt.Errorf("booted: %w", err)
		}
		if err := r.Add("powercut.booted", float64(t.cuts), "cuts", t.cuts); err != nil {
			return 0, err
		}
		sum = t
	}
	if o.replayed > 0 {
		t, err := b.cutReplayed(ctx)
		if err != nil {
			return 0, fmt.Errorf("replayed: %w", err)
		}
		if err := r.Add("powercut.replayed", float64(t.cuts), "cuts", t.cuts); err != nil {
			return 0, err
		}
		sum = tally{sum.cuts + t.cuts, sum.writes + t.writes, sum.lost + t.lost, sum.damaged + t.damaged}
	}
	if err := r.Add("powercut.writes", float64(sum.writes), "writes", sum.cuts); err != nil {
		return 0, err
	}
	if err := r.Add("powercut.damaged", float64(sum.damaged), "cuts", sum.cuts); err != nil {
		return 0, err
	}
	return sum.lost + sum.damaged, r.Add("powercut.lost", float64(sum.lost), "writes", sum.cuts)
}

// bench is what both kinds of cuts share.
type bench struct {
	options
	log   io.Writer
	parts emulator.Layout
	made  bool                   // the folder is ours
	point func(name string) bool // which points are cut at; nil: all
}

func newBench(o options, log io.Writer) (*bench, error) {
	b := &bench{options: o, log: log}
	text, err := os.ReadFile(o.layout)
	if err != nil {
		return nil, err
	}
	if b.parts, err = emulator.ParseLayout(text); err != nil {
		return nil, err
	}
	if b.image == "" && (o.recorded == "" || o.booted > 0) {
		if b.image, err = emulator.FindImage(filepath.Join("out", "rpi3-64"), "rpi3-64"); err != nil {
			return nil, err
		}
	}
	if b.work == "" {
		b.work, err = os.MkdirTemp("", "powercut-")
		b.made = true
	} else {
		err = os.MkdirAll(b.work, 0o755)
	}
	if err == nil {
		b.work, err = filepath.Abs(b.work)
	}
	return b, err
}

func (b *bench) close() {
	if b.made && !b.keep {
		os.RemoveAll(b.work)
	}
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.log, format+"\n", args...) }
