package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"homeagent/tools/image/debian"
)

const lockName = "tools/image/debian.lock"

// builder holds what one run was asked for and what it has found out.
type builder struct {
	board   string
	source  string // the project's folder
	outDir  string
	cache   string
	version string
	epoch   int64 // seconds; the only time that gets into the image
	raw     bool
	out     io.Writer
	log     io.Writer

	lock  debian.Lock
	store debian.Store
	meta  meta

	lateLibraries  libraries           // taken when something needs them
	ubootLicence   string              // a file; empty where the board has no U-Boot
	debianPackages map[string]pkgFiles // what was unpacked
}

// build makes the image, stage by stage; each finds what an earlier run left.
func (b *builder) build(ctx context.Context) error {
	if err := b.check(); err != nil {
		return err
	}
	unlock, err := b.lockOut()
	if err != nil {
		return err
	}
	defer unlock()
	if err := b.store.Bring(ctx, b.lock.Of(debian.ForRoot, debian.ForSysroot, debian.ForSource)); err != nil {
		return err
	}
	k, err := b.kernel(ctx)
	if err != nil {
		return err
	}
	if err := b.checkDrivers(k); err != nil {
		return err
	}
	bin := filepath.Join(b.outDir, "binaries")
	if err := os.RemoveAll(bin); err != nil {
		return fmt.Errorf("clear the binaries: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(bin, "rpi-firmware"), 0o755); err != nil {
		return fmt.Errorf("make the folder of the binaries: %w", err)
	}
	steps := []func() error{
		func() error { return b.bootFiles(ctx, k, bin) },
		func() error { return b.uboot(ctx, bin) },
		func() error { return b.initrd(k, bin) },
		func() error { return b.root(ctx, k, bin) },
		func() error { return b.finish(ctx, bin) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// lockOut keeps a second run out of the same folder; it waits for the first.
func (b *builder) lockOut() (unlock func(), err error) {
	if err := os.MkdirAll(b.outDir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the result: %w", err)
	}
	f, err := os.Create(filepath.Join(b.outDir, ".lock"))
	if err != nil {
		return nil, fmt.Errorf("lock the folder of the result: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the folder of the result: %w", err)
	}
	return func() { f.Close() }, nil // closing gives the lock back
}

// check finds out before anything is built whether it can be.
func (b *builder) check() error {
	text, err := os.ReadFile(filepath.Join(b.source, "board", b.board, "meta"))
	if err != nil || strings.ContainsAny(b.board, "/.") {
		return fmt.Errorf("没有叫 %[1]q 的板子；可用：rpi3-64、zero2w、rpi4-64。there is no board %[1]q; there are rpi3-64, zero2w, rpi4-64", b.board)
	}
	if b.meta, err = parseMeta(string(text)); err != nil {
		return fmt.Errorf("board/%s/meta: %w", b.board, err)
	}
	if err := needTools(buildTools()...); err != nil {
		return err
	}
	return b.readLock()
}

// readLock reads the lock, and says where its files are kept and come from.
func (b *builder) readLock() error {
	text, err := os.ReadFile(filepath.Join(b.source, lockName))
	if err != nil {
		return fmt.Errorf("read the lock: %w", err)
	}
	if b.lock, err = debian.ParseLock(text); err != nil {
		return err
	}
	b.store = debian.Store{Dir: filepath.Join(b.cache, "debian"), Log: b.log,
		Mirrors: func() (debian.Mirrors, error) { return debian.FindMirrors("/etc/apt", release) }}
	return nil
}

// release is the Debian release that apt's sources must name.
const release = "bookworm"

// askGit fills in version and time from the last commit, so that two builds of
// it are the same; SOURCE_DATE_EPOCH overrides the time.
func (b *builder) askGit(ctx context.Context) error {
	if b.version == "" {
		b.version = "dev"
		out, err := exec.CommandContext(ctx, "git", "-C", b.source, "describe", "--tags", "--always", "--dirty").Output()
		if s := strings.TrimSpace(string(out)); err == nil && s != "" {
			b.version = s
		}
	}
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.CommandContext(ctx, "git", "-C", b.source, "log", "-1", "--format=%ct").Output()
		if err != nil {
			return errors.New("这不是 git 目录，请设置 SOURCE_DATE_EPOCH（镜像的构建时间，秒）。" +
				"not a git folder: set SOURCE_DATE_EPOCH, the build time of the image in seconds")
		}
		text = strings.TrimSpace(string(out))
	}
	var err error
	if b.epoch, err = strconv.ParseInt(text, 10, 64); err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return nil
}

// environ is the environment of the scripts.
func (b *builder) environ(more ...string) []string {
	return append(os.Environ(), append([]string{
		"HOMEAGENT_VERSION=" + b.version,
		"HOMEAGENT_SOURCE=debian",
		"SOURCE_DATE_EPOCH=" + strconv.FormatInt(b.epoch, 10),
		"LC_ALL=C", "TZ=UTC",
	}, more...)...)
}

// command runs a program; what it says is shown only when it fails.
func (b *builder) command(ctx context.Context, dir string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s: %w\n%s", filepath.Base(name), err, tail(out, 4000))
	}
	return nil
}

func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

func (b *builder) say(format string, args ...any) { fmt.Fprintf(b.log, "image: "+format+"\n", args...) }
