package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// status runs a program and returns its exit status and what it said.
func status(ctx context.Context, name string, args ...string) (int, string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "MTOOLS_SKIP_CHECK=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		return exit.ExitCode(), string(out), nil
	}
	return 0, string(out), err
}

// unmendable is the exit status of e2fsck from which on it has given up.
const unmendable = 4

// replayJournal brings a file system into a state that can be read.
func replayJournal(ctx context.Context, image string) error {
	code, out, err := status(ctx, "e2fsck", "-fy", image)
	if err == nil && code >= unmendable {
		err = fmt.Errorf("e2fsck ended with %d: %s", code, lastLines(out, 5))
	}
	return err
}

// mounted mounts a partition's file below a folder, which is made, and takes it
// down again after f.
func mounted(ctx context.Context, image, dir string, f func(top string) error, options ...string) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	opts := strings.Join(append([]string{"loop"}, options...), ",")
	if code, out, err := status(ctx, "mount", "-o", opts, image, dir); err != nil || code != 0 {
		return errors.Join(err, fmt.Errorf("mount ended with %d: %s", code, lastLines(out, 3)))
	}
	defer func() {
		err = errors.Join(err, unmount(context.WithoutCancel(ctx), dir)) // a mount must not outlive the program
	}()
	return f(dir)
}

// unmount tries again for a while: a child of this process that has not come to
// its exec yet holds the files that were open when it was made.
func unmount(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		code, out, err := status(ctx, "umount", dir)
		if err == nil && code == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, fmt.Errorf("umount ended with %d: %s", code, lastLines(out, 3)))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func lastLines(text string, n int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-n):], " | ")
}

// unpacked copies the files of a FAT partition into a folder, made anew, by
// mtools: not every kernel that can replay reads FAT. A file that cannot be read
// is left out; one that a cut has caught while it was new may be so.
func unpacked(ctx context.Context, image, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	code, out, err := status(ctx, "mdir", "-b", "-i", image, "::")
	if err != nil || code != 0 {
		return errors.Join(err, fmt.Errorf("mdir ended with %d: %s", code, lastLines(out, 3)))
	}
	for line := range strings.Lines(out) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "::/")
		if !ok || name == "" || strings.HasSuffix(name, "/") {
			continue
		}
		to := filepath.Join(dir, filepath.Base(name))
		if code, _, err := status(ctx, "mcopy", "-n", "-i", image, "::/"+name, to); err != nil {
			return err
		} else if code != 0 {
			os.Remove(to)
		}
	}
	return nil
}

// changing are files of the setup partition that the house writes.
var changing = map[string]bool{"homeagent.txt": true, "setup-code.txt": true, "autoboot.txt": true}

// filesOf reads what on a setup partition must never change. Names are as FAT has
// them; temporary files of a write that was cut count for nothing.
func filesOf(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if e.IsDir() || changing[name] || strings.HasSuffix(name, ".new") || strings.HasSuffix(name, ".tmp") {
			continue
		}
		if files[name], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// differences names the files of before that are not the same now.
func differences(before, now map[string][]byte) (out []string) {
	for name, b := range before {
		switch n, ok := now[name]; {
		case !ok:
			out = append(out, fmt.Sprintf("setup: %s is gone", name))
		case !bytes.Equal(b, n):
			out = append(out, fmt.Sprintf("setup: %s has changed", name))
		}
	}
	return out
}
