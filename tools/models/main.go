package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

//go:embed models.lock.json
var lockFile []byte

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its edges given; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("models", flag.ContinueOnError)
	fs.SetOutput(stderr)
	dir := fs.String("dir", "", "models folder (default $HOMEAGENT_MODELS, else homeagent/models in the cache folder)")
	arch := fs.String("arch", runtime.GOARCH, "machine type of the runtime library")
	from := fs.String("from", "", "folder with tarballs, instead of npm")
	check := fs.Bool("check", false, "only report what is missing")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if fs.NArg() > 0 {
		fmt.Fprintf(stderr, "models: unexpected argument %q\n", fs.Arg(0))
		return 2
	}
	lock, err := ParseLock(lockFile)
	if err != nil {
		fmt.Fprintln(stderr, "models:", err)
		return 1
	}
	if !slices.Contains(lock.Arches(), *arch) {
		fmt.Fprintf(stderr, "models: no runtime library for %s; there are %s\n", *arch, strings.Join(lock.Arches(), ", "))
		return 2
	}
	if *dir == "" {
		if *dir, err = DefaultDir(); err != nil {
			fmt.Fprintln(stderr, "models:", err)
			return 1
		}
	}
	lock = lock.For(*arch)
	if *check {
		return report(lock, *dir, stdout, stderr)
	}
	var src Source = NPM{}
	if *from != "" {
		src = Folder(*from)
	}
	if err := Bring(ctx, lock, *dir, src, stdout); err != nil {
		fmt.Fprintln(stderr, "models:", err)
		return 1
	}
	return 0
}

// DefaultDir is the folder that HomeAgent looks in when it runs from a source tree.
func DefaultDir() (string, error) {
	if d := os.Getenv("HOMEAGENT_MODELS"); d != "" {
		return d, nil
	}
	c, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: %w; give -dir", err)
	}
	return filepath.Join(c, "homeagent", "models"), nil
}

// Bring makes the models folder hold every file of the lock, fetching only
// packages of which something is missing, and says on out what it does. A
// complete folder is only read, so it may be read-only.
func Bring(ctx context.Context, lock Lock, dir string, src Source, out io.Writer) (err error) {
	complete, err := isComplete(lock, dir)
	if err != nil {
		return err
	}
	if complete {
		fmt.Fprintf(out, "models: all files are in %s\n", dir)
		return nil
	}
	s, err := OpenStore(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, p := range lock.Packages {
		missing, err := Missing(dir, p.Files) // asked again: another run may just have ended
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			continue
		}
		fmt.Fprintf(out, "models: fetching %s for %s\n", p.Spec(), names(missing))
		if err := bringOne(ctx, s, p, missing, src); err != nil {
			return err
		}
	}
	return nil
}

func isComplete(lock Lock, dir string) (bool, error) {
	for _, p := range lock.Packages {
		missing, err := Missing(dir, p.Files)
		if err != nil || len(missing) > 0 {
			return false, err
		}
	}
	return true, nil
}

// bringOne fetches one package into a temporary folder and stores its missing files.
func bringOne(ctx context.Context, s *Store, p Package, missing []File, src Source) (err error) {
	tmp, err := os.MkdirTemp("", "homeagent-models-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	tarball, err := src.Tarball(ctx, p, tmp)
	if err != nil {
		return err
	}
	return Unpack(s, p, missing, tarball)
}

// report lists what is missing; 0 means nothing is.
func report(lock Lock, dir string, stdout, stderr io.Writer) int {
	code := 0
	for _, p := range lock.Packages {
		missing, err := Missing(dir, p.Files)
		if err != nil {
			fmt.Fprintln(stderr, "models:", err)
			return 1
		}
		if len(missing) > 0 {
			code = 1
			fmt.Fprintf(stdout, "models: missing in %s: %s (from %s)\n", dir, names(missing), p.Spec())
		}
	}
	if code == 0 {
		fmt.Fprintf(stdout, "models: all files are in %s\n", dir)
	}
	return code
}

func names(files []File) string {
	var out []string
	for _, f := range files {
		out = append(out, f.Target)
	}
	return strings.Join(out, ", ")
}
