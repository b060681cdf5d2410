package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"homeagent/memory/token/jieba/dict"
)

const (
	module = "github.com/yanyiwu/gojieba"
	// inModule is where its dictionary and the licence of that lie.
	inModule = "deps/cppjieba"
	licence  = "LICENSE"
	// smallWords is the size of the small dictionary: 25 MB loaded instead of 130.
	smallWords = 60_000
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its edges given; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("jiebadict", flag.ContinueOnError)
	fs.SetOutput(stderr)
	dir := fs.String("dir", "", "models folder (default $HOMEAGENT_MODELS, else homeagent/models in the cache folder)")
	from := fs.String("from", "", "folder with dictionary files, instead of the module's")
	check := fs.Bool("check", false, "only report what is missing")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if fs.NArg() > 0 {
		fmt.Fprintf(stderr, "jiebadict: unexpected argument %q\n", fs.Arg(0))
		return 2
	}
	if err := bring(ctx, *dir, *from, *check, stdout); err != nil {
		fmt.Fprintln(stderr, "jiebadict:", err)
		return 1
	}
	return 0
}

// bring makes both folders, or reports.
func bring(ctx context.Context, dir, from string, check bool, out io.Writer) (err error) {
	if dir == "" {
		if dir, err = defaultDir(); err != nil {
			return err
		}
	}
	if from == "" {
		if from, err = moduleDict(ctx); err != nil {
			return err
		}
	}
	full, err := read(from)
	if err != nil {
		return err
	}
	small, err := dict.Trim(from, smallWords)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(from), licence))
	if err != nil {
		return fmt.Errorf("read the licence: %w", err)
	}
	var missing error
	for _, f := range []struct {
		name  string
		files map[string][]byte
	}{{dict.Folder, full}, {dict.SmallFolder, small}} {
		f.files[licence] = text
		to := filepath.Join(dir, f.name)
		switch {
		case same(to, f.files):
			fmt.Fprintf(out, "%s is there\n", to)
		case check:
			missing = errors.Join(missing, fmt.Errorf("%s is missing or differs", to))
		default:
			if err := write(to, f.files); err != nil {
				return err
			}
			fmt.Fprintf(out, "%s is made\n", to)
		}
	}
	return missing
}

// defaultDir is the folder that HomeAgent looks in when it runs from a source tree.
func defaultDir() (string, error) {
	if d := os.Getenv("HOMEAGENT_MODELS"); d != "" {
		return d, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return filepath.Join(cache, "homeagent", "models"), nil
}

// moduleDict is the dictionary's folder in the module cache; the module is
// brought there if it is not.
func moduleDict(ctx context.Context) (string, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("bring %s: %w %s%s", module, err, text, stderr.Bytes())
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(text, &found); err != nil || found.Dir == "" {
		return "", fmt.Errorf("bring %s: no folder is named: %w", module, err)
	}
	return filepath.Join(found.Dir, inModule, "dict"), nil
}

// read reads a sound dictionary.
func read(dir string) (map[string][]byte, error) {
	if err := dict.Check(dir); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range dict.Files() {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("read the dictionary: %w", err)
		}
		files[name] = b
	}
	return files, nil
}

// same tells whether a folder holds the files as they should be.
func same(dir string, files map[string][]byte) bool {
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
			return false
		}
	}
	return true
}

// write makes a folder beside its place and puts it there.
func write(dir string, files map[string][]byte) error {
	tmp := dir + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return fmt.Errorf("clear %s: %w", tmp, err)
	}
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return fmt.Errorf("make the dictionary's folder: %w", err)
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(tmp, name), b, 0o644); err != nil {
			return fmt.Errorf("write the dictionary: %w", err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("clear %s: %w", dir, err)
	}
	if err := os.Rename(tmp, dir); err != nil {
		return fmt.Errorf("put the dictionary in its place: %w", err)
	}
	return nil
}
