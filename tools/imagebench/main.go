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
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"homeagent/tools/emulator"
)

// errSkip is wrapped by a measurement that cannot be made on this machine.
var errSkip = errors.New("not measured")

// bench is what the measurements share.
type bench struct {
	image  string
	parts  emulator.Layout
	work   string
	boots  int
	idle   time.Duration
	append string // to the kernel's command line, to try out what it changes
	out    *report
	log    io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	b := &bench{out: newReport(stdout), log: stderr}
	fs := flag.NewFlagSet("imagebench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&b.image, "image", "", "image of the board rpi3-64 (default: the newest in out/rpi3-64)")
	only := fs.String("only", "", "measure only what matches this regular expression")
	layout := fs.String("layout", "board/common/layout.env", "where the partitions are written down")
	fs.IntVar(&b.boots, "boots", 3, "how many boots of each kind")
	fs.DurationVar(&b.idle, "idle", 10*time.Minute, "how long the idle house is watched for what it writes")
	fs.StringVar(&b.append, "append", "", "more for the kernel's command line of the idle measurements, to try out what it changes")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if err := b.measure(ctx, *only, *layout); err != nil {
		fmt.Fprintln(stderr, "imagebench:", err)
		return 1
	}
	return 0
}

func (b *bench) measure(ctx context.Context, only, layout string) error {
	pick, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(layout)
	if err != nil {
		return err
	}
	if b.parts, err = emulator.ParseLayout(text); err != nil {
		return err
	}
	if b.image == "" {
		if b.image, err = emulator.FindImage(filepath.Join("out", "rpi3-64"), "rpi3-64"); err != nil {
			return err
		}
	}
	if b.work, err = os.MkdirTemp("", "imagebench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.work)
	var failed []error
	for _, m := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"sizes", b.sizes},
		{"boot.virt", func(ctx context.Context) error { return b.boot(ctx, emulator.Virt) }},
		{"boot.raspi3b", func(ctx context.Context) error { return b.boot(ctx, emulator.Pi3) }},
		{"idle.virt", func(ctx context.Context) error { return b.memory(ctx, emulator.Virt) }},
		{"idle.raspi3b", func(ctx context.Context) error { return b.memory(ctx, emulator.Pi3) }},
		{"wear", b.wear},
		{"voice", b.voice},
	} {
		if !pick.MatchString(m.name) {
			continue
		}
		if err := m.run(ctx); errors.Is(err, errSkip) {
			fmt.Fprintf(b.log, "imagebench %s: %v\n", m.name, err)
		} else if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", m.name, err))
		}
	}
	return errors.Join(failed...)
}

// sizes has the assembler print what it made.
func (b *bench) sizes(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "run", "./tools/image", "-sizes")
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w: go run ./tools/image -sizes: %v; make image makes the download", errSkip, err)
	}
	return b.out.Copy(out)
}
