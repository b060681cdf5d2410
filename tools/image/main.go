package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its edges given; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("image", flag.ContinueOnError)
	fs.SetOutput(stderr)
	b := builder{out: stdout, log: stderr}
	fs.StringVar(&b.board, "board", "rpi3-64", "rpi3-64, zero2w or rpi4-64")
	fs.StringVar(&b.source, "source", ".", "the project's folder")
	fs.StringVar(&b.outDir, "out", "", "folder of the result (default out/BOARD)")
	fs.StringVar(&b.cache, "cache", "", "folder of what is kept between runs (default homeagent in the cache folder)")
	fs.StringVar(&b.version, "version", "", "version (default: what git says)")
	fs.BoolVar(&b.raw, "raw", false, "only the .img, not its compressed form")
	lock := fs.Bool("lock", false, "write debian.lock anew from seeds.txt, and no image")
	tarballs := fs.String("tarballs", "", "lay the makers' tarballs that Buildroot builds from into this `folder`, and build no image")
	sizes := fs.Bool("sizes", false, "print the sizes of the image that is there, as JSON lines, and build none")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if fs.NArg() > 0 {
		fmt.Fprintf(stderr, "image: unexpected argument %q\n", fs.Arg(0))
		return 2
	}
	err := b.prepare(ctx)
	switch {
	case err != nil:
	case *lock:
		err = b.relock(ctx)
	case *tarballs != "":
		err = b.tarballs(ctx, *tarballs)
	case *sizes:
		err = b.sizes()
	default:
		err = b.build(ctx)
	}
	if err != nil {
		fmt.Fprintln(stderr, "image:", err)
		return 1
	}
	return 0
}

// prepare makes the folders absolute and asks git for what was not given.
func (b *builder) prepare(ctx context.Context) (err error) {
	if b.source, err = filepath.Abs(b.source); err != nil {
		return fmt.Errorf("the project's folder: %w", err)
	}
	if b.outDir == "" {
		b.outDir = filepath.Join(b.source, "out", b.board)
	}
	if b.outDir, err = filepath.Abs(b.outDir); err != nil {
		return fmt.Errorf("the folder of the result: %w", err)
	}
	if b.cache == "" {
		c, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("no cache folder: %w; give -cache", err)
		}
		b.cache = filepath.Join(c, "homeagent")
	}
	if b.cache, err = filepath.Abs(b.cache); err != nil {
		return fmt.Errorf("the cache folder: %w", err)
	}
	return b.askGit(ctx)
}
