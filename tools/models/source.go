package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Source gives the tarball of a package as a file in the folder tmp or
// elsewhere; the caller does not remove it, but owns tmp.
type Source interface {
	Tarball(ctx context.Context, p Package, tmp string) (string, error)
}

// tarballName is how `npm pack` names its file: scope without "@", "/" as "-".
func tarballName(p Package) string {
	return strings.ReplaceAll(strings.TrimPrefix(p.Name, "@"), "/", "-") + "-" + p.Version + ".tgz"
}

// NPM fetches with the npm client, as it is configured on this machine.
type NPM struct{}

// Tarball runs npm pack. Scripts of the package do not run.
func (NPM) Tarball(ctx context.Context, p Package, tmp string) (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("npm is not installed; on Debian: apt-get install npm (未安装 npm，请先执行 apt-get install npm)")
	}
	cmd := exec.CommandContext(ctx, npm, "pack", p.Spec(), "--pack-destination", tmp, "--ignore-scripts", "--silent")
	cmd.Dir = tmp
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("npm pack %s: %w: %s; check the network and run again (请检查网络后重试)", p.Spec(), err, tail(string(out)))
	}
	file := filepath.Join(tmp, tarballName(p))
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("npm pack %s left no tarball: %w", p.Spec(), err)
	}
	return file, nil
}

// tail keeps the end of a program's output, where its error stands.
func tail(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 400 {
		s = "…" + s[len(s)-400:]
	}
	return s
}

// Folder takes tarballs that were fetched before.
type Folder string

// Tarball looks for the file that npm pack would have made.
func (d Folder) Tarball(_ context.Context, p Package, _ string) (string, error) {
	file := filepath.Join(string(d), tarballName(p))
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s has no %s", string(d), tarballName(p))
	} else if err != nil {
		return "", err
	}
	return file, nil
}

var (
	_ Source = NPM{}
	_ Source = Folder("")
)
