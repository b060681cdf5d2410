package debian

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// ReadIndex downloads the signed lists of all suites of the seeds into dir, by
// an apt whose configuration and state are dir's own, and reads them.
func ReadIndex(ctx context.Context, dir string, m Mirrors, seeds Seeds) (*Index, error) {
	for _, d := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return nil, fmt.Errorf("apt's own folder: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "status"), nil, 0o644); err != nil {
		return nil, fmt.Errorf("apt's own folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sources.list"), []byte(sourcesList(m, seeds)), 0o644); err != nil {
		return nil, fmt.Errorf("apt's own folder: %w", err)
	}
	options := []string{
		"-o", "APT::Architecture=arm64", "-o", "APT::Architectures::=arm64",
		"-o", "Dir::Etc::sourcelist=" + filepath.Join(dir, "sources.list"), "-o", "Dir::Etc::sourceparts=/dev/null",
		"-o", "Dir::Etc::preferences=/dev/null", "-o", "Dir::Etc::preferencesparts=/dev/null",
		"-o", "Dir::State=" + dir, "-o", "Dir::State::Lists=" + filepath.Join(dir, "lists"),
		"-o", "Dir::State::status=" + filepath.Join(dir, "status"), "-o", "Dir::Cache=" + filepath.Join(dir, "cache"),
		"-o", "APT::Sandbox::User=root", "-o", "Acquire::Languages=none", "-o", "Acquire::GzipIndexes=true",
		"-o", "APT::Update::Error-Mode=any",
	}
	out, err := exec.CommandContext(ctx, "apt-get", append(options, "-qq", "update")...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("取不到 Debian 的软件清单，请检查网络后重试。Debian's lists cannot be had; check the network and try again: %w\n%s", err, out)
	}
	targets, err := exec.CommandContext(ctx, "apt-get", append(options, "indextargets", "--format",
		"$(CREATED_BY) $(RELEASE) $(CODENAME) $(SUITE) $(FILENAME)")...).Output()
	if err != nil {
		return nil, fmt.Errorf("ask apt for its lists: %w", err)
	}
	x := NewIndex()
	for line := range strings.Lines(string(targets)) {
		f := strings.Fields(line)
		if len(f) != 5 || f[0] != "Packages" && f[0] != "Sources" {
			continue
		}
		if err := x.readList(ctx, f[0], f[1], f[4]); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// readList reads one list, which apt may keep compressed.
func (x *Index) readList(ctx context.Context, kind, suite, file string) error {
	cmd := exec.CommandContext(ctx, "/usr/lib/apt/apt-helper", "cat-file", file)
	r, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	if kind == "Packages" {
		err = x.AddPackages(suite, r)
	} else {
		err = x.AddSources(suite, r)
	}
	_, _ = io.Copy(io.Discard, r) // so that the program can end
	if werr := cmd.Wait(); err == nil && werr != nil {
		err = fmt.Errorf("read %s: %w", file, werr)
	}
	return err
}

// sourcesList is the private sources.list.
func sourcesList(m Mirrors, seeds Seeds) string {
	option := ""
	if _, err := os.Stat(keyring); err == nil {
		option = " signed-by=" + keyring
	}
	sources := map[string]bool{}
	for _, s := range slices.Concat(seeds.Sources, seeds.Tarballs) {
		sources[s.Suite] = true
	}
	var b strings.Builder
	for _, suite := range seeds.Suites() {
		if !sources[suite] || hasBinaries(seeds, suite) {
			fmt.Fprintf(&b, "deb [arch=arm64%s] %s %s main non-free-firmware\n", option, m.Of(suite), suite)
		}
		if sources[suite] {
			fmt.Fprintf(&b, "deb-src [%s] %s %s main\n", strings.TrimSpace(option), m.Of(suite), suite)
		}
	}
	return strings.ReplaceAll(b.String(), "[] ", "")
}

func hasBinaries(seeds Seeds, suite string) bool {
	for _, s := range append(seeds.Root, seeds.Sysroot...) {
		if s.Suite == suite {
			return true
		}
	}
	return suite == seeds.Release
}
